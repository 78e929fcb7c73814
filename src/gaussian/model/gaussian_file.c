/* SPDX-License-Identifier: Apache-2.0 */
/* A rectified Gaussian as a .npz file, or as a part of another model's; docs/formats.md lists the
 * arrays. */
#include "base/error.h"
#include "base/memory.h"
#include "gaussian/model/gaussian_model.h"
#include "model/fields.h"
#include "model/warnings.h"
#include "read/npz.h"
#include "write/npz_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    size_t offset;  /* of the pointer in unrelu_gaussian */
    int dimensions; /* of size d each; NEEDED must be there */
    enum { NEEDED, OPTIONAL } presence;
} array_field;

#define AT(member) offsetof(unrelu_gaussian, member)
static const array_field arrays[] = {
    {"b", AT(b), 1, NEEDED},
    {"sigma", AT(sigma), 2, NEEDED},
    {"scale", AT(scale), 1, OPTIONAL},
    {"correlation", AT(correlation), 2, OPTIONAL},
    {"b_se", AT(b_se), 1, OPTIONAL},
    {"scale_se", AT(scale_se), 1, OPTIONAL},
    {"sigma_se", AT(sigma_se), 2, OPTIONAL},
    {"correlation_se", AT(correlation_se), 2, OPTIONAL},
    {"n_pair", AT(n_pair), 2, OPTIONAL},
    {"observed", AT(observed), 1, OPTIONAL},
    {"positive", AT(positive), 1, OPTIONAL},
    {"eigenvalues", AT(eigenvalues), 1, OPTIONAL},
    {"eigenvalues_se", AT(eigenvalues_se), 1, OPTIONAL},
};
/* of a rectified-gaussian file alone */
static const array_field alone[] = {
    {"noise", AT(noise), 1, OPTIONAL},
    {"limit", AT(limit), 1, OPTIONAL},
    {"lambda", AT(lambda), 1, OPTIONAL},
};
#define COUNT(table) (sizeof(table) / sizeof *(table))

static double **pointer(const unrelu_gaussian *m, const array_field *a)
{
    return (double **)((char *)m + a->offset);
}

/* "no-zeros,few-joint" */
static void flags_to_text(uint32_t flags, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int bit = 0; bit < UNRELU_FLAG_COUNT; bit++)
        if (flags >> bit & 1 && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "," : "",
                                     unrelu_flag_name(bit));
}

static uint32_t flags_from_text(const char *text)
{
    uint32_t flags = 0;
    while (*text) {
        size_t length = strcspn(text, ",");
        for (int bit = 0; bit < UNRELU_FLAG_COUNT; bit++)
            if (strlen(unrelu_flag_name(bit)) == length &&
                strncmp(text, unrelu_flag_name(bit), length) == 0)
                flags |= UINT32_C(1) << bit;
        text += length + (text[length] == ',');
    }
    return flags;
}

static unrelu_status add_flags(ur_npz_writer *w, const unrelu_gaussian *m, unrelu_error *err)
{
    enum { TEXT = 128 };
    char **texts = ur_alloc(m->d, sizeof *texts);
    char *room = ur_alloc(m->d, TEXT);
    unrelu_status status = texts && room ? UNRELU_OK : ur_fail_memory(err, m->d, "flags");
    for (size_t j = 0; status == UNRELU_OK && j < m->d; j++) {
        texts[j] = room + j * TEXT;
        flags_to_text(m->flags[j], texts[j], TEXT);
    }
    if (status == UNRELU_OK)
        ur_npz_add_strings(w, "flags", texts, m->d);
    free(texts);
    free(room);
    return status;
}

static void add_arrays(ur_npz_writer *w, const unrelu_gaussian *m, const array_field *fields,
                       size_t count)
{
    size_t shape[2] = {m->d, m->d};
    for (size_t i = 0; i < count; i++)
        if (*pointer(m, &fields[i]))
            ur_npz_add(w, fields[i].name, *pointer(m, &fields[i]), (size_t)fields[i].dimensions,
                       shape);
}

/* only a learned model has them */
static int is_learned(const unrelu_gaussian *m)
{
    return m->flags && m->pair_flags;
}

unrelu_status ur_gaussian_put(ur_npz_writer *w, const unrelu_gaussian *m, unrelu_error *err)
{
    size_t square[2] = {m->d, m->d}, tall[2] = {m->d, m->k};
    add_arrays(w, m, arrays, COUNT(arrays));
    if (m->W) {
        ur_npz_add(w, "W", m->W, 2, tall);
        ur_npz_add_string(w, "how_k", m->how_k);
    }
    if (!is_learned(m))
        return UNRELU_OK;
    ur_npz_add_string(w, "norms", m->norms);
    ur_npz_add_string(w, "angles", m->angles);
    ur_npz_add_integer(w, "rows_dropped", (int64_t)m->rows_dropped);
    ur_npz_add_integer(w, "repaired", m->repaired);
    ur_npz_add_number(w, "lambda_min", m->lambda_min);
    ur_npz_add_bytes(w, "pair_flags", m->pair_flags, 2, square);
    return add_flags(w, m, err);
}

unrelu_status unrelu_gaussian_save(const unrelu_gaussian *m, const char *path, unrelu_error *err)
{
    ur_npz_writer *w = NULL;
    unrelu_status status = ur_npz_writer_open(path, &w, err);
    if (status != UNRELU_OK)
        return status;
    ur_npz_add_string(w, "kind", "rectified-gaussian");
    ur_npz_add_strings(w, "names", m->names, m->d);
    ur_seed_save(w, m->seed);
    if (m->transform != UNRELU_TRANSFORM_NONE)
        ur_npz_add_string(w, "transform", unrelu_transform_name(m->transform));
    add_arrays(w, m, alone, COUNT(alone));
    status = ur_gaussian_put(w, m, err);
    if (status == UNRELU_OK && is_learned(m)) {
        ur_npz_add_string(w, "method", m->method);
        ur_npz_add_integer(w, "n", (int64_t)m->n);
        status = ur_warnings_save(w, m->warnings, m->warning_count, err);
    }
    if (status == UNRELU_OK)
        return ur_npz_commit(w, err);
    ur_npz_abort(w);
    return status;
}

/* ---- load ---- */

static unrelu_status load_flags(ur_npz *npz, const char *path, unrelu_gaussian *m,
                                unrelu_error *err)
{
    char **texts = NULL;
    size_t count = 0;
    unrelu_status status = ur_npz_strings(npz, "flags", &texts, &count, err);
    if (status == UNRELU_OK && !(m->flags = ur_alloc(m->d, sizeof *m->flags)))
        status = ur_fail_memory(err, m->d, "flags");
    if (status == UNRELU_OK && count != m->d)
        status = ur_fail(err, UNRELU_EFORMAT, "%s: %zu flags for %zu columns", path, count, m->d);
    for (size_t j = 0; status == UNRELU_OK && j < m->d; j++)
        m->flags[j] = flags_from_text(texts[j]);
    ur_strings_free(texts, count);
    double *pairs = NULL;
    if (status == UNRELU_OK)
        status = ur_array_load(npz, path, "pair_flags", 2, (size_t[]){m->d, m->d}, &pairs, err);
    if (status == UNRELU_OK && !(m->pair_flags = ur_alloc(m->d, m->d)))
        status = ur_fail_memory(err, m->d, "flags");
    for (size_t i = 0; status == UNRELU_OK && i < m->d * m->d; i++)
        m->pair_flags[i] = pairs[i] >= 0 && pairs[i] < 256 ? (uint8_t)pairs[i] : 0;
    free(pairs);
    return status;
}

static unrelu_status load_fit(ur_npz *npz, const char *path, unrelu_gaussian *m, unrelu_error *err)
{
    double repaired = 0;
    unrelu_status status;
    if ((status = ur_npz_string(npz, "norms", m->norms, sizeof m->norms, err)) != UNRELU_OK ||
        (status = ur_npz_string(npz, "angles", m->angles, sizeof m->angles, err)) != UNRELU_OK ||
        (status = ur_count_load(npz, path, "rows_dropped", &m->rows_dropped, err)) != UNRELU_OK ||
        (status = ur_npz_number(npz, "repaired", &repaired, err)) != UNRELU_OK ||
        (status = ur_npz_number(npz, "lambda_min", &m->lambda_min, err)) != UNRELU_OK)
        return status;
    m->repaired = repaired != 0;
    return load_flags(npz, path, m, err);
}

static unrelu_status load_W(ur_npz *npz, const char *path, unrelu_gaussian *m, unrelu_error *err)
{
    size_t ndim = 0, shape[4] = {0};
    unrelu_status status = ur_npz_shape(npz, "W", &ndim, shape, err);
    if (status == UNRELU_OK)
        status = ur_array_load(npz, path, "W", 2, (size_t[]){m->d, shape[1]}, &m->W, err);
    m->k = status == UNRELU_OK ? shape[1] : 0;
    if (status == UNRELU_OK && ur_npz_has(npz, "how_k"))
        status = ur_npz_string(npz, "how_k", m->how_k, sizeof m->how_k, err);
    return status;
}

static unrelu_status load_arrays(ur_npz *npz, const char *path, const unrelu_gaussian *m,
                                 const array_field *fields, size_t count, unrelu_error *err)
{
    size_t shape[2] = {m->d, m->d};
    unrelu_status status = UNRELU_OK;
    for (size_t i = 0; status == UNRELU_OK && i < count; i++)
        if (fields[i].presence == NEEDED || ur_npz_has(npz, fields[i].name))
            status = ur_array_load(npz, path, fields[i].name, (size_t)fields[i].dimensions, shape,
                                   pointer(m, &fields[i]), err);
    return status;
}

static unrelu_status derive_scale(const char *path, unrelu_gaussian *m, unrelu_error *err)
{
    if (!(m->scale = ur_doubles(m->d)))
        return ur_fail_memory(err, m->d, "scales");
    for (size_t i = 0; i < m->d; i++) {
        double variance = m->sigma[i * m->d + i];
        if (!(variance >= 0 && variance < INFINITY))
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: sigma has %g at row %zu, column %zu, where a variance is needed",
                           path, variance, i + 1, i + 1);
        m->scale[i] = sqrt(variance);
    }
    return UNRELU_OK;
}

static unrelu_status derive_correlation(unrelu_gaussian *m, unrelu_error *err)
{
    size_t d = m->d;
    if (!(m->correlation = ur_alloc(d, d * sizeof *m->correlation)))
        return ur_fail_memory(err, d * d, "correlations");
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double si = m->scale[i], sj = m->scale[j];
            m->correlation[i * d + j] = i == j               ? 1
                                        : si == 0 || sj == 0 ? 0
                                                             : m->sigma[i * d + j] / si / sj;
        }
    return UNRELU_OK;
}

unrelu_status ur_gaussian_get(ur_npz *npz, const char *path, unrelu_gaussian *m, unrelu_error *err)
{
    unrelu_status status = load_arrays(npz, path, m, arrays, COUNT(arrays), err);
    if (status == UNRELU_OK && !m->scale)
        status = derive_scale(path, m, err);
    if (status == UNRELU_OK && !m->correlation)
        status = derive_correlation(m, err);
    if (status == UNRELU_OK && ur_npz_has(npz, "W"))
        status = load_W(npz, path, m, err);
    if (status == UNRELU_OK && ur_npz_has(npz, "flags"))
        status = load_fit(npz, path, m, err);
    return status;
}

static unrelu_status load_transform(ur_npz *npz, const char *path, unrelu_gaussian *m,
                                    unrelu_error *err)
{
    char text[32];
    if (!ur_npz_has(npz, "transform"))
        return UNRELU_OK;
    unrelu_status status = ur_npz_string(npz, "transform", text, sizeof text, err);
    for (m->transform = UNRELU_TRANSFORM_NONE;
         status == UNRELU_OK && strcmp(unrelu_transform_name(m->transform), text) != 0;
         m->transform++)
        if (m->transform == UNRELU_TRANSFORM_BOXCOX)
            return ur_fail(err, UNRELU_EFORMAT, "%s: there is no transform '%.20s'", path, text);
    if (status == UNRELU_OK && m->transform == UNRELU_TRANSFORM_BOXCOX && !m->lambda)
        status =
            ur_fail(err, UNRELU_EFORMAT, "%s: a Box-Cox transform needs the array lambda", path);
    return status;
}

/* kind, d, and what only a file of this kind must have */
static unrelu_status load_head(ur_npz *npz, const char *path, unrelu_gaussian *m, unrelu_error *err)
{
    size_t ndim = 0, shape[4] = {0};
    unrelu_status status = ur_kind_check(npz, path, "rectified-gaussian", err);
    const char *needed[] = {"scale", "correlation", "b"};
    for (size_t i = 0; status == UNRELU_OK && i < 3; i++)
        status = ur_npz_shape(npz, needed[i], &ndim, shape, err);
    if (status == UNRELU_OK && (ndim != 1 || shape[0] == 0))
        status = ur_fail(err, UNRELU_EFORMAT, "%s: b must be a vector, not of %zu dimensions", path,
                         ndim);
    m->d = status == UNRELU_OK ? shape[0] : 0;
    return status;
}

static unrelu_status load(ur_npz *npz, const char *path, unrelu_gaussian *m, unrelu_error *err)
{
    unrelu_status status = load_head(npz, path, m, err);
    if (status == UNRELU_OK)
        status = ur_gaussian_get(npz, path, m, err);
    if (status == UNRELU_OK)
        status = load_arrays(npz, path, m, alone, COUNT(alone), err);
    if (status == UNRELU_OK)
        status = load_transform(npz, path, m, err);
    if (status == UNRELU_OK)
        status = ur_names_load(npz, path, "names", m->d, &m->names, err);
    if (status == UNRELU_OK && !m->names && !(m->names = ur_strings_number('x', m->d)))
        status = ur_fail_memory(err, m->d, "names");
    if (status == UNRELU_OK)
        status = ur_seed_load(npz, path, &m->seed, err);
    if (status != UNRELU_OK || !ur_npz_has(npz, "flags"))
        return status;
    if ((status = ur_npz_string(npz, "method", m->method, sizeof m->method, err)) != UNRELU_OK ||
        (status = ur_count_load(npz, path, "n", &m->n, err)) != UNRELU_OK)
        return status;
    return ur_warnings_load(npz, path, &m->warnings, &m->warning_count, err);
}

unrelu_status unrelu_gaussian_load(const char *path, unrelu_gaussian *m, unrelu_error *err)
{
    ur_npz *npz = NULL;
    memset(m, 0, sizeof *m);
    unrelu_status status = ur_npz_open(path, &npz, err);
    if (status != UNRELU_OK)
        return status;
    status = load(npz, path, m, err);
    ur_npz_close(npz);
    if (status != UNRELU_OK)
        unrelu_gaussian_free(m);
    return status;
}
