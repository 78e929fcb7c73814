/* SPDX-License-Identifier: Apache-2.0 */
/* Which column is which: by name; extra columns are left out; by place where one of the two sides
 * has no names of its own, but x1, x2, ... */
#ifndef UR_NAMES_H
#define UR_NAMES_H

#include <stddef.h>

/* whether it is x1 at place 0, x2 at place 1, ... */
int ur_name_is_number(const char *name, size_t place);
/* A file has U+FFFD for what is not UTF-8 in `wanted`: then ASCII decides. */
int ur_name_same(const char *found, const char *wanted);

typedef enum {
    UR_NAMES_FOUND,
    UR_NAMES_COUNT,  /* nothing but their number tells, and it differs */
    UR_NAMES_MISSING /* one is not there */
} ur_names_result;

/* place[j], j < width: which of the `count` wanted names (NULL: they have none) found[j] is, or
 * count. missing: the first that is not there. A name that occurs twice is taken in order. */
ur_names_result ur_names_match(const char *const *found, size_t width, const char *const *wanted,
                               size_t count, size_t *place, size_t *missing);
/* the first place where both lists have a name of their own, and not the same; else count */
size_t ur_names_conflict(const char *const *a, const char *const *b, size_t count);
/* the name that was meant by the first `size` bytes of text; NULL where none is near enough */
const char *ur_names_nearest(const char *const *names, size_t count, const char *text, size_t size);

#endif
