/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a model as arrays of its file, by one table for both ways, and what the files of
 * all models and summaries share: kind, format, written_by. */
#ifndef UR_FIELDS_H
#define UR_FIELDS_H

#include "base/arena.h"
#include "model/ranges.h"
#include "read/npz.h"
#include "write/npz_write.h"

/* of the files that are written; files without `format` are of 0 */
enum { UR_FORMAT = 1 };

typedef enum {
    UR_ARRAY,  /* double *, left out where it is NULL */
    UR_FINITE, /* the same, and a file where it is not finite is refused */
    UR_COUNTS, /* the same, of whole numbers that are kept as integers */
    UR_BYTES,  /* uint8_t *, left out where it is NULL */
    UR_NUMBER, /* double */
    UR_COUNT,  /* size_t */
    UR_SWITCH, /* int: 0 or 1 */
    UR_WORD,   /* const char * */
    UR_TEXTS,  /* const char *const *, left out where it is NULL */
    /* these are listed by unrelu_model_at, and written by each kind in its own way */
    UR_BITS,   /* uint32_t *, left out where it is NULL */
    UR_SEED,   /* uint64_t */
    UR_CHOICE, /* an enum: one of `words` */
} ur_field_kind;

typedef struct {
    const char *name;
    ur_field_kind kind;
    size_t offset;            /* of the member */
    const char *shape;        /* of an array: a letter a dimension */
    double missing;           /* a number that the file does not have */
    int needed;               /* a file without it is refused */
    const char *const *words; /* of a choice */
    const ur_range *range;    /* of numbers: what a file may hold; NULL: anything */
    size_t bound;             /* of counts: the size_t that they do not exceed; 0: none */
} ur_field;

/* rows of a table for a model of type T */
#define UR_FIELD(T, member, kind_, letters, without, needed_)                                      \
    {                                                                                              \
        .name = #member, .kind = kind_, .offset = offsetof(T, member), .shape = letters,           \
        .missing = without, .needed = needed_                                                      \
    }
/* the same with a range; bound_: offsetof a size_t, or 0 */
#define UR_RANGED(T, member, kind_, letters, without, needed_, range_, bound_)                     \
    {                                                                                              \
        .name = #member, .kind = kind_, .offset = offsetof(T, member), .shape = letters,           \
        .missing = without, .needed = needed_, .range = &(range_), .bound = bound_                 \
    }
#define UR_ARRAY_FIELD(T, member, letters) UR_FIELD(T, member, UR_ARRAY, letters, 0, 0)
#define UR_ARRAY_IN(T, member, letters, range)                                                     \
    UR_RANGED(T, member, UR_ARRAY, letters, 0, 0, range, 0)
#define UR_FINITE_FIELD(T, member, letters)                                                        \
    UR_RANGED(T, member, UR_FINITE, letters, 0, 0, ur_is_finite, 0)
#define UR_NUMBER_IN(T, member, without, range)                                                    \
    UR_RANGED(T, member, UR_NUMBER, NULL, without, 0, range, 0)
#define UR_COUNT_FIELD(T, member) UR_FIELD(T, member, UR_COUNT, NULL, 0, 0)
#define UR_COUNT_UP_TO(T, member, bound)                                                           \
    UR_RANGED(T, member, UR_COUNT, NULL, 0, 0, ur_is_count, offsetof(T, bound))
#define UR_WORD_FIELD(T, member)           UR_FIELD(T, member, UR_WORD, NULL, 0, 0)
#define UR_TEXTS_FIELD(T, member, letters) UR_FIELD(T, member, UR_TEXTS, letters, 0, 0)

/* sizes[i] is what letters[i] stands for */
typedef struct {
    const ur_field *fields;
    size_t count;
    const char *letters;
    const size_t *sizes;
} ur_fields;

void ur_fields_save(ur_npz_writer *w, const ur_fields *table, const void *model);
/* shapes alone: before anything is allocated by what one of them says */
unrelu_status ur_fields_check(ur_npz *npz, const char *path, const ur_fields *table,
                              unrelu_error *err);
/* those that the file has, and those that it must have; arrays and texts lie in the arena */
unrelu_status ur_fields_load(ur_npz *npz, const char *path, const ur_fields *table, ur_arena *arena,
                             void *model, unrelu_error *err);
/* field f as what unrelu_model_at shows; 0 where the model does not have it */
int ur_field_show(const ur_fields *table, const ur_field *f, const void *model, unrelu_array *out);

/* Opens a file, or memory, to be written, with kind, format and written_by in it. */
unrelu_status ur_model_create(const ur_npz_target *to, const char *kind, ur_npz_writer **out,
                              unrelu_error *err);
/* Closes it: written where status is OK, else gone. Returns the first failure. */
unrelu_status ur_model_commit(ur_npz_writer *w, unrelu_status status, unrelu_error *err);
/* Opens a file of this kind and of a format that is known; it is closed with the arena. */
unrelu_status ur_model_open(ur_arena *arena, const ur_npz_origin *from, const char *kind,
                            ur_npz **out, unrelu_error *err);
/* refuses a newer one; format may be NULL */
unrelu_status ur_format_check(ur_npz *npz, const char *path, int *format, unrelu_error *err);

/* an array of this shape (ndim 1 to 3), else EFORMAT with the file, the array and both shapes */
unrelu_status ur_array_load(ur_npz *npz, const char *path, const char *name, size_t ndim,
                            const size_t *shape, ur_arena *arena, double **out, unrelu_error *err);
unrelu_status ur_count_load(ur_npz *npz, const char *path, const char *name, size_t *out,
                            unrelu_error *err);
unrelu_status ur_finite_check(const char *path, const char *name, const double *x, size_t rows,
                              size_t columns, unrelu_error *err);

/* as text: a double does not hold all of a seed */
void ur_seed_save(ur_npz_writer *w, uint64_t seed);
unrelu_status ur_seed_load(ur_npz *npz, const char *path, uint64_t *seed, unrelu_error *err);
/* `count` names, or lists of flags, where the file has them */
unrelu_status ur_names_load(ur_npz *npz, const char *path, const char *name, size_t count,
                            ur_arena *arena, const char *const **out, unrelu_error *err);
/* but for "failed"; what: "a network with weights" */
unrelu_status ur_verdict_load(ur_npz *npz, const char *path, const char *what,
                              unrelu_verdict *verdict, unrelu_error *err);

#endif
