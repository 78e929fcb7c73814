/* SPDX-License-Identifier: Apache-2.0 */
/* A rectified Gaussian as a .npz file; docs/formats.md lists the arrays. */
#include "error.h"
#include "memory.h"
#include "model/gaussian/model.h"
#include "model/warnings.h"
#include "read/npz.h"
#include "write/npz.h"

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
    {"scale", AT(scale), 1, NEEDED},
    {"sigma", AT(sigma), 2, NEEDED},
    {"correlation", AT(correlation), 2, NEEDED},
    {"b_se", AT(b_se), 1, OPTIONAL},
    {"scale_se", AT(scale_se), 1, OPTIONAL},
    {"sigma_se", AT(sigma_se), 2, OPTIONAL},
    {"correlation_se", AT(correlation_se), 2, OPTIONAL},
    {"n_pair", AT(n_pair), 2, OPTIONAL},
    {"observed", AT(observed), 1, OPTIONAL},
    {"positive", AT(positive), 1, OPTIONAL},
    {"noise", AT(noise), 1, OPTIONAL},
    {"limit", AT(limit), 1, OPTIONAL},
    {"eigenvalues", AT(eigenvalues), 1, OPTIONAL},
    {"eigenvalues_se", AT(eigenvalues_se), 1, OPTIONAL},
};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

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

/* what only a learned model has */
static unrelu_status add_fit(ur_npz_writer *w, const unrelu_gaussian *m, unrelu_error *err)
{
    size_t shape[2] = {m->d, m->d};
    ur_npz_add_string(w, "method", m->method);
    ur_npz_add_string(w, "norms", m->norms);
    ur_npz_add_string(w, "angles", m->angles);
    ur_npz_add_integer(w, "n", (int64_t)m->n);
    ur_npz_add_integer(w, "rows_dropped", (int64_t)m->rows_dropped);
    ur_npz_add_integer(w, "repaired", m->repaired);
    ur_npz_add_number(w, "lambda_min", m->lambda_min);
    ur_npz_add_bytes(w, "pair_flags", m->pair_flags, 2, shape);
    unrelu_status status = add_flags(w, m, err);
    return status == UNRELU_OK ? ur_warnings_save(w, m->warnings, m->warning_count, err) : status;
}

unrelu_status unrelu_gaussian_save(const unrelu_gaussian *m, const char *path, unrelu_error *err)
{
    ur_npz_writer *w = NULL;
    unrelu_status status = ur_npz_writer_open(path, &w, err);
    if (status != UNRELU_OK)
        return status;
    ur_npz_add_string(w, "kind", "rectified-gaussian");
    ur_npz_add_strings(w, "names", m->names, m->d);
    char seed[24]; /* as text: a double does not hold all of it */
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)m->seed);
    ur_npz_add_string(w, "seed", seed);
    size_t shape[2] = {m->d, m->d};
    for (size_t i = 0; i < ARRAYS; i++)
        if (*pointer(m, &arrays[i]))
            ur_npz_add(w, arrays[i].name, *pointer(m, &arrays[i]), (size_t)arrays[i].dimensions,
                       shape);
    if (m->W) {
        size_t tall[2] = {m->d, m->k};
        ur_npz_add(w, "W", m->W, 2, tall);
        ur_npz_add_string(w, "how_k", m->how_k);
    }
    if (m->flags && m->pair_flags)
        status = add_fit(w, m, err);
    if (status == UNRELU_OK)
        return ur_npz_commit(w, err);
    ur_npz_abort(w);
    return status;
}

/* ---- load ---- */

static unrelu_status load_flags(ur_npz *npz, unrelu_gaussian *m, unrelu_error *err)
{
    char **texts = NULL;
    size_t count = 0;
    unrelu_status status = ur_npz_strings(npz, "flags", &texts, &count, err);
    if (status == UNRELU_OK && !(m->flags = ur_alloc(m->d, sizeof *m->flags)))
        status = ur_fail_memory(err, m->d, "flags");
    if (status == UNRELU_OK && count != m->d)
        status = ur_fail(err, UNRELU_EFORMAT, "%zu flags for %zu columns", count, m->d);
    for (size_t j = 0; status == UNRELU_OK && j < m->d; j++)
        m->flags[j] = flags_from_text(texts[j]);
    ur_strings_free(texts, count);
    double *pairs = NULL;
    if (status == UNRELU_OK)
        status = ur_npz_doubles(npz, "pair_flags", m->d * m->d, &pairs, err);
    if (status == UNRELU_OK && !(m->pair_flags = ur_alloc(m->d, m->d)))
        status = ur_fail_memory(err, m->d, "flags");
    for (size_t i = 0; status == UNRELU_OK && i < m->d * m->d; i++)
        m->pair_flags[i] = pairs[i] >= 0 && pairs[i] < 256 ? (uint8_t)pairs[i] : 0;
    free(pairs);
    return status;
}

static unrelu_status load_fit(ur_npz *npz, const char *path, unrelu_gaussian *m, unrelu_error *err)
{
    double n = 0, dropped = 0, repaired = 0;
    struct {
        const char *name;
        double *to;
    } numbers[] = {{"n", &n},
                   {"rows_dropped", &dropped},
                   {"repaired", &repaired},
                   {"lambda_min", &m->lambda_min}};
    struct {
        const char *name;
        char *to;
    } words[] = {{"method", m->method}, {"norms", m->norms}, {"angles", m->angles}};
    unrelu_status status = UNRELU_OK;
    for (size_t i = 0; status == UNRELU_OK && i < 4; i++)
        status = ur_npz_number(npz, numbers[i].name, numbers[i].to, err);
    for (size_t i = 0; status == UNRELU_OK && i < 3; i++)
        status = ur_npz_string(npz, words[i].name, words[i].to, sizeof m->method, err);
    if (status == UNRELU_OK && !(n >= 0 && n < 1e18 && dropped >= 0 && dropped < 1e18))
        status = ur_fail(err, UNRELU_EFORMAT, "n = %g rows, %g dropped: the model is damaged", n,
                         dropped);
    if (status != UNRELU_OK)
        return status;
    m->n = (size_t)n;
    m->rows_dropped = (size_t)dropped;
    m->repaired = repaired != 0;
    status = load_flags(npz, m, err);
    return status == UNRELU_OK ? ur_warnings_load(npz, path, &m->warnings, &m->warning_count, err)
                               : status;
}

static unrelu_status load_W(ur_npz *npz, unrelu_gaussian *m, unrelu_error *err)
{
    size_t ndim = 0, shape[4] = {0};
    unrelu_status status = ur_npz_shape(npz, "W", &ndim, shape, err);
    if (status == UNRELU_OK && (ndim != 2 || shape[0] != m->d))
        status =
            ur_fail(err, UNRELU_EFORMAT, "W has %zu rows for %zu columns of data", shape[0], m->d);
    if (status == UNRELU_OK)
        status = ur_npz_doubles(npz, "W", m->d * shape[1], &m->W, err);
    m->k = status == UNRELU_OK ? shape[1] : 0;
    if (status == UNRELU_OK && ur_npz_has(npz, "how_k"))
        status = ur_npz_string(npz, "how_k", m->how_k, sizeof m->how_k, err);
    return status;
}

static unrelu_status load(ur_npz *npz, const char *path, unrelu_gaussian *m, unrelu_error *err)
{
    char kind[32] = "";
    size_t ndim = 0, shape[4] = {0}, names = 0;
    unrelu_status status = UNRELU_OK;
    if (!ur_npz_has(npz, "kind"))
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s has no array 'kind': it is not a model written by unrelu", path);
    status = ur_npz_string(npz, "kind", kind, sizeof kind, err);
    if (status == UNRELU_OK && strcmp(kind, "rectified-gaussian") != 0)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s is of kind '%s', where a rectified-gaussian model is needed", path,
                       kind);
    if (status == UNRELU_OK)
        status = ur_npz_shape(npz, "b", &ndim, shape, err);
    if (status == UNRELU_OK && (ndim != 1 || shape[0] == 0))
        status = ur_fail(err, UNRELU_EFORMAT, "%s: b must be a vector, not of %zu dimensions", path,
                         ndim);
    if (status != UNRELU_OK)
        return status;
    m->d = shape[0];
    for (size_t i = 0; status == UNRELU_OK && i < ARRAYS; i++) {
        size_t count = arrays[i].dimensions == 1 ? m->d : m->d * m->d;
        if (arrays[i].presence == NEEDED || ur_npz_has(npz, arrays[i].name))
            status = ur_npz_doubles(npz, arrays[i].name, count, pointer(m, &arrays[i]), err);
    }
    if (status == UNRELU_OK)
        status = ur_npz_strings(npz, "names", &m->names, &names, err);
    if (status == UNRELU_OK && names != m->d) {
        ur_strings_free(m->names, names);
        m->names = NULL;
        status = ur_fail(err, UNRELU_EFORMAT, "%s: %zu names for %zu columns", path, names, m->d);
    }
    char seed[24] = "";
    if (status == UNRELU_OK && ur_npz_has(npz, "seed"))
        status = ur_npz_string(npz, "seed", seed, sizeof seed, err);
    m->seed = strtoull(seed, NULL, 10);
    if (status == UNRELU_OK && ur_npz_has(npz, "W"))
        status = load_W(npz, m, err);
    if (status == UNRELU_OK && ur_npz_has(npz, "flags"))
        status = load_fit(npz, path, m, err);
    return status;
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
