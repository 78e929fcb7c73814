/* SPDX-License-Identifier: Apache-2.0 */
/* From normals to the model: A, the hidden units M of all samples, and the rectified Gaussian that
 * they follow.
 *
 * With H = Y U', X = H U'^-1 C: row i of U'^-1 C is column i of A times a length l_i > 0, and
 * m_i = l_i h_i. Where a unit is off its m comes out as rounding, or as noise of deviation
 * t_i = l_i s_i. Without noise such cells are set to exactly 0. With noise, values above 4 t_i are
 * those of W z + b plus noise, all others count as censored there (at 3 t_i one off in 740 would
 * pass for on), and the covariance of the noise is taken out of W W' at the end. */
#include "base/arena.h"
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "gaussian/model/gaussian_model.h"
#include "mixture/problem/tolerance.h"
#include "mixture/problem/unmix.h"
#include "pass/parallel.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* of the largest column of the normals: p of them were found independent by UR_FACET_SAME, so that
 * below this only a mistake of ours can be */
static const double NORMALS_RANK = 4 * DBL_EPSILON;

enum { BLOCK = 2048 };

unrelu_status ur_units_derive(const ur_cone *c, ur_units *units, unrelu_error *err)
{
    size_t p = c->p, rank;
    UR_ARENA(arena);
    double *one = ur_take(&arena, p, p * sizeof *one);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < p; i++)
        one[i * p + i] = 1;
    UR_TRY(ur_least_squares(p, p, p, units->U, one, NORMALS_RANK, units->inverse, &rank, err));
    if (rank < p)
        return ur_fail(err, UNRELU_EINTERNAL, "the normals of %zu units have rank %zu", p, rank);
    ur_multiply_tn(p, p, c->d, units->inverse, c->C, units->G);
    for (size_t i = 0; i < p; i++) {
        units->length[i] = ur_norm(c->d, units->G + i * c->d);
        units->deviation[i] = ur_cone_noise(c, units->U + i * p);
    }
    return UNRELU_OK;
}

unrelu_status ur_units_make(const ur_cone *c, const double *U, ur_arena *arena, ur_units *units,
                            unrelu_error *err)
{
    size_t p = c->p, cells = p * sizeof(double);
    *units = (ur_units){.U = ur_take(arena, p, cells),
                        .inverse = ur_take(arena, p, cells),
                        .G = ur_take(arena, p, c->d * sizeof(double)),
                        .length = ur_take(arena, p, sizeof(double)),
                        .deviation = ur_take(arena, p, sizeof(double))};
    UR_TRY(ur_arena_status(arena, err));
    memcpy(units->U, U, p * cells);
    UR_TRY(ur_units_derive(c, units, err));
    /* by decreasing root mean square of m: with y'y = n I, that of h is |u| = 1 */
    for (size_t i = 0; i < p; i++) {
        const double *length = units->length;
        size_t before = 0;
        for (size_t k = 0; k < p; k++)
            before += length[k] > length[i] || (k < i && length[k] == length[i]);
        memcpy(units->U + before * p, U + i * p, cells);
    }
    return ur_units_derive(c, units, err);
}

/* ---- the units of all samples ---- */

typedef struct {
    const ur_cone *cone;
    const ur_units *units;
    double *M;            /* (n, p) */
    ur_certificate *part; /* for each block */
} filling;

static unrelu_status fill_block(void *context, size_t b, unrelu_error *err)
{
    const filling *f = context;
    const ur_cone *c = f->cone;
    const ur_units *units = f->units;
    ur_certificate *part = &f->part[b];
    size_t p = c->p, d = c->d, first = b * BLOCK;
    size_t rows = c->n - first < BLOCK ? c->n - first : BLOCK;
    UR_ARENA(arena);
    double *fit = ur_take(&arena, d, sizeof *fit);
    UR_TRY(ur_arena_status(&arena, err));
    ur_multiply_nt(rows, p, p, c->y + first * p, units->U, f->M + first * p);
    for (size_t i = first; i < first + rows; i++) {
        const double *x = c->x + i * d;
        double *m = f->M + i * p, size = ur_norm(p, c->y + i * p), left = 0;
        memset(fit, 0, d * sizeof *fit);
        for (size_t k = 0; k < p; k++) {
            double h = m[k], unit = c->noise ? units->deviation[k] : size;
            if (unit > 0)
                part->negative = fmax(part->negative, -h / unit);
            int on = ur_side_of(c, h, size, units->deviation[k]) == UR_ABOVE_FACET;
            m[k] = on ? h * units->length[k] : 0;
            ur_add(d, m[k] / units->length[k], units->G + k * d, fit);
        }
        for (size_t j = 0; j < d; j++) {
            double away = (x[j] - fit[j]) / c->unit[j];
            left += away * away;
            part->total += x[j] / c->unit[j] * (x[j] / c->unit[j]);
        }
        part->left += left;
        for (size_t k = 0; k < p; k++)
            if (c->noise && m[k] <= UR_NOISE_ON * units->deviation[k] * units->length[k])
                m[k] = 0;
    }
    return UNRELU_OK;
}

unrelu_status ur_units_fill(const ur_cone *c, const ur_units *units, const unrelu_exec *exec,
                            double *M, ur_certificate *all, unrelu_error *err)
{
    size_t blocks = (c->n + BLOCK - 1) / BLOCK;
    UR_ARENA(arena);
    filling f = {c, units, M, ur_take(&arena, blocks, sizeof *f.part)};
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_each(exec, "hidden units", blocks, fill_block, &f, err));
    *all = (ur_certificate){0};
    for (size_t b = 0; b < blocks; b++) {
        all->left += f.part[b].left;
        all->total += f.part[b].total;
        all->negative = fmax(all->negative, f.part[b].negative);
    }
    return UNRELU_OK;
}

unrelu_status ur_certificate_check(const ur_cone *c, const ur_certificate *all, unrelu_error *err)
{
    double left = c->unit[0] * sqrt(all->left / ((double)c->n * (double)c->d));
    if (left <= UR_NOISE_LEFT * c->sigma)
        return UNRELU_OK;
    return ur_fail(err, UNRELU_EDATA,
                   "p = %zu units leave %.3g of the samples (root mean square), %.2g times the "
                   "noise that the singular values tell of: these are no mixtures of %zu units; "
                   "another `p`, or more samples",
                   c->p, left, left / c->sigma, c->p);
}

/* ---- their law ---- */

/* W W' = covariance of what was seen - that of the noise */
static unrelu_status take_noise_out(const ur_cone *c, const ur_units *units, unrelu_gaussian *m,
                                    unrelu_error *err)
{
    size_t p = c->p;
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) {
            double noise = 0;
            for (size_t k = 0; k < p; k++)
                noise += units->U[i * p + k] * c->noise[k * p + k] * units->U[j * p + k];
            m->sigma[i * p + j] -= units->length[i] * noise * units->length[j];
        }
    for (size_t i = 0; i < p; i++) {
        double left = m->sigma[i * p + i], scale = m->scale[i];
        if (!(left > 0))
            return ur_fail(err, UNRELU_EDATA,
                           "unit %zu: noise of deviation %g exceeds its own, %g: nothing is left "
                           "to learn",
                           i + 1, units->length[i] * units->deviation[i], scale);
        m->scale[i] = sqrt(left);
        m->scale_se[i] *= scale / m->scale[i];
        m->b_scale_cov[i] *= scale / m->scale[i];
        for (size_t j = 0; j < p; j++) {
            m->correlation_se[i * p + j] *= scale / m->scale[i];
            m->correlation_se[j * p + i] *= scale / m->scale[i];
        }
    }
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) {
            double rho = m->sigma[i * p + j] / (m->scale[i] * m->scale[j]);
            m->correlation[i * p + j] = i == j ? 1 : fmax(-1, fmin(1, rho));
        }
    return ur_gaussian_repair(m, 1, &(ur_repair){0}, err);
}

static void close_source(void *source)
{
    unrelu_source_close(source);
}

unrelu_status ur_units_fit(const ur_cone *c, const ur_units *units, const double *M, uint64_t seed,
                           const unrelu_exec *exec, unrelu_gaussian **hidden, unrelu_error *err)
{
    size_t p = c->p;
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    unrelu_source *source;
    UR_ARENA(arena);
    double *limit = ur_take(&arena, p, sizeof *limit);
    const char **names = ur_take_numbered(&arena, 'u', p);
    UR_TRY(ur_arena_status(&arena, err));
    o.seed = seed;
    if (c->noise) {
        for (size_t i = 0; i < p; i++)
            limit[i] = UR_NOISE_ON * units->deviation[i] * units->length[i];
        o.censor_at = limit;
        o.censor_count = p;
    }
    UR_TRY(unrelu_source_memory(M, c->n, p, NULL, &source, err));
    source = ur_arena_adopt(&arena, source, close_source);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(unrelu_source_rename(source, names, err));
    UR_TRY(unrelu_gaussian_fit(source, &o, exec, hidden, err));
    (*hidden)->limit = NULL; /* samples of the model are censored at 0 */
    unrelu_status status = c->noise ? take_noise_out(c, units, *hidden, err) : UNRELU_OK;
    return ur_model_hand(*hidden, status, hidden, err);
}
