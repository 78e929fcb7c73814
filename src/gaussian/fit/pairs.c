/* SPDX-License-Identifier: Apache-2.0 */
/* Correlations from the six pair statistics ("h6"), every pair on its own. */
#include "base/error.h"
#include "gaussian/problem/fit.h"
#include "pass/parallel.h"

#include <math.h>

/* Fewer joint positives than this leave only a bound on the correlation. */
static const double ENOUGH_JOINT = 10;
/* A standard error above this says little more than the sign. */
static const double WEAK_RHO_SE = 0.2;
/* The error of atanh(rho), by the model, from which on the likelihood is flat on its way to 1 or
 * -1. Of 11000 samples with 1 to 9 joint positives none came above 0.46, of 133 without any none
 * below 1.18. */
static const double MOST_Z_SE = 1;
/* A pair is called a copy where its cosine is 1 but for this: rounding of the sums of a pass. */
static const double COPY_DOUBLE = 1e-12, COPY_SINGLE = 1e-6;
/* Joint positives from which on a copy is told from chance: two always lie on a line. */
static const double FEWEST_OF_A_COPY = 3;

typedef struct {
    const ur_fit *fit;
    const ur_moments_view *v;
    const ur_margin *margins;       /* d: censored, of v */
    const ur_pair_margin *prepared; /* d */
    const ur_fit_pairs *out;
} pairs;

/* what v is taken from: max(b, 0), and b itself where nothing is censored */
static double anchor_of(const ur_margin *m)
{
    return m->verdict == UR_MARGIN_NO_ZEROS ? m->b : fmax(m->b, 0);
}

ur_pair_moments ur_fit_pair_moments(const ur_fit_cross *x, double n,
                                    const ur_fit_column *const c[2], const ur_margin m[2])
{
    double a1 = 1 / m[0].s, b1 = (c[0]->shift - anchor_of(&m[0])) / m[0].s;
    double a2 = 1 / m[1].s, b2 = (c[1]->shift - anchor_of(&m[1])) / m[1].s;
    return (ur_pair_moments){
        .n = n,
        .gg = x->gg / n,
        .v1g2 = (a1 * x->t1g2 + b1 * x->gg) / n,
        .v2g1 = (a2 * x->t2g1 + b2 * x->gg) / n,
        .v1v2 = (a1 * a2 * x->tt + a1 * b2 * x->t1g2 + b1 * a2 * x->t2g1 + b1 * b2 * x->gg) / n,
        .v1v1g2 = (a1 * a1 * x->t1t1g2 + 2 * a1 * b1 * x->t1g2 + b1 * b1 * x->gg) / n,
        .v2v2g1 = (a2 * a2 * x->t2t2g1 + 2 * a2 * b2 * x->t2g1 + b2 * b2 * x->gg) / n,
    };
}

ur_fit_cross ur_fit_cross_of(const ur_fit *fit, const ur_moments_view *v,
                             const ur_fit_column *const c[2])
{
    size_t d = fit->summary->plan.d, a = c[0]->index, b = c[1]->index;
    return (ur_fit_cross){v->gg[a * d + b], v->tt[a * d + b],  v->gt[b * d + a],
                          v->gt[a * d + b], v->gtt[b * d + a], v->gtt[a * d + b]};
}

/* squares and product about the means of two columns without zeros */
typedef struct {
    double x1, x2, xx;
} centred;

static centred centre(const ur_fit_cross *x, const ur_margin_sums s[2])
{
    return (centred){s[0].square - s[0].sum * s[0].sum / x->gg,
                     s[1].square - s[1].sum * s[1].sum / x->gg,
                     x->tt - s[0].sum * s[1].sum / x->gg};
}

/* Is one column a positive multiple of the other (or, without zeros, an affine map of it)?
 * Equality in Cauchy-Schwarz on the rows where both are observed. Returns the sign, or 0. */
static int multiple(const ur_fit_cross *x, const ur_margin_sums sums[2], int zeros,
                    double tolerance)
{
    double n1 = sums[0].positive, n2 = sums[1].positive, c1 = sums[0].shift, c2 = sums[1].shift;
    if (x->gg != n1 || x->gg != n2)
        return 0;
    centred at = {sums[0].square + 2 * c1 * sums[0].sum + c1 * c1 * n1,
                  sums[1].square + 2 * c2 * sums[1].sum + c2 * c2 * n2,
                  x->tt + c1 * x->t2g1 + c2 * x->t1g2 + c1 * c2 * x->gg};
    if (!zeros)
        at = centre(x, sums);
    if (at.xx * at.xx < (1 - tolerance) * at.x1 * at.x2)
        return 0;
    return at.xx > 0 ? 1 : -1;
}

/* of a likelihood that counts hidden cells: whether it has a maximum between -1 and 1 */
static int is_inside(const ur_pair *pair)
{
    double apart = (1 - pair->rho) * (1 + pair->rho);
    return fabs(pair->rho) < UR_PAIR_LIMIT && pair->model_rho_se < MOST_Z_SE * apart;
}

void ur_fit_store(const ur_fit_pairs *out, size_t d, size_t i, size_t j, double n, double joint,
                  ur_pair pair)
{
    uint8_t flag = 0;
    if (fabs(pair.rho) == 1 && joint >= FEWEST_OF_A_COPY) {
        flag = UNRELU_FLAG_DUPLICATE;
    } else if (joint < ENOUGH_JOINT) {
        flag = UNRELU_FLAG_FEW_JOINT;
        if (!(out->by_all_rows && is_inside(&pair)))
            pair.rho_se = pair.product_se = NAN;
    } else if (fabs(pair.rho) >= UR_PAIR_LIMIT) { /* the truth may lie anywhere beyond */
        flag = UNRELU_FLAG_DUPLICATE;
        pair.rho_se = pair.product_se = NAN;
    } else if (pair.rho_se > WEAK_RHO_SE) {
        flag = UNRELU_FLAG_FEW_JOINT;
    }
    for (int swap = 0; swap < 2; swap++) {
        size_t at = swap ? j * d + i : i * d + j;
        out->rho[at] = pair.rho;
        if (out->rho_se)
            out->rho_se[at] = pair.rho_se;
        if (out->product_se)
            out->product_se[at] = pair.product_se;
        if (out->n_pair)
            out->n_pair[at] = n;
        if (out->flags)
            out->flags[at] = flag;
    }
}

static void solve(const pairs *p, size_t i, size_t j)
{
    const ur_fit *fit = p->fit;
    const ur_moments_view *v = p->v;
    const ur_fit_column *const c[2] = {&fit->columns[i], &fit->columns[j]};
    size_t a = c[0]->index, b = c[1]->index; /* a < b, since i < j */
    ur_margin margins[2] = {p->margins[i], p->margins[j]};
    ur_margin_sums sums[2];
    double margins_n[2] = {v->observed[a], v->observed[b]};
    int partial = margins_n[0] < *v->rows || margins_n[1] < *v->rows;
    int usable = 1, constant = 0, zeros = 0, single = fit->summary->plan.single;
    for (int k = 0; k < 2; k++) {
        sums[k] = ur_fit_margin_sums(fit, v, c[k], partial ? c[1 - k] : NULL);
        if (partial)
            ur_margin_censored(&sums[k], &margins[k]);
        ur_margin_verdict verdict = margins[k].verdict;
        usable &= verdict == UR_MARGIN_FITTED || verdict == UR_MARGIN_NO_ZEROS;
        constant |= verdict == UR_MARGIN_CONSTANT;
        zeros |= verdict != UR_MARGIN_NO_ZEROS;
    }
    double n = sums[0].n;
    ur_fit_cross x = ur_fit_cross_of(fit, v, c);
    ur_pair pair = {.rho = 0, .rho_se = NAN, .product_se = NAN};
    if (!usable || !(n > 0)) { /* a constant column, or one without positives on the common rows */
        ur_fit_store(p->out, fit->d, i, j, n, constant ? ENOUGH_JOINT : 0, pair);
        return;
    }
    int sign = x.gg >= FEWEST_OF_A_COPY
                   ? multiple(&x, sums, zeros, single ? COPY_SINGLE : COPY_DOUBLE)
                   : 0;
    if (sign) { /* single precision cannot tell a copy from a correlation of 1 - 1e-7 */
        pair.rho = sign;
        if (!single) {
            pair.rho_se = 0;
            pair.product_se = 2 * p->margins[i].s_se / p->margins[i].s;
        }
    } else if (!partial && !zeros) { /* Pearson's, also closer to +-1 than the solver goes */
        centred at = centre(&x, sums);
        double rho = pair.rho = fmax(-1, fmin(1, at.xx / sqrt(at.x1) / sqrt(at.x2)));
        pair.rho_se = (1 - rho * rho) / sqrt(x.gg);
        pair.product_se = sqrt((1 + rho * rho) / x.gg);
    } else {
        ur_pair_moments m = ur_fit_pair_moments(&x, n, c, margins);
        ur_pair_margin prepared[2] = {p->prepared[i], p->prepared[j]};
        for (int k = 0; k < 2 && partial; k++)
            ur_pair_margin_set(margins[k].gamma, &prepared[k]);
        ur_pair_six_statistics(&prepared[0], &prepared[1], &m, margins_n, &pair);
        if (x.gg < ENOUGH_JOINT || !pair.converged) {
            pair.rho = pair.start;
            x.gg = 0; /* as good as none */
        }
    }
    ur_fit_store(p->out, fit->d, i, j, n, x.gg, pair);
}

static void solve_row(void *context, size_t i)
{
    const pairs *p = context;
    size_t d = p->fit->d;
    p->out->rho[i * d + i] = 1;
    if (p->out->n_pair)
        p->out->n_pair[i * d + i] = p->v->observed[p->fit->columns[i].index];
    for (size_t j = i + 1; j < d && ur_fit_is_own_row(p->fit, i); j++)
        solve(p, i, j);
}

unrelu_status ur_fit_h6(const ur_fit *fit, const ur_moments_view *v, const ur_fit_pairs *out,
                        unrelu_error *err)
{
    UR_ARENA(arena);
    ur_margin *margins = ur_take(&arena, fit->d, sizeof *margins);
    ur_pair_margin *prepared = ur_take(&arena, fit->d, sizeof *prepared);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < fit->d; i++) {
        ur_margin_sums sums = ur_fit_margin_sums(fit, v, &fit->columns[i], NULL);
        ur_margin_censored(&sums, &margins[i]);
        ur_pair_margin_set(margins[i].gamma, &prepared[i]);
    }
    pairs p = {fit, v, margins, prepared, out};
    UR_TRY(ur_parallel_for(fit->exec, "solving pairs", fit->d, solve_row, &p, err));
    return ur_fit_gather_pairs(fit, out, err);
}
