/* SPDX-License-Identifier: Apache-2.0 */
#include "model/fields.h"

#include "base/error.h"
#include "base/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* the shape that the letters spell; returns the number of dimensions */
static size_t spell(const ur_fields *t, const char *letters, size_t shape[3])
{
    size_t ndim = strlen(letters);
    for (size_t i = 0; i < ndim; i++)
        shape[i] = t->sizes[strchr(t->letters, letters[i]) - t->letters];
    return ndim;
}

/* ---- save ---- */

static void save_field(ur_npz_writer *w, const ur_fields *t, const ur_field *f, const void *member)
{
    size_t shape[3];
    double *const *array = member;
    uint8_t *const *bytes = member;
    const char *const *const *texts = member;
    switch (f->kind) {
    case UR_ARRAY:
    case UR_FINITE:
        if (*array)
            ur_npz_add(w, f->name, *array, spell(t, f->shape, shape), shape);
        break;
    case UR_COUNTS:
        if (*array)
            ur_npz_add_counts(w, f->name, *array, spell(t, f->shape, shape), shape);
        break;
    case UR_BYTES:
        if (*bytes)
            ur_npz_add_bytes(w, f->name, *bytes, spell(t, f->shape, shape), shape);
        break;
    case UR_NUMBER:
        ur_npz_add_number(w, f->name, *(const double *)member);
        break;
    case UR_COUNT:
        ur_npz_add_integer(w, f->name, (int64_t) * (const size_t *)member);
        break;
    case UR_SWITCH:
        ur_npz_add_integer(w, f->name, *(const int *)member);
        break;
    case UR_WORD:
        ur_npz_add_string(w, f->name, *(const char *const *)member);
        break;
    case UR_TEXTS:
        if (*texts)
            ur_npz_add_texts(w, f->name, *texts, spell(t, f->shape, shape), shape);
        break;
    case UR_BITS:
    case UR_SEED:
    case UR_CHOICE:
        break;
    }
}

void ur_fields_save(ur_npz_writer *w, const ur_fields *t, const void *model)
{
    for (size_t i = 0; i < t->count; i++)
        save_field(w, t, &t->fields[i], (const char *)model + t->fields[i].offset);
}

void ur_seed_save(ur_npz_writer *w, uint64_t seed)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    ur_npz_add_string(w, "seed", text);
}

/* ---- load ---- */

/* "a number", "a vector of 3", "3 x 2" */
static void shape_text(size_t ndim, const size_t *shape, char *text, size_t size)
{
    static const char *const start[] = {"a number", "a vector of ", ""};
    size_t used = (size_t)snprintf(text, size, "%s", start[ndim < 2 ? ndim : 2]);
    for (size_t i = 0; i < ndim && i < 4 && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%zu", i > 0 ? " x " : "", shape[i]);
}

static unrelu_status check_shape(ur_npz *npz, const char *path, const char *name, size_t ndim,
                                 const size_t *shape, size_t *count, unrelu_error *err)
{
    size_t dimensions = 0, is[4] = {0};
    char found[96], needed[96];
    UR_TRY(ur_npz_shape(npz, name, &dimensions, is, err));
    if (dimensions != ndim || memcmp(is, shape, ndim * sizeof *shape) != 0) {
        shape_text(dimensions, is, found, sizeof found);
        shape_text(ndim, shape, needed, sizeof needed);
        return ur_fail(err, UNRELU_EFORMAT, "%s: %s is %s, where %s is needed", path, name, found,
                       needed);
    }
    *count = 1;
    for (size_t i = 0; i < ndim; i++)
        *count *= shape[i];
    return UNRELU_OK;
}

unrelu_status ur_array_load(ur_npz *npz, const char *path, const char *name, size_t ndim,
                            const size_t *shape, ur_arena *arena, double **out, unrelu_error *err)
{
    size_t count = 0;
    UR_TRY(check_shape(npz, path, name, ndim, shape, &count, err));
    return ur_npz_doubles(npz, name, count, arena, out, err);
}

static const ur_range is_byte = {.least = 0, .most = 255, .whole = 1, .needed = "a byte"};

static unrelu_status load_bytes(ur_npz *npz, const char *path, const char *name, size_t ndim,
                                const size_t *shape, ur_arena *arena, uint8_t **out,
                                unrelu_error *err)
{
    UR_ARENA(own);
    size_t count = 0;
    double *numbers = NULL;
    UR_TRY(check_shape(npz, path, name, ndim, shape, &count, err));
    UR_TRY(ur_npz_doubles(npz, name, count, &own, &numbers, err));
    UR_TRY(
        ur_range_check(path, name, &is_byte, numbers, shape[0], ndim > 1 ? shape[1] : 1, 0, err));
    *out = ur_take(arena, count, 1);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < count; i++)
        (*out)[i] = (uint8_t)numbers[i];
    return UNRELU_OK;
}

unrelu_status ur_count_load(ur_npz *npz, const char *path, const char *name, size_t *out,
                            unrelu_error *err)
{
    double value = 0;
    *out = 0;
    UR_TRY(ur_npz_number(npz, name, &value, err));
    if (!(value >= 0 && value <= 0x1p53 && value == floor(value))) /* beyond, doubles skip some */
        return ur_fail(err, UNRELU_EFORMAT, "%s: %s is %g, where a count is needed", path, name,
                       value);
    *out = (size_t)value;
    return UNRELU_OK;
}

unrelu_status ur_finite_check(const char *path, const char *name, const double *x, size_t rows,
                              size_t columns, unrelu_error *err)
{
    return ur_range_check(path, name, &ur_is_finite, x, rows, columns, 0, err);
}

/* numbers that were loaded into a member, against the row of the table; model: for the bound */
static unrelu_status check_numbers(const char *path, const ur_field *f, const size_t *shape,
                                   const void *model, const void *member, unrelu_error *err)
{
    const char *start = model;
    size_t most = f->bound ? *(const size_t *)(const void *)(start + f->bound) : 0;
    const double *x = f->shape ? *(double *const *)member : member;
    double number;
    if (f->kind == UR_COUNT) {
        number = (double)*(const size_t *)member;
        x = &number;
    }
    if (!f->range)
        return UNRELU_OK;
    size_t columns = f->shape ? shape[1] * shape[2] : UR_ONE_NUMBER;
    return ur_range_check(path, f->name, f->range, x, shape[0], columns, most, err);
}

static unrelu_status load_field(ur_npz *npz, const char *path, const ur_fields *t,
                                const ur_field *f, ur_arena *arena, void *member, unrelu_error *err)
{
    size_t shape[3] = {1, 1, 1}, ndim = f->shape ? spell(t, f->shape, shape) : 0, count = 0;
    double number = 0;
    switch (f->kind) {
    case UR_ARRAY:
    case UR_FINITE:
    case UR_COUNTS:
        return ur_array_load(npz, path, f->name, ndim, shape, arena, member, err);
    case UR_BYTES:
        return load_bytes(npz, path, f->name, ndim, shape, arena, member, err);
    case UR_NUMBER:
        return ur_npz_number(npz, f->name, member, err);
    case UR_COUNT:
        return ur_count_load(npz, path, f->name, member, err);
    case UR_SWITCH:
        UR_TRY(ur_npz_number(npz, f->name, &number, err));
        *(int *)member = number != 0;
        return UNRELU_OK;
    case UR_WORD:
        return ur_npz_string(npz, f->name, arena, member, err);
    case UR_TEXTS:
        UR_TRY(check_shape(npz, path, f->name, ndim, shape, &count, err));
        return ur_npz_texts(npz, f->name, count, arena, member, err);
    case UR_BITS:
    case UR_SEED:
    case UR_CHOICE:
        break;
    }
    return UNRELU_OK;
}

unrelu_status ur_fields_check(ur_npz *npz, const char *path, const ur_fields *t, unrelu_error *err)
{
    for (size_t i = 0; i < t->count; i++) {
        const ur_field *f = &t->fields[i];
        size_t shape[3], count = 0;
        if (f->shape && (f->needed || ur_npz_has(npz, f->name)))
            UR_TRY(check_shape(npz, path, f->name, spell(t, f->shape, shape), shape, &count, err));
    }
    return UNRELU_OK;
}

unrelu_status ur_fields_load(ur_npz *npz, const char *path, const ur_fields *t, ur_arena *arena,
                             void *model, unrelu_error *err)
{
    for (size_t i = 0; i < t->count; i++) {
        const ur_field *f = &t->fields[i];
        char *member = (char *)model + f->offset;
        size_t shape[3] = {1, 1, 1};
        if (f->shape)
            spell(t, f->shape, shape);
        if (f->needed || ur_npz_has(npz, f->name)) {
            UR_TRY(load_field(npz, path, t, f, arena, member, err));
            UR_TRY(check_numbers(path, f, shape, model, member, err));
        } else if (f->kind == UR_NUMBER)
            *(double *)(void *)member = f->missing;
    }
    return UNRELU_OK;
}

/* ---- show ---- */

int ur_field_show(const ur_fields *t, const ur_field *f, const void *model, unrelu_array *out)
{
    static const unrelu_type types[] = {
        [UR_ARRAY] = UNRELU_DOUBLES, [UR_FINITE] = UNRELU_DOUBLES, [UR_COUNTS] = UNRELU_DOUBLES,
        [UR_BYTES] = UNRELU_BYTES,   [UR_NUMBER] = UNRELU_DOUBLES, [UR_COUNT] = UNRELU_SIZES,
        [UR_SWITCH] = UNRELU_INTS,   [UR_WORD] = UNRELU_TEXTS,     [UR_TEXTS] = UNRELU_TEXTS,
        [UR_BITS] = UNRELU_UINT32S,  [UR_SEED] = UNRELU_UINT64S,   [UR_CHOICE] = UNRELU_TEXTS};
    const void *member = (const char *)model + f->offset;
    *out = (unrelu_array){f->name, types[f->kind], 0, {1, 1, 1, 1}, member};
    if (f->shape) {
        out->dimensions = spell(t, f->shape, out->shape);
        out->data = *(const void *const *)member;
    }
    if (f->kind == UR_CHOICE)
        out->data = &f->words[*(const int *)member];
    return out->data != NULL;
}

/* ---- files ---- */

unrelu_status ur_model_create(const ur_npz_target *to, const char *kind, ur_npz_writer **out,
                              unrelu_error *err)
{
    char by[48];
    UR_TRY(ur_npz_writer_to(to, out, err));
    snprintf(by, sizeof by, "unrelu %s", unrelu_version());
    ur_npz_add_string(*out, "kind", kind);
    ur_npz_add_integer(*out, "format", UR_FORMAT);
    ur_npz_add_string(*out, "written_by", by);
    return UNRELU_OK;
}

unrelu_status ur_model_commit(ur_npz_writer *w, unrelu_status status, unrelu_error *err)
{
    if (status == UNRELU_OK)
        return ur_npz_commit(w, err);
    ur_npz_abort(w);
    return status;
}

unrelu_status ur_format_check(ur_npz *npz, const char *path, int *format, unrelu_error *err)
{
    double found = 0;
    if (ur_npz_has(npz, "format"))
        UR_TRY(ur_npz_number(npz, "format", &found, err));
    if (!(found >= 0 && found <= UR_FORMAT && found == floor(found)))
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s is of format %g, and unrelu %s knows formats up to %d: a newer version "
                       "wrote it, and is needed to read it",
                       path, found, unrelu_version(), UR_FORMAT);
    if (format)
        *format = (int)found;
    return UNRELU_OK;
}

unrelu_status ur_model_open(ur_arena *arena, const ur_npz_origin *from, const char *kind,
                            ur_npz **out, unrelu_error *err)
{
    const char *is, *what = strcmp(kind, "summary") == 0 ? "summary" : "model";
    const char *path = from->path;
    UR_TRY(ur_npz_open_from(from, arena, out, err));
    ur_npz *npz = *out;
    if (!ur_npz_has(npz, "kind"))
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s has no array 'kind': it is not a %s written by unrelu", path, what);
    UR_TRY(ur_npz_string(npz, "kind", arena, &is, err));
    if (strcmp(is, kind) == 0)
        return ur_format_check(npz, path, NULL, err);
    if (*what == 's')
        return ur_fail(err, UNRELU_EFORMAT, "%s is of kind '%s', not a summary", path, is);
    return ur_fail(err, UNRELU_EFORMAT, "%s is of kind '%s', where a %s is needed", path, is, kind);
}

/* ---- what models share ---- */

unrelu_status ur_seed_load(ur_npz *npz, const char *path, uint64_t *seed, unrelu_error *err)
{
    UR_ARENA(arena);
    const char *text;
    char *end;
    if (!ur_npz_has(npz, "seed"))
        return UNRELU_OK;
    UR_TRY(ur_npz_string(npz, "seed", &arena, &text, err));
    *seed = strtoull(text, &end, 10);
    if (end == text || *end)
        return ur_fail(err, UNRELU_EFORMAT, "%s: '%s' is no seed", path, text);
    return UNRELU_OK;
}

unrelu_status ur_names_load(ur_npz *npz, const char *path, const char *name, size_t count,
                            ur_arena *arena, const char *const **out, unrelu_error *err)
{
    const char **names = NULL;
    size_t ndim = 0, shape[4] = {1}, found = 0;
    if (!ur_npz_has(npz, name))
        return UNRELU_OK;
    UR_TRY(ur_npz_shape(npz, name, &ndim, shape, err));
    found = ndim ? shape[0] : 1;
    if (ndim < 2 && found != count)
        return ur_fail(err, UNRELU_EFORMAT, "%s: %s has %zu entries for %zu columns", path, name,
                       found, count);
    UR_TRY(ur_npz_strings(npz, name, count, UR_NAME_MOST, arena, &names, &found, err));
    *out = names;
    return UNRELU_OK;
}

unrelu_status ur_verdict_load(ur_npz *npz, const char *path, const char *what,
                              unrelu_verdict *verdict, unrelu_error *err)
{
    UR_ARENA(arena);
    const char *text;
    if (!ur_npz_has(npz, "verdict"))
        return UNRELU_OK;
    UR_TRY(ur_npz_string(npz, "verdict", &arena, &text, err));
    for (int v = UNRELU_VERDICT_PLANTED; v <= UNRELU_VERDICT_INCOMPLETE; v++)
        if (v != UNRELU_VERDICT_FAILED &&
            strcmp(text, unrelu_verdict_name((unrelu_verdict)v)) == 0) {
            *verdict = (unrelu_verdict)v;
            return UNRELU_OK;
        }
    return ur_fail(err, UNRELU_EFORMAT, "%s: '%s' is no verdict of %s", path, text, what);
}
