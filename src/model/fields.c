/* SPDX-License-Identifier: Apache-2.0 */
#include "model/fields.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* the shape that the letters spell; returns the number of dimensions */
static size_t spell(const ur_fields *t, const char *letters, size_t shape[2])
{
    size_t ndim = strlen(letters);
    for (size_t i = 0; i < ndim; i++)
        shape[i] = t->sizes[strchr(t->letters, letters[i]) - t->letters];
    return ndim;
}

/* ---- save ---- */

static void save_field(ur_npz_writer *w, const ur_fields *t, const ur_field *f, const void *member)
{
    size_t shape[2];
    double *const *array = member;
    char **const *texts = member;
    switch (f->kind) {
    case UR_ARRAY:
    case UR_FINITE:
        if (*array)
            ur_npz_add(w, f->name, *array, spell(t, f->shape, shape), shape);
        break;
    case UR_NUMBER:
        ur_npz_add_number(w, f->name, *(const double *)member);
        break;
    case UR_COUNT:
        ur_npz_add_integer(w, f->name, (int64_t) * (const size_t *)member);
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
    size_t dimensions = 0, is[4] = {0}, width = ndim == 2 ? shape[1] : 1;
    char found[96], needed[96];
    unrelu_status status = ur_npz_shape(npz, name, &dimensions, is, err);
    if (status != UNRELU_OK)
        return status;
    if (dimensions != ndim || is[0] != shape[0] || (ndim == 2 && is[1] != width)) {
        shape_text(dimensions, is, found, sizeof found);
        shape_text(ndim, shape, needed, sizeof needed);
        return ur_fail(err, UNRELU_EFORMAT, "%s: %s is %s, where %s is needed", path, name, found,
                       needed);
    }
    *count = shape[0] * width;
    return UNRELU_OK;
}

unrelu_status ur_array_load(ur_npz *npz, const char *path, const char *name, size_t ndim,
                            const size_t *shape, double **out, unrelu_error *err)
{
    size_t count = 0;
    unrelu_status status = check_shape(npz, path, name, ndim, shape, &count, err);
    return status == UNRELU_OK ? ur_npz_doubles(npz, name, count, out, err) : status;
}

static unrelu_status load_texts(ur_npz *npz, const char *path, const char *name, size_t ndim,
                                const size_t *shape, char ***out, unrelu_error *err)
{
    size_t count = 0;
    unrelu_status status = check_shape(npz, path, name, ndim, shape, &count, err);
    return status == UNRELU_OK ? ur_npz_texts(npz, name, count, out, err) : status;
}

unrelu_status ur_count_load(ur_npz *npz, const char *path, const char *name, size_t *out,
                            unrelu_error *err)
{
    double value = 0;
    unrelu_status status = ur_npz_number(npz, name, &value, err);
    if (status == UNRELU_OK && !(value >= 0 && value < 1e18 && value == floor(value)))
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
    size_t shape[2] = {1, 1};
    unrelu_status status = UNRELU_OK;
    switch (f->kind) {
    case UR_ARRAY:
    case UR_FINITE:
        status = ur_array_load(npz, path, f->name, spell(t, f->shape, shape), shape, member, err);
        if (status == UNRELU_OK && f->kind == UR_FINITE)
            status = ur_finite_check(path, f->name, *(double **)member, shape[0], shape[1], err);
        break;
    case UR_NUMBER:
        status = ur_npz_number(npz, f->name, member, err);
        break;
    case UR_COUNT:
        status = ur_count_load(npz, path, f->name, member, err);
        break;
    case UR_WORD:
        status = ur_npz_string(npz, f->name, member, f->size, err);
        break;
    case UR_TEXTS:
        status = load_texts(npz, path, f->name, spell(t, f->shape, shape), shape, member, err);
        break;
    }
    return status;
}

unrelu_status ur_fields_load(ur_npz *npz, const char *path, const ur_fields *t, void *model,
                             unrelu_error *err)
{
    unrelu_status status = UNRELU_OK;
    for (size_t i = 0; i < t->count && status == UNRELU_OK; i++) {
        const ur_field *f = &t->fields[i];
        char *member = (char *)model + f->offset;
        if (ur_npz_has(npz, f->name))
            status = load_field(npz, path, t, f, member, err);
        else if (f->kind == UR_NUMBER)
            *(double *)(void *)member = f->missing;
    }
    return status;
}

unrelu_status ur_kind_check(ur_npz *npz, const char *path, const char *kind, unrelu_error *err)
{
    char is[32] = "";
    if (!ur_npz_has(npz, "kind"))
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s has no array 'kind': it is not a model written by unrelu", path);
    unrelu_status status = ur_npz_string(npz, "kind", is, sizeof is, err);
    if (status == UNRELU_OK && strcmp(is, kind) != 0)
        status = ur_fail(err, UNRELU_EFORMAT, "%s is of kind '%s', where a %s is needed", path, is,
                         kind);
    return status;
}

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
