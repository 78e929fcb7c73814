/* SPDX-License-Identifier: Apache-2.0 */
/* What the library makes and hands out: models, and results like them. Each has an arena that its
 * arrays and texts lie in, so that one call frees it, and a kind, which says what its members are
 * called. */
#ifndef UR_KIND_H
#define UR_KIND_H

#include "model/fields.h"
#include "model/warnings.h"

enum { UR_MOST_SIZES = 8, UR_MOST_TABLES = 8 };

typedef struct ur_kind {
    const char *name; /* of files, and in `model.kind` */
    size_t size;      /* of the struct, which begins with an unrelu_model */
    size_t warnings, warning_count;
    /* the members, as unrelu_model_at lists them */
    const char *letters;
    void (*set_sizes)(const void *model, size_t sizes[UR_MOST_SIZES]);
    struct {
        const ur_field *fields;
        size_t count;
    } tables[UR_MOST_TABLES];
    /* of a model that is a part of this one: its members come after those of this one */
    const struct ur_kind *part;
    size_t part_offset; /* of the pointer to it */
} ur_kind;

#define UR_KIND_TABLE(fields)                                                                      \
    {                                                                                              \
        fields, sizeof(fields) / sizeof *(fields)                                                  \
    }
#define UR_KIND_OF(T, kind)                                                                        \
    .name = kind, .size = sizeof(T), .warnings = offsetof(T, warnings),                            \
    .warning_count = offsetof(T, warning_count)

/* an empty one; NULL and a sentence where memory ended */
void *ur_model_new(const ur_kind *kind, unrelu_error *err);
ur_arena *ur_model_arena(const void *model);
/* takes the arrays of its first table, whose sizes are set, from the arena */
unrelu_status ur_model_take_arrays(void *model, unrelu_error *err);
/* where memory ends the arena keeps the failure, which ur_model_hand tells */
void ur_model_warn(void *model, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void ur_model_warn_all(void *model, const ur_warnings *warnings);
/* What a function ends with: *out = model where status and its arena are OK; else it is freed and
 * *out = NULL. model NULL: there was no memory for it. */
unrelu_status ur_model_hand(void *model, unrelu_status status, void *out, unrelu_error *err);
void ur_model_free(void *model); /* takes NULL */

#endif
