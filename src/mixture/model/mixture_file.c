/* SPDX-License-Identifier: Apache-2.0 */
/* A mixture as a .npz file; docs/formats.md lists the arrays. Those of the hidden layer have the
 * names they have in a rectified-gaussian file. To be read it needs kind, A, b and sigma alone:
 * what else is missing is no noise, no errors, numbered names; scales and correlations follow from
 * sigma. */
#include "base/error.h"
#include "base/limits.h"
#include "gaussian/model/gaussian_model.h"
#include "mixture/model/mixture.h"
#include "model/rules.h"
#include "model/warnings.h"

#include <math.h>

#define NUMBER(member, without, range) UR_NUMBER_IN(unrelu_mixture, member, without, range)
#define UP_TO_N(member)                UR_COUNT_UP_TO(unrelu_mixture, member, n)
#define COUNT(member)                  UR_COUNT_FIELD(unrelu_mixture, member)
#define WORD(member)                   UR_WORD_FIELD(unrelu_mixture, member)

static const ur_field fields[] = {
    UR_FINITE_FIELD(unrelu_mixture, A, "dp"),
    UR_ARRAY_IN(unrelu_mixture, A_se, "dp", ur_is_error),
    NUMBER(noise, 0, ur_is_size),
    NUMBER(relative_noise, NAN, ur_is_error),
    NUMBER(residual, 0, ur_is_error),
    NUMBER(negative, 0, ur_is_known),
    COUNT(n),
    UP_TO_N(samples_checked),
    COUNT(facets),
    UP_TO_N(min_off),
    COUNT(tries),
    WORD(method),
    WORD(precision),
    WORD(how_p),
};
/* written in ways of their own, below */
static const ur_field others[] = {
    UR_TEXTS_FIELD(unrelu_mixture, names, "d"),
    {.name = "verdict",
     .kind = UR_CHOICE,
     .offset = offsetof(unrelu_mixture, verdict),
     .words = ur_verdict_words},
    UR_FIELD(unrelu_mixture, seed, UR_SEED, NULL, 0, 0),
};
/* of the hidden layer, under names that the mixture does not have itself */
static const ur_field hidden[] = {
    {.name = "hidden_noise",
     .kind = UR_ARRAY,
     .offset = offsetof(unrelu_gaussian, noise),
     .shape = "p",
     .range = &ur_is_size},
    {.name = "hidden_limit",
     .kind = UR_ARRAY,
     .offset = offsetof(unrelu_gaussian, limit),
     .shape = "p",
     .range = &ur_is_limit},
    {.name = "hidden_method", .kind = UR_WORD, .offset = offsetof(unrelu_gaussian, method)},
};

static void set_sizes(const void *model, size_t *sizes)
{
    const unrelu_mixture *m = model;
    sizes[0] = m->d;
    sizes[1] = m->p;
}

const ur_kind ur_mixture_kind = {
    UR_KIND_OF(unrelu_mixture, "mixture"),
    .letters = "dp",
    .set_sizes = set_sizes,
    .tables = {UR_KIND_TABLE(fields), UR_KIND_TABLE(others)},
    .part = &ur_gaussian_part,
    .part_offset = offsetof(unrelu_mixture, hidden),
};

#define FIELDS(table, sizes)                                                                       \
    &(ur_fields)                                                                                   \
    {                                                                                              \
        table, sizeof(table) / sizeof *(table), "dp", sizes                                        \
    }

static unrelu_status save(const unrelu_mixture *m, const ur_npz_target *to, unrelu_error *err)
{
    ur_npz_writer *w = NULL;
    const size_t sizes[] = {m->d, m->p};
    if (!m->A || !m->hidden)
        return ur_fail(err, UNRELU_EUSAGE, "the mixture has no A or no hidden units to save");
    UR_TRY(ur_model_create(to, "mixture", &w, err));
    ur_npz_add_string(w, "verdict", unrelu_verdict_name(m->verdict));
    ur_seed_save(w, m->seed);
    if (m->names)
        ur_npz_add_strings(w, "names", m->names, m->d);
    ur_fields_save(w, FIELDS(fields, sizes), m);
    ur_fields_save(w, FIELDS(hidden, sizes), m->hidden);
    unrelu_status status = ur_gaussian_put(w, m->hidden, err);
    if (status == UNRELU_OK)
        status = ur_warnings_save(w, m->warnings, m->warning_count, err);
    return ur_model_commit(w, status, err);
}

/* ---- load ---- */

static unrelu_status load(const ur_npz_origin *from, unrelu_mixture *m, unrelu_error *err)
{
    const char *path = from->path;
    UR_ARENA(arena);
    ur_npz *npz = NULL;
    ur_arena *own = ur_model_arena(m);
    size_t ndim = 0, shape[4] = {0};
    UR_TRY(ur_model_open(&arena, from, "mixture", &npz, err));
    UR_TRY(ur_npz_shape(npz, "A", &ndim, shape, err));
    if (ndim != 2)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: A has %zu dimensions, where a matrix of d x p is needed", path, ndim);
    if (shape[0] == 0 || shape[1] == 0)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: A is %zu x %zu, where at least one column and one unit are needed",
                       path, shape[0], shape[1]);
    UR_TRY(ur_columns_check(path, shape[0], err));
    UR_TRY(ur_columns_check(path, shape[1], err));
    m->d = shape[0];
    m->p = shape[1];
    UR_TRY(ur_verdict_load(npz, path, "a mixture", &m->verdict, err));
    UR_TRY(ur_seed_load(npz, path, &m->seed, err));
    UR_TRY(ur_names_load(npz, path, "names", m->d, own, &m->names, err));
    UR_TRY(ur_fields_load(npz, path, FIELDS(fields, shape), own, m, err));
    if (m->noise == 0)
        m->relative_noise = 0;
    unrelu_gaussian *h = ur_gaussian_new(err);
    if (!h)
        return UNRELU_ENOMEM;
    UR_TRY(ur_mixture_hold(m, h, err));
    h->d = m->p;
    h->n = m->n;
    h->seed = m->seed;
    UR_TRY(ur_fields_load(npz, path, FIELDS(hidden, shape), ur_model_arena(h), h, err));
    UR_TRY(ur_gaussian_get(npz, path, h, err));
    UR_TRY(ur_finite_check(path, "b", h->b, h->d, 1, err));
    UR_TRY(ur_finite_check(path, "scale", h->scale, h->d, 1, err));
    UR_TRY(ur_finite_check(path, "correlation", h->correlation, h->d, h->d, err));
    h->names = ur_take_numbered(ur_model_arena(h), 'u', h->d);
    UR_TRY(ur_arena_status(ur_model_arena(h), err));
    UR_TRY(ur_mixture_alloc(m, err));
    if (!ur_npz_has(npz, "warning_codes"))
        return UNRELU_OK;
    return ur_warnings_load(npz, path, own, &m->warnings, &m->warning_count, err);
}

unrelu_status unrelu_mixture_load(const char *path, unrelu_mixture **model, unrelu_error *err)
{
    unrelu_mixture *m = ur_mixture_new(err);
    const ur_npz_origin from = {.path = path};
    return ur_model_hand(m, m ? load(&from, m, err) : UNRELU_ENOMEM, model, err);
}

unrelu_status unrelu_mixture_save(const unrelu_mixture *m, const char *path, unrelu_error *err)
{
    return save(m, &(ur_npz_target){.path = path}, err);
}

unrelu_status unrelu_mixture_pack(const unrelu_mixture *m, void **bytes, size_t *size,
                                  unrelu_error *err)
{
    return save(m, &(ur_npz_target){.bytes = bytes, .size = size}, err);
}

unrelu_status unrelu_mixture_unpack(const void *bytes, size_t size, unrelu_mixture **model,
                                    unrelu_error *err)
{
    unrelu_mixture *m = ur_mixture_new(err);
    const ur_npz_origin from = ur_npz_origin_of("model in memory", bytes, size);
    return ur_model_hand(m, m ? load(&from, m, err) : UNRELU_ENOMEM, model, err);
}
