/* SPDX-License-Identifier: Apache-2.0 */
/* A rectified Gaussian as a .npz file, or as a part of another model's; docs/formats.md lists the
 * arrays. */
#include "base/error.h"
#include "base/limits.h"
#include "gaussian/model/gaussian_model.h"
#include "gaussian/summary/undone.h"
#include "law/power.h"
#include "model/warnings.h"

#include <math.h>
#include <string.h>

#define FIELD(member, kind, letters, needed)                                                       \
    UR_FIELD(unrelu_gaussian, member, kind, letters, 0, needed)
#define IN(member, letters, range) UR_ARRAY_IN(unrelu_gaussian, member, letters, range)
#define NEEDED(member, letters, range)                                                             \
    UR_RANGED(unrelu_gaussian, member, UR_ARRAY, letters, 0, 1, range, 0)
#define UP_TO_N(member, letters, range)                                                            \
    UR_RANGED(unrelu_gaussian, member, UR_ARRAY, letters, 0, 0, range, offsetof(unrelu_gaussian, n))
#define WORD(member) FIELD(member, UR_WORD, NULL, 1)

/* b, scale, sigma and correlation are NaN in columns with the flag no-truncated-mle alone: see
 * check_unknown */
static const ur_field arrays[] = {
    NEEDED(b, "d", ur_is_known),
    NEEDED(sigma, "dd", ur_are_covariances),
    IN(scale, "d", ur_is_size_or_unknown),
    IN(correlation, "dd", ur_are_correlations),
    IN(b_se, "d", ur_is_error),
    IN(scale_se, "d", ur_is_error),
    IN(b_scale_cov, "d", ur_is_known),
    IN(sigma_se, "dd", ur_are_errors),
    IN(correlation_se, "dd", ur_are_errors),
    UP_TO_N(n_pair, "dd", ur_are_counts),
    UP_TO_N(observed, "d", ur_is_count),
    UP_TO_N(positive, "d", ur_is_count),
    UR_ARRAY_FIELD(unrelu_gaussian, eigenvalues, "d"),
    IN(eigenvalues_se, "d", ur_is_error),
};
static const ur_field factor[] = {NEEDED(W, "dk", ur_is_known),
                                  UR_WORD_FIELD(unrelu_gaussian, how_k)};
/* of a learned model */
static const ur_field learned[] = {
    WORD(norms),
    WORD(angles),
    FIELD(rows_dropped, UR_COUNT, NULL, 1),
    FIELD(repaired, UR_SWITCH, NULL, 1),
    UR_RANGED(unrelu_gaussian, lambda_min, UR_NUMBER, NULL, 0, 1, ur_is_known, 0),
    FIELD(pair_flags, UR_BYTES, "dd", 1),
    FIELD(flags, UR_BITS, "d", 0),
};
/* of a rectified-gaussian file alone */
static const ur_field alone[] = {IN(noise, "d", ur_is_size),
                                 IN(limit, "d", ur_is_limit),
                                 IN(lambda, "d", ur_is_finite),
                                 UR_TEXTS_FIELD(unrelu_gaussian, fit, "d"),
                                 IN(ks, "d", ur_is_size_or_unknown),
                                 IN(ks_p, "d", ur_is_size_or_unknown),
                                 UR_WORD_FIELD(unrelu_gaussian, indicator),
                                 UR_WORD_FIELD(unrelu_gaussian, na),
                                 IN(top, "d", ur_is_top)};
static const ur_field likelihoods[] = {
    IN(loglik, "d", ur_is_bounded),
    IN(aic, "d", ur_is_bounded),
    IN(bic, "d", ur_is_bounded),
    UR_NUMBER_IN(unrelu_gaussian, joint_loglik, NAN, ur_is_known),
    IN(joint_loglik_ci, "2", ur_is_finite),
};
/* in the data's unit; 2: ends of an interval, or quantiles */
static const ur_field answers[] = {
    UR_NUMBER_IN(unrelu_gaussian, level, 0, ur_is_share),
    IN(mean, "d", ur_is_bounded),
    IN(mean_ci, "d2", ur_is_bounded),
    IN(sd, "d", ur_is_error),
    IN(sd_ci, "d2", ur_is_error),
    IN(median, "d", ur_is_bounded),
    IN(median_ci, "d2", ur_is_bounded),
    IN(quantiles, "d2", ur_is_bounded),
    IN(quantiles_ci, "d22", ur_is_bounded),
    IN(ucl95, "d", ur_is_bounded),
    IN(rectified_mean, "d", ur_is_bounded),
    IN(rectified_mean_ci, "d2", ur_is_bounded),
};
static const ur_field alone_learned[] = {WORD(method), FIELD(n, UR_COUNT, NULL, 1),
                                         UR_WORD_FIELD(unrelu_gaussian, errors)};
/* written in ways of their own, below */
static const ur_field others[] = {
    FIELD(names, UR_TEXTS, "d", 0),
    FIELD(seed, UR_SEED, NULL, 0),
    FIELD(activation, UR_WORD, NULL, 0),
    {.name = "transform",
     .kind = UR_CHOICE,
     .offset = offsetof(unrelu_gaussian, transform),
     .words = ur_transform_words},
};

static void set_sizes(const void *model, size_t *sizes)
{
    const unrelu_gaussian *m = model;
    sizes[0] = m->d;
    sizes[1] = m->k;
    sizes[2] = 2;
}

const ur_kind ur_gaussian_part = {
    .letters = "dk2",
    .set_sizes = set_sizes,
    .tables = {UR_KIND_TABLE(arrays), UR_KIND_TABLE(factor), UR_KIND_TABLE(learned)},
};
const ur_kind ur_gaussian_kind = {
    UR_KIND_OF(unrelu_gaussian, "rectified-gaussian"),
    .letters = "dk2",
    .set_sizes = set_sizes,
    .tables = {UR_KIND_TABLE(alone), UR_KIND_TABLE(alone_learned), UR_KIND_TABLE(others),
               UR_KIND_TABLE(arrays), UR_KIND_TABLE(factor), UR_KIND_TABLE(learned),
               UR_KIND_TABLE(answers), UR_KIND_TABLE(likelihoods)},
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

static void put(ur_npz_writer *w, const unrelu_gaussian *m, const ur_field *fields, size_t count)
{
    ur_fields_save(w, &(ur_fields){fields, count, "dk2", (size_t[]){m->d, m->k, 2}}, m);
}

static unrelu_status get(ur_npz *npz, const char *path, unrelu_gaussian *m, const ur_field *fields,
                         size_t count, unrelu_error *err)
{
    const ur_fields table = {fields, count, "dk2", (size_t[]){m->d, m->k, 2}};
    return ur_fields_load(npz, path, &table, ur_model_arena(m), m, err);
}

/* "no-zeros,few-joint" */
static unrelu_status put_flags(ur_npz_writer *w, const unrelu_gaussian *m, unrelu_error *err)
{
    UR_ARENA(arena);
    const char **texts = ur_take(&arena, m->d, sizeof *texts);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < m->d; j++) {
        texts[j] = "";
        for (int bit = 0; *unrelu_flag_name(bit); bit++)
            if (m->flags[j] >> bit & 1)
                texts[j] = ur_take_text(&arena, "%s%s%s", texts[j], *texts[j] ? "," : "",
                                        unrelu_flag_name(bit));
    }
    UR_TRY(ur_arena_status(&arena, err));
    ur_npz_add_strings(w, "flags", texts, m->d);
    return UNRELU_OK;
}

/* only a learned model has them */
static int is_learned(const unrelu_gaussian *m)
{
    return m->flags && m->pair_flags;
}

unrelu_status ur_gaussian_put(ur_npz_writer *w, const unrelu_gaussian *m, unrelu_error *err)
{
    put(w, m, arrays, COUNT(arrays));
    if (m->W)
        put(w, m, factor, COUNT(factor));
    if (!is_learned(m))
        return UNRELU_OK;
    put(w, m, learned, COUNT(learned));
    return put_flags(w, m, err);
}

static unrelu_status save(const unrelu_gaussian *m, const ur_npz_target *to, unrelu_error *err)
{
    ur_npz_writer *w = NULL;
    UR_TRY(ur_model_create(to, "rectified-gaussian", &w, err));
    ur_npz_add_strings(w, "names", m->names, m->d);
    ur_seed_save(w, m->seed);
    if (*m->activation)
        ur_npz_add_string(w, "activation", m->activation);
    else if (m->transform != UNRELU_TRANSFORM_NONE)
        ur_npz_add_string(w, "transform", unrelu_transform_name(m->transform));
    put(w, m, alone, COUNT(alone));
    unrelu_status status = ur_gaussian_put(w, m, err);
    if (status == UNRELU_OK && is_learned(m)) {
        put(w, m, alone_learned, COUNT(alone_learned));
        if (m->mean)
            put(w, m, answers, COUNT(answers));
        if (m->loglik)
            put(w, m, likelihoods, COUNT(likelihoods));
        status = ur_warnings_save(w, m->warnings, m->warning_count, err);
    }
    return ur_model_commit(w, status, err);
}

/* ---- load ---- */

enum { FLAG_SHOWN = 40 };

/* 0: it is none */
static uint32_t flag_of(const char *text, size_t length)
{
    for (int bit = 0; *unrelu_flag_name(bit); bit++)
        if (strlen(unrelu_flag_name(bit)) == length &&
            strncmp(text, unrelu_flag_name(bit), length) == 0)
            return UINT32_C(1) << bit;
    return 0;
}

static unrelu_status get_flags(ur_npz *npz, const char *path, unrelu_gaussian *m, unrelu_error *err)
{
    UR_ARENA(arena);
    const char *const *texts = NULL;
    UR_TRY(ur_names_load(npz, path, "flags", m->d, &arena, &texts, err));
    m->flags = ur_take(ur_model_arena(m), m->d, sizeof *m->flags);
    UR_TRY(ur_arena_status(ur_model_arena(m), err));
    for (size_t j = 0; j < m->d; j++)
        for (const char *text = texts[j]; *text;) {
            size_t length = strcspn(text, ",");
            uint32_t flag = flag_of(text, length);
            if (!flag)
                return ur_fail(err, UNRELU_EFORMAT,
                               "%s: flags has '%.*s' for column %zu, which is no flag", path,
                               (int)(length < FLAG_SHOWN ? length : FLAG_SHOWN), text, j + 1);
            m->flags[j] |= flag;
            text += length + (text[length] == ',');
        }
    return UNRELU_OK;
}

/* What could not be had is NaN, and the flag says so; nothing else may be. */
static unrelu_status check_unknown(const char *path, const unrelu_gaussian *m, unrelu_error *err)
{
    size_t d = m->d;
    for (size_t i = 0; i < d * d; i++) {
        uint32_t flags = m->flags ? m->flags[i / d] | m->flags[i % d] : 0;
        size_t row = i / d, column = i % d;
        const char *name = isnan(m->sigma[i])         ? "sigma"
                           : isnan(m->correlation[i]) ? "correlation"
                           : isnan(m->b[row])         ? "b"
                           : isnan(m->scale[row])     ? "scale"
                                                      : NULL;
        if (name && !(flags & UNRELU_FLAG_NO_TRUNCATED))
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: %s has nan at row %zu, column %zu, where a number is needed unless "
                           "the column has the flag %s",
                           path, name, row + 1, *name == 'b' || name[1] == 'c' ? 1 : column + 1,
                           unrelu_flag_name(__builtin_ctz(UNRELU_FLAG_NO_TRUNCATED)));
    }
    return UNRELU_OK;
}

/* counts that hold for one column */
static unrelu_status check_counts(const char *path, const unrelu_gaussian *m, unrelu_error *err)
{
    static const int known = UNRELU_FLAG_DUPLICATE | UNRELU_FLAG_FEW_JOINT;
    for (size_t j = 0; m->positive && m->observed && j < m->d; j++)
        if (m->positive[j] > m->observed[j])
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: positive has %g at row %zu, column 1, where %g cells are observed",
                           path, m->positive[j], j + 1, m->observed[j]);
    for (size_t i = 0; m->pair_flags && i < m->d * m->d; i++)
        if (m->pair_flags[i] & ~known)
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: pair_flags has %d at row %zu, column %zu, where %d and %d are the "
                           "only flags",
                           path, m->pair_flags[i], i / m->d + 1, i % m->d + 1,
                           UNRELU_FLAG_DUPLICATE, UNRELU_FLAG_FEW_JOINT);
    return UNRELU_OK;
}

/* of a file that has none: from sigma and scale, which must then go together */
static unrelu_status set_correlations(const char *path, unrelu_gaussian *m, unrelu_error *err)
{
    for (size_t i = 0; i < m->d * m->d; i++) {
        size_t row = i / m->d, column = i % m->d; /* sigma may be off symmetry by rounding */
        double si = m->scale[row], sj = m->scale[column];
        double covariance = m->sigma[row < column ? i : column * m->d + row];
        double r = row == column ? 1 : si == 0 || sj == 0 ? 0 : covariance / si / sj;
        if (fabs(r) > ur_are_correlations.most)
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: sigma has %g at row %zu, column %zu, where deviations of %g and %g "
                           "allow %g at most",
                           path, covariance, row + 1, column + 1, si, sj, si * sj);
        m->correlation[i] = r > 1 ? 1 : r < -1 ? -1 : r; /* NaN stays, and is looked at later */
    }
    return UNRELU_OK;
}

unrelu_status ur_gaussian_get(ur_npz *npz, const char *path, unrelu_gaussian *m, unrelu_error *err)
{
    size_t d = m->d, ndim = 0, shape[4] = {0};
    UR_TRY(get(npz, path, m, arrays, COUNT(arrays), err));
    int no_scale = !m->scale, no_correlation = !m->correlation;
    if (no_scale)
        m->scale = ur_take(ur_model_arena(m), d, sizeof *m->scale);
    if (no_correlation)
        m->correlation = ur_take(ur_model_arena(m), d, d * sizeof *m->correlation);
    UR_TRY(ur_arena_status(ur_model_arena(m), err));
    for (size_t i = 0; i < d && no_scale; i++) {
        double variance = m->sigma[i * d + i];
        if (!(variance >= 0 && variance < INFINITY))
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: sigma has %g at row %zu, column %zu, where a variance is needed",
                           path, variance, i + 1, i + 1);
        m->scale[i] = sqrt(variance);
    }
    if (no_correlation)
        UR_TRY(set_correlations(path, m, err));
    if (ur_npz_has(npz, "W")) {
        UR_TRY(ur_npz_shape(npz, "W", &ndim, shape, err));
        m->k = shape[1];
        UR_TRY(get(npz, path, m, factor, COUNT(factor), err));
    }
    if (ur_npz_has(npz, "flags")) {
        UR_TRY(get(npz, path, m, learned, COUNT(learned), err));
        UR_TRY(get_flags(npz, path, m, err));
    }
    UR_TRY(check_counts(path, m, err));
    return check_unknown(path, m, err);
}

/* words of how well a column fits, or "" */
static unrelu_status check_fit(const char *path, const unrelu_gaussian *m, unrelu_error *err)
{
    for (size_t j = 0; m->fit && j < m->d; j++) {
        unrelu_fit_word word = UNRELU_FIT_UNKNOWN;
        while (word < UNRELU_FIT_POOR && strcmp(m->fit[j], unrelu_fit_word_name(word)) != 0)
            word++;
        if (strcmp(m->fit[j], unrelu_fit_word_name(word)) != 0)
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: fit has '%.20s' for column %zu, which is none of good, slight and "
                           "poor",
                           path, m->fit[j], j + 1);
    }
    return UNRELU_OK;
}

static unrelu_status get_transform(ur_npz *npz, const char *path, unrelu_gaussian *m,
                                   unrelu_error *err)
{
    const char *text;
    if (!ur_npz_has(npz, "transform"))
        return UNRELU_OK;
    UR_TRY(ur_npz_string(npz, "transform", ur_model_arena(m), &text, err));
    for (m->transform = UNRELU_TRANSFORM_NONE;
         strcmp(unrelu_transform_name(m->transform), text) != 0; m->transform++)
        if (m->transform == UNRELU_TRANSFORM_BOXCOX)
            return ur_fail(err, UNRELU_EFORMAT, "%s: there is no transform '%.20s'", path, text);
    if (m->transform == UNRELU_TRANSFORM_BOXCOX && !m->lambda)
        return ur_fail(err, UNRELU_EFORMAT, "%s: a Box-Cox transform needs the array lambda", path);
    if (m->transform == UNRELU_TRANSFORM_BOXCOX)
        return ur_range_check(path, "lambda", &ur_is_boxcox, m->lambda, m->d, 1, 0, err);
    return UNRELU_OK;
}

static unrelu_status get_activation(ur_npz *npz, const char *path, unrelu_gaussian *m,
                                    unrelu_error *err)
{
    const char *text;
    unrelu_transform inverse;
    double slope;
    if (!ur_npz_has(npz, "activation"))
        return UNRELU_OK;
    UR_TRY(ur_npz_string(npz, "activation", ur_model_arena(m), &text, err));
    if (!ur_activation_read(text, &inverse, &slope))
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: the activation '%.40s' is neither sigmoid nor leaky:S with S above 0",
                       path, text);
    return ur_gaussian_set_activation(m, inverse, slope, err);
}

static unrelu_status load(const ur_npz_origin *from, unrelu_gaussian *m, unrelu_error *err)
{
    const char *path = from->path;
    static const char *const needed[] = {"scale", "correlation", "b"};
    UR_ARENA(arena);
    ur_npz *npz = NULL;
    size_t ndim = 0, shape[4] = {0};
    UR_TRY(ur_model_open(&arena, from, "rectified-gaussian", &npz, err));
    for (size_t i = 0; i < COUNT(needed); i++)
        UR_TRY(ur_npz_shape(npz, needed[i], &ndim, shape, err));
    if (ndim != 1 || shape[0] == 0)
        return ur_fail(err, UNRELU_EFORMAT, "%s: b must be a vector, not of %zu dimensions", path,
                       ndim);
    UR_TRY(ur_columns_check(path, shape[0], err));
    m->d = shape[0];
    if (ur_npz_has(npz, "flags")) /* n first, which bounds counts */
        UR_TRY(get(npz, path, m, alone_learned, COUNT(alone_learned), err));
    UR_TRY(get(npz, path, m, answers, COUNT(answers), err));
    UR_TRY(get(npz, path, m, likelihoods, COUNT(likelihoods), err));
    UR_TRY(ur_gaussian_get(npz, path, m, err));
    UR_TRY(get(npz, path, m, alone, COUNT(alone), err));
    UR_TRY(check_fit(path, m, err));
    UR_TRY(get_transform(npz, path, m, err));
    UR_TRY(get_activation(npz, path, m, err));
    UR_TRY(ur_names_load(npz, path, "names", m->d, ur_model_arena(m), &m->names, err));
    if (!m->names)
        m->names = ur_take_numbered(ur_model_arena(m), 'x', m->d);
    UR_TRY(ur_seed_load(npz, path, &m->seed, err));
    if (!ur_npz_has(npz, "flags"))
        return UNRELU_OK;
    return ur_warnings_load(npz, path, ur_model_arena(m), &m->warnings, &m->warning_count, err);
}

unrelu_status unrelu_gaussian_load(const char *path, unrelu_gaussian **model, unrelu_error *err)
{
    unrelu_gaussian *m = ur_gaussian_new(err);
    const ur_npz_origin from = {.path = path};
    return ur_model_hand(m, m ? load(&from, m, err) : UNRELU_ENOMEM, model, err);
}

unrelu_status unrelu_gaussian_save(const unrelu_gaussian *m, const char *path, unrelu_error *err)
{
    return save(m, &(ur_npz_target){.path = path}, err);
}

unrelu_status unrelu_gaussian_pack(const unrelu_gaussian *m, void **bytes, size_t *size,
                                   unrelu_error *err)
{
    return save(m, &(ur_npz_target){.bytes = bytes, .size = size}, err);
}

unrelu_status unrelu_gaussian_unpack(const void *bytes, size_t size, unrelu_gaussian **model,
                                     unrelu_error *err)
{
    unrelu_gaussian *m = ur_gaussian_new(err);
    const ur_npz_origin from = ur_npz_origin_of("model in memory", bytes, size);
    return ur_model_hand(m, m ? load(&from, m, err) : UNRELU_ENOMEM, model, err);
}
