/* SPDX-License-Identifier: Apache-2.0 */
/* Short texts that users type: numbers, words of a list. */
#ifndef UR_TEXT_H
#define UR_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* the whole of text as a finite number, with a point whatever the locale; 0 where it is none */
int ur_text_number(const char *text, double *out);
/* the whole of text as a number in decimal digits, up to 2^63 - 1 */
int ur_text_whole(const char *text, uint64_t *out);
/* index of text among the words of a list "a|b|c", or -1 */
int ur_text_index(const char *list, const char *text);
/* whether the first size bytes of text end so, in any case of letters */
int ur_text_ends(const char *text, size_t size, const char *ending);
/* whether two names are the same, '-' and '_' being one */
int ur_text_same_name(const char *a, const char *b);

#endif
