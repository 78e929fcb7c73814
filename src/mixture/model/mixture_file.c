/* SPDX-License-Identifier: Apache-2.0 */
/* A mixture as a .npz file; docs/formats.md lists the arrays. Those of the hidden layer have the
 * names they have in a rectified-gaussian file. To be read it needs kind, A, b and sigma alone:
 * what else is missing is no noise, no errors, numbered names; scales and correlations follow from
 * sigma. */
#include "base/error.h"
#include "base/memory.h"
#include "gaussian/model/gaussian_model.h"
#include "mixture/model/mixture.h"
#include "model/fields.h"
#include "model/warnings.h"

#include <math.h>
#include <string.h>

#define ARRAY(member, letters)  UR_ARRAY_FIELD(unrelu_mixture, member, letters)
#define FINITE(member, letters) UR_FINITE_FIELD(unrelu_mixture, member, letters)
#define NUMBER(member, without) UR_NUMBER_FIELD(unrelu_mixture, member, without)
#define COUNT(member)           UR_COUNT_FIELD(unrelu_mixture, member)
#define WORD(member)            UR_WORD_FIELD(unrelu_mixture, member)

static const ur_field fields[] = {
    FINITE(A, "dp"),
    ARRAY(A_se, "dp"),
    {"hidden_noise", UR_ARRAY, offsetof(unrelu_mixture, hidden.noise), "p", 0, 0, 0},
    {"hidden_limit", UR_ARRAY, offsetof(unrelu_mixture, hidden.limit), "p", 0, 0, 0},
    NUMBER(noise, 0),
    NUMBER(relative_noise, NAN),
    NUMBER(residual, 0),
    NUMBER(negative, 0),
    COUNT(n),
    COUNT(samples_checked),
    COUNT(facets),
    COUNT(min_off),
    COUNT(tries),
    WORD(method),
    WORD(precision),
    WORD(how_p),
    {"hidden_method", UR_WORD, offsetof(unrelu_mixture, hidden.method), NULL,
     sizeof(((unrelu_mixture *)NULL)->hidden.method), 0, 0},
};

static ur_fields table_of(const unrelu_mixture *m, size_t sizes[2])
{
    sizes[0] = m->d;
    sizes[1] = m->p;
    return (ur_fields){fields, sizeof fields / sizeof *fields, "dp", sizes};
}

unrelu_status unrelu_mixture_save(const unrelu_mixture *m, const char *path, unrelu_error *err)
{
    ur_npz_writer *w = NULL;
    if (!m->A || !m->hidden.b || !m->hidden.sigma)
        return ur_fail(err, UNRELU_EUSAGE, "the mixture has no A or no hidden units to save");
    UR_TRY(ur_model_create(path, "mixture", &w, err));
    size_t sizes[2];
    const ur_fields table = table_of(m, sizes);
    ur_npz_add_string(w, "verdict", unrelu_verdict_name(m->verdict));
    ur_seed_save(w, m->seed);
    if (m->names)
        ur_npz_add_strings(w, "names", m->names, m->d);
    ur_fields_save(w, &table, m);
    unrelu_status status = ur_gaussian_put(w, &m->hidden, err);
    if (status == UNRELU_OK)
        status = ur_warnings_save(w, m->warnings, m->warning_count, err);
    return ur_model_commit(w, status, err);
}

/* ---- load ---- */

static unrelu_status load_sizes(ur_npz *npz, const char *path, unrelu_mixture *m, unrelu_error *err)
{
    size_t ndim = 0, shape[4] = {0};
    unrelu_status status = ur_npz_shape(npz, "A", &ndim, shape, err);
    if (status != UNRELU_OK)
        return status;
    if (ndim != 2)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: A has %zu dimensions, where a matrix of d x p is needed", path, ndim);
    if (shape[0] == 0 || shape[1] == 0)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: A is %zu x %zu, where at least one column and one unit are needed",
                       path, shape[0], shape[1]);
    m->d = shape[0];
    m->p = m->hidden.d = shape[1];
    return UNRELU_OK;
}

static unrelu_status load_hidden(ur_npz *npz, const char *path, unrelu_mixture *m,
                                 unrelu_error *err)
{
    size_t p = m->p;
    unrelu_status status = ur_gaussian_get(npz, path, &m->hidden, err);
    if (status == UNRELU_OK)
        status = ur_finite_check(path, "b", m->hidden.b, p, 1, err);
    if (status == UNRELU_OK)
        status = ur_finite_check(path, "scale", m->hidden.scale, p, 1, err);
    if (status == UNRELU_OK)
        status = ur_finite_check(path, "correlation", m->hidden.correlation, p, p, err);
    m->hidden.n = m->n;
    m->hidden.seed = m->seed;
    if (status == UNRELU_OK && !(m->hidden.names = ur_strings_number('u', p)))
        status = ur_fail_memory(err, p, "names");
    return status;
}

static unrelu_status check_noise(const char *path, unrelu_mixture *m, unrelu_error *err)
{
    if (!(m->noise >= 0 && m->noise < INFINITY))
        return ur_fail(err, UNRELU_EFORMAT, "%s: noise is %g, where a standard deviation is needed",
                       path, m->noise);
    if (m->noise == 0)
        m->relative_noise = 0;
    return UNRELU_OK;
}

static unrelu_status load(const char *path, unrelu_mixture *m, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_npz *npz = NULL;
    UR_TRY(ur_model_open(&arena, path, "mixture", &npz, err));
    UR_TRY(load_sizes(npz, path, m, err));
    size_t sizes[2];
    const ur_fields table = table_of(m, sizes);
    UR_TRY(ur_verdict_load(npz, path, "a mixture", &m->verdict, err));
    UR_TRY(ur_seed_load(npz, path, &m->seed, err));
    UR_TRY(ur_names_load(npz, path, "names", m->d, &m->names, err));
    UR_TRY(ur_fields_load(npz, path, &table, m, err));
    UR_TRY(check_noise(path, m, err));
    UR_TRY(load_hidden(npz, path, m, err));
    UR_TRY(ur_mixture_alloc(m, err));
    if (!ur_npz_has(npz, "warning_codes"))
        return UNRELU_OK;
    return ur_warnings_load(npz, path, &m->warnings, &m->warning_count, err);
}

unrelu_status unrelu_mixture_load(const char *path, unrelu_mixture *m, unrelu_error *err)
{
    memset(m, 0, sizeof *m);
    unrelu_status status = load(path, m, err);
    if (status != UNRELU_OK)
        unrelu_mixture_free(m);
    return status;
}
