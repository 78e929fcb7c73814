/* SPDX-License-Identifier: Apache-2.0 */
/* A mixture as a .npz file; docs/formats.md lists the arrays. Those of the hidden layer have the
 * names they have in a rectified-gaussian file. To be read it needs kind, A, b and sigma alone:
 * what else is missing is no noise, no errors, numbered names; scales and correlations follow from
 * sigma. */
#include "error.h"
#include "memory.h"
#include "model/gaussian/model.h"
#include "model/mixture/mixture.h"
#include "model/warnings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(member)   offsetof(unrelu_mixture, member)
#define SIZE(member) sizeof(((unrelu_mixture *)NULL)->member)

static const struct array_field {
    const char *name;
    size_t offset;     /* of the pointer */
    const char *shape; /* letters: of d, p */
} arrays[] = {
    {"A", AT(A), "dp"},
    {"A_se", AT(A_se), "dp"},
    {"hidden_noise", AT(hidden.noise), "p"},
    {"hidden_limit", AT(hidden.limit), "p"},
};

static const struct number_field {
    const char *name;
    size_t offset;
} numbers[] = {
    {"noise", AT(noise)},
    {"relative_noise", AT(relative_noise)},
    {"residual", AT(residual)},
    {"negative", AT(negative)},
};

static const struct count_field {
    const char *name;
    size_t offset;
} counts[] = {
    {"n", AT(n)},           {"samples_checked", AT(samples_checked)},
    {"facets", AT(facets)}, {"min_off", AT(min_off)},
    {"tries", AT(tries)},
};

static const struct word_field {
    const char *name;
    size_t offset, size;
} words[] = {
    {"method", AT(method), SIZE(method)},
    {"precision", AT(precision), SIZE(precision)},
    {"how_p", AT(how_p), SIZE(how_p)},
    {"hidden_method", AT(hidden.method), SIZE(hidden.method)},
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

static void *at(const unrelu_mixture *m, size_t offset)
{
    return (char *)m + offset;
}

/* the shape that the letters spell; returns the number of dimensions */
static size_t spell(const unrelu_mixture *m, const char *letters, size_t shape[2])
{
    size_t ndim = strlen(letters);
    for (size_t i = 0; i < ndim; i++)
        shape[i] = letters[i] == 'd' ? m->d : m->p;
    return ndim;
}

/* ---- save ---- */

static void add_fields(ur_npz_writer *w, const unrelu_mixture *m)
{
    size_t shape[2];
    for (size_t i = 0; i < COUNT(arrays); i++) {
        double *const *array = at(m, arrays[i].offset);
        if (*array)
            ur_npz_add(w, arrays[i].name, *array, spell(m, arrays[i].shape, shape), shape);
    }
    for (size_t i = 0; i < COUNT(numbers); i++)
        ur_npz_add_number(w, numbers[i].name, *(double *)at(m, numbers[i].offset));
    for (size_t i = 0; i < COUNT(counts); i++)
        ur_npz_add_integer(w, counts[i].name, (int64_t) * (size_t *)at(m, counts[i].offset));
    for (size_t i = 0; i < COUNT(words); i++)
        ur_npz_add_string(w, words[i].name, at(m, words[i].offset));
}

unrelu_status unrelu_mixture_save(const unrelu_mixture *m, const char *path, unrelu_error *err)
{
    ur_npz_writer *w = NULL;
    if (!m->A || !m->hidden.b || !m->hidden.sigma)
        return ur_fail(err, UNRELU_EUSAGE, "the mixture has no A or no hidden units to save");
    unrelu_status status = ur_npz_writer_open(path, &w, err);
    if (status != UNRELU_OK)
        return status;
    char seed[24]; /* as text: a double does not hold all of it */
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)m->seed);
    ur_npz_add_string(w, "kind", "mixture");
    ur_npz_add_string(w, "verdict", unrelu_verdict_name(m->verdict));
    ur_npz_add_string(w, "seed", seed);
    if (m->names)
        ur_npz_add_strings(w, "names", m->names, m->d);
    add_fields(w, m);
    status = ur_gaussian_put(w, &m->hidden, err);
    if (status == UNRELU_OK)
        status = ur_warnings_save(w, m->warnings, m->warning_count, err);
    if (status == UNRELU_OK)
        return ur_npz_commit(w, err);
    ur_npz_abort(w);
    return status;
}

/* ---- load ---- */

typedef struct {
    ur_npz *npz;
    const char *path;
    unrelu_mixture *m;
    unrelu_error *err;
} reader;

static unrelu_status read_kind(const reader *r)
{
    char kind[32] = "";
    if (!ur_npz_has(r->npz, "kind"))
        return ur_fail(r->err, UNRELU_EFORMAT,
                       "%s has no array 'kind': it is not a model written by unrelu", r->path);
    unrelu_status status = ur_npz_string(r->npz, "kind", kind, sizeof kind, r->err);
    if (status == UNRELU_OK && strcmp(kind, "mixture") != 0)
        status = ur_fail(r->err, UNRELU_EFORMAT, "%s is of kind '%s', where a mixture is needed",
                         r->path, kind);
    return status;
}

static unrelu_status read_sizes(const reader *r)
{
    size_t ndim = 0, shape[4] = {0};
    unrelu_status status = ur_npz_shape(r->npz, "A", &ndim, shape, r->err);
    if (status != UNRELU_OK)
        return status;
    if (ndim != 2)
        return ur_fail(r->err, UNRELU_EFORMAT,
                       "%s: A has %zu dimensions, where a matrix of d x p is needed", r->path,
                       ndim);
    if (shape[0] == 0 || shape[1] == 0)
        return ur_fail(r->err, UNRELU_EFORMAT,
                       "%s: A is %zu x %zu, where at least one column and one unit are needed",
                       r->path, shape[0], shape[1]);
    r->m->d = shape[0];
    r->m->p = r->m->hidden.d = shape[1];
    return UNRELU_OK;
}

static unrelu_status check_finite(const reader *r, const char *name, const double *x, size_t rows,
                                  size_t width)
{
    for (size_t i = 0; i < rows * width; i++)
        if (!isfinite(x[i]))
            return ur_fail(r->err, UNRELU_EFORMAT,
                           "%s: %s has %g at row %zu, column %zu, where a finite number is needed",
                           r->path, name, x[i], i / width + 1, i % width + 1);
    return UNRELU_OK;
}

static unrelu_status read_arrays(const reader *r)
{
    unrelu_mixture *m = r->m;
    size_t shape[2];
    unrelu_status status = UNRELU_OK;
    for (size_t i = 0; status == UNRELU_OK && i < COUNT(arrays); i++)
        if (ur_npz_has(r->npz, arrays[i].name))
            status = ur_array_get(r->npz, r->path, arrays[i].name, spell(m, arrays[i].shape, shape),
                                  shape, at(m, arrays[i].offset), r->err);
    if (status == UNRELU_OK)
        status = ur_gaussian_get(r->npz, r->path, &m->hidden, r->err);
    if (status == UNRELU_OK)
        status = check_finite(r, "A", m->A, m->d, m->p);
    if (status == UNRELU_OK)
        status = check_finite(r, "b", m->hidden.b, m->p, 1);
    if (status == UNRELU_OK)
        status = check_finite(r, "scale", m->hidden.scale, m->p, 1);
    if (status == UNRELU_OK)
        status = check_finite(r, "correlation", m->hidden.correlation, m->p, m->p);
    return status;
}

static unrelu_status read_count(const reader *r, const struct count_field *field)
{
    double value = 0;
    unrelu_status status = ur_npz_number(r->npz, field->name, &value, r->err);
    if (status == UNRELU_OK && !(value >= 0 && value < 1e18 && value == floor(value)))
        status = ur_fail(r->err, UNRELU_EFORMAT, "%s: %s is %g, where a count is needed", r->path,
                         field->name, value);
    if (status == UNRELU_OK)
        *(size_t *)at(r->m, field->offset) = (size_t)value;
    return status;
}

static unrelu_status read_fields(const reader *r)
{
    unrelu_status status = UNRELU_OK;
    for (size_t i = 0; status == UNRELU_OK && i < COUNT(numbers); i++)
        if (ur_npz_has(r->npz, numbers[i].name))
            status = ur_npz_number(r->npz, numbers[i].name, at(r->m, numbers[i].offset), r->err);
    for (size_t i = 0; status == UNRELU_OK && i < COUNT(counts); i++)
        if (ur_npz_has(r->npz, counts[i].name))
            status = read_count(r, &counts[i]);
    for (size_t i = 0; status == UNRELU_OK && i < COUNT(words); i++)
        if (ur_npz_has(r->npz, words[i].name))
            status = ur_npz_string(r->npz, words[i].name, at(r->m, words[i].offset), words[i].size,
                                   r->err);
    if (status == UNRELU_OK && !(r->m->noise >= 0 && r->m->noise < INFINITY))
        status =
            ur_fail(r->err, UNRELU_EFORMAT, "%s: noise is %g, where a standard deviation is needed",
                    r->path, r->m->noise);
    return status;
}

static unrelu_status read_verdict(const reader *r)
{
    char text[32];
    if (!ur_npz_has(r->npz, "verdict"))
        return UNRELU_OK;
    unrelu_status status = ur_npz_string(r->npz, "verdict", text, sizeof text, r->err);
    if (status != UNRELU_OK)
        return status;
    for (int verdict = UNRELU_VERDICT_PLANTED; verdict <= UNRELU_VERDICT_AMBIGUOUS; verdict++)
        if (verdict != UNRELU_VERDICT_FAILED &&
            strcmp(text, unrelu_verdict_name((unrelu_verdict)verdict)) == 0) {
            r->m->verdict = (unrelu_verdict)verdict;
            return UNRELU_OK;
        }
    return ur_fail(r->err, UNRELU_EFORMAT, "%s: '%s' is no verdict of a mixture", r->path, text);
}

static unrelu_status read_seed(const reader *r)
{
    char text[24] = "", *end = text;
    if (!ur_npz_has(r->npz, "seed"))
        return UNRELU_OK;
    unrelu_status status = ur_npz_string(r->npz, "seed", text, sizeof text, r->err);
    if (status != UNRELU_OK)
        return status;
    r->m->seed = strtoull(text, &end, 10);
    if (end == text || *end)
        return ur_fail(r->err, UNRELU_EFORMAT, "%s: '%s' is no seed", r->path, text);
    return UNRELU_OK;
}

static unrelu_status read_names(const reader *r)
{
    char **names = NULL;
    size_t found = 0;
    if (!ur_npz_has(r->npz, "names"))
        return UNRELU_OK;
    unrelu_status status = ur_npz_strings(r->npz, "names", &names, &found, r->err);
    if (status == UNRELU_OK && found != r->m->d) {
        ur_strings_free(names, found);
        return ur_fail(r->err, UNRELU_EFORMAT, "%s: %zu names for %zu columns", r->path, found,
                       r->m->d);
    }
    r->m->names = names;
    return status;
}

/* what the file does not say of the hidden layer by itself */
static unrelu_status complete(const reader *r)
{
    unrelu_mixture *m = r->m;
    if (m->noise > 0 && !ur_npz_has(r->npz, "relative_noise"))
        m->relative_noise = NAN;
    m->hidden.n = m->n;
    m->hidden.seed = m->seed;
    if (!(m->hidden.names = ur_strings_number('u', m->p)))
        return ur_fail_memory(r->err, m->p, "names");
    return ur_mixture_alloc(m, r->err);
}

static unrelu_status read_all(const reader *r)
{
    unrelu_status status;
    if ((status = read_kind(r)) != UNRELU_OK || (status = read_sizes(r)) != UNRELU_OK ||
        (status = read_verdict(r)) != UNRELU_OK || (status = read_seed(r)) != UNRELU_OK ||
        (status = read_fields(r)) != UNRELU_OK || (status = read_names(r)) != UNRELU_OK ||
        (status = read_arrays(r)) != UNRELU_OK || (status = complete(r)) != UNRELU_OK)
        return status;
    if (!ur_npz_has(r->npz, "warning_codes"))
        return UNRELU_OK;
    return ur_warnings_load(r->npz, r->path, &r->m->warnings, &r->m->warning_count, r->err);
}

unrelu_status unrelu_mixture_load(const char *path, unrelu_mixture *m, unrelu_error *err)
{
    reader r = {NULL, path, m, err};
    memset(m, 0, sizeof *m);
    unrelu_status status = ur_npz_open(path, &r.npz, err);
    if (status != UNRELU_OK)
        return status;
    status = read_all(&r);
    ur_npz_close(r.npz);
    if (status != UNRELU_OK)
        unrelu_mixture_free(m);
    return status;
}
