/* SPDX-License-Identifier: Apache-2.0 */
#include "model/fields.h"

#include "base/error.h"
#include "base/memory.h"

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
    char **const *texts = member;
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
        ur_npz_add_string(w, f->name, member);
        break;
    case UR_TEXTS:
        if (*texts)
            ur_npz_add_texts(w, f->name, *texts, spell(t, f->shape, shape), shape);
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
                            const size_t *shape, double **out, unrelu_error *err)
{
    size_t count = 0;
    UR_TRY(check_shape(npz, path, name, ndim, shape, &count, err));
    return ur_npz_doubles(npz, name, count, out, err);
}

/* numbers outside the range of a byte become 0 */
static unrelu_status load_bytes(ur_npz *npz, const char *path, const char *name, size_t ndim,
                                const size_t *shape, uint8_t **out, unrelu_error *err)
{
    size_t count = 0;
    double *numbers = NULL;
    UR_TRY(check_shape(npz, path, name, ndim, shape, &count, err));
    UR_TRY(ur_npz_doubles(npz, name, count, &numbers, err));
    *out = ur_alloc(count, 1);
    for (size_t i = 0; *out && i < count; i++)
        (*out)[i] = numbers[i] >= 0 && numbers[i] < 256 ? (uint8_t)numbers[i] : 0;
    free(numbers);
    return *out ? UNRELU_OK : ur_fail_memory(err, count, "flags");
}

unrelu_status ur_count_load(ur_npz *npz, const char *path, const char *name, size_t *out,
                            unrelu_error *err)
{
    static const double MOST = 1e18; /* what size_t holds */
    double value = 0;
    unrelu_status status = ur_npz_number(npz, name, &value, err);
    if (status == UNRELU_OK && !(value >= 0 && value < MOST && value == floor(value)))
        status = ur_fail(err, UNRELU_EFORMAT, "%s: %s is %g, where a count is needed", path, name,
                         value);
    *out = status == UNRELU_OK ? (size_t)value : 0;
    return status;
}

unrelu_status ur_finite_check(const char *path, const char *name, const double *x, size_t rows,
                              size_t columns, unrelu_error *err)
{
    for (size_t i = 0; i < rows * columns; i++)
        if (!isfinite(x[i]))
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: %s has %g at row %zu, column %zu, where a finite number is needed",
                           path, name, x[i], i / columns + 1, i % columns + 1);
    return UNRELU_OK;
}

static unrelu_status load_field(ur_npz *npz, const char *path, const ur_fields *t,
                                const ur_field *f, void *member, unrelu_error *err)
{
    size_t shape[3] = {1, 1, 1}, ndim = f->shape ? spell(t, f->shape, shape) : 0, count = 0;
    double number = 0;
    switch (f->kind) {
    case UR_ARRAY:
    case UR_COUNTS:
        return ur_array_load(npz, path, f->name, ndim, shape, member, err);
    case UR_FINITE:
        UR_TRY(ur_array_load(npz, path, f->name, ndim, shape, member, err));
        return ur_finite_check(path, f->name, *(double **)member, shape[0], shape[1], err);
    case UR_BYTES:
        return load_bytes(npz, path, f->name, ndim, shape, member, err);
    case UR_NUMBER:
        return ur_npz_number(npz, f->name, member, err);
    case UR_COUNT:
        return ur_count_load(npz, path, f->name, member, err);
    case UR_SWITCH:
        UR_TRY(ur_npz_number(npz, f->name, &number, err));
        *(int *)member = number != 0;
        return UNRELU_OK;
    case UR_WORD:
        return ur_npz_string(npz, f->name, member, f->size, err);
    case UR_TEXTS:
        UR_TRY(check_shape(npz, path, f->name, ndim, shape, &count, err));
        return ur_npz_texts(npz, f->name, count, member, err);
    }
    return UNRELU_OK;
}

unrelu_status ur_fields_load(ur_npz *npz, const char *path, const ur_fields *t, void *model,
                             unrelu_error *err)
{
    for (size_t i = 0; i < t->count; i++) {
        const ur_field *f = &t->fields[i];
        char *member = (char *)model + f->offset;
        if (f->needed || ur_npz_has(npz, f->name))
            UR_TRY(load_field(npz, path, t, f, member, err));
        else if (f->kind == UR_NUMBER)
            *(double *)(void *)member = f->missing;
    }
    return UNRELU_OK;
}

/* ---- files ---- */

unrelu_status ur_model_create(const char *path, const char *kind, ur_npz_writer **out,
                              unrelu_error *err)
{
    char by[48];
    UR_TRY(ur_npz_writer_open(path, out, err));
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

static void close_npz(void *npz)
{
    ur_npz_close(npz);
}

unrelu_status ur_model_open(ur_arena *arena, const char *path, const char *kind, ur_npz **out,
                            unrelu_error *err)
{
    char is[32] = "";
    const char *what = strcmp(kind, "summary") == 0 ? "summary" : "model";
    UR_TRY(ur_npz_open(path, out, err));
    ur_npz *npz = *out = ur_arena_adopt(arena, *out, close_npz);
    UR_TRY(ur_arena_status(arena, err));
    if (!ur_npz_has(npz, "kind"))
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s has no array 'kind': it is not a %s written by unrelu", path, what);
    UR_TRY(ur_npz_string(npz, "kind", is, sizeof is, err));
    if (strcmp(is, kind) == 0)
        return ur_format_check(npz, path, NULL, err);
    if (*what == 's')
        return ur_fail(err, UNRELU_EFORMAT, "%s is of kind '%s', not a summary", path, is);
    return ur_fail(err, UNRELU_EFORMAT, "%s is of kind '%s', where a %s is needed", path, is, kind);
}

/* ---- what models share ---- */

unrelu_status ur_seed_load(ur_npz *npz, const char *path, uint64_t *seed, unrelu_error *err)
{
    char text[24] = "", *end = text;
    if (!ur_npz_has(npz, "seed"))
        return UNRELU_OK;
    unrelu_status status = ur_npz_string(npz, "seed", text, sizeof text, err);
    if (status != UNRELU_OK)
        return status;
    *seed = strtoull(text, &end, 10);
    if (end == text || *end)
        return ur_fail(err, UNRELU_EFORMAT, "%s: '%s' is no seed", path, text);
    return UNRELU_OK;
}

unrelu_status ur_names_load(ur_npz *npz, const char *path, const char *name, size_t count,
                            char ***out, unrelu_error *err)
{
    char **names = NULL;
    size_t found = 0;
    if (!ur_npz_has(npz, name))
        return UNRELU_OK;
    unrelu_status status = ur_npz_strings(npz, name, &names, &found, err);
    if (status == UNRELU_OK && found != count) {
        ur_strings_free(names, found);
        return ur_fail(err, UNRELU_EFORMAT, "%s: %s has %zu names for %zu columns", path, name,
                       found, count);
    }
    if (status == UNRELU_OK)
        *out = names;
    return status;
}

unrelu_status ur_verdict_load(ur_npz *npz, const char *path, const char *what,
                              unrelu_verdict *verdict, unrelu_error *err)
{
    char text[32];
    if (!ur_npz_has(npz, "verdict"))
        return UNRELU_OK;
    unrelu_status status = ur_npz_string(npz, "verdict", text, sizeof text, err);
    if (status != UNRELU_OK)
        return status;
    for (int v = UNRELU_VERDICT_PLANTED; v <= UNRELU_VERDICT_AMBIGUOUS; v++)
        if (v != UNRELU_VERDICT_FAILED &&
            strcmp(text, unrelu_verdict_name((unrelu_verdict)v)) == 0) {
            *verdict = (unrelu_verdict)v;
            return UNRELU_OK;
        }
    return ur_fail(err, UNRELU_EFORMAT, "%s: '%s' is no verdict of %s", path, text, what);
}
