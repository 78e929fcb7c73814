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

/* v = alpha t + beta on the positives: v = (x - max(b, 0)) / s, as pair.h wants it */
typedef struct {
    double alpha, beta;
} standard;

static standard standardise(const ur_fit_column *c, const ur_margin *m)
{
    return (standard){1 / m->s, (c->shift - fmax(m->b, 0)) / m->s};
}

/* the cross sums of a pair in the caller's order; t1g2: sum of t_1 G_2 */
typedef struct {
    double gg, tt, t1g2, t2g1, t1t1g2, t2t2g1;
} cross;

static cross cross_sums(const pairs *p, size_t i, size_t j)
{
    const ur_moments_view *v = p->v;
    size_t d = p->fit->summary->plan.d, a = p->fit->columns[i].index,
           b = p->fit->columns[j].index; /* a < b, since i < j */
    return (cross){v->gg[a * d + b], v->tt[a * d + b],  v->gt[b * d + a],
                   v->gt[a * d + b], v->gtt[b * d + a], v->gtt[a * d + b]};
}

static ur_pair_moments moments_of(const cross *x, double n, standard s1, standard s2)
{
    double a1 = s1.alpha, b1 = s1.beta, a2 = s2.alpha, b2 = s2.beta;
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

/* Is one column a positive multiple of the other (or, without zeros, an affine map of it)?
 * Equality in Cauchy-Schwarz on the rows where both are observed. Returns the sign, or 0. */
static int multiple(const pairs *p, const cross *x, const ur_margin_sums sums[2],
                    const ur_margin margins[2])
{
    double tolerance = p->fit->summary->plan.single ? COPY_SINGLE : COPY_DOUBLE;
    double n1 = sums[0].positive, n2 = sums[1].positive, c1 = sums[0].shift, c2 = sums[1].shift;
    if (x->gg != n1 || x->gg != n2)
        return 0;
    double xx = x->tt + c1 * x->t2g1 + c2 * x->t1g2 + c1 * c2 * x->gg;
    double x1 = sums[0].square + 2 * c1 * sums[0].sum + c1 * c1 * n1;
    double x2 = sums[1].square + 2 * c2 * sums[1].sum + c2 * c2 * n2;
    if (margins[0].verdict == UR_MARGIN_NO_ZEROS && margins[1].verdict == UR_MARGIN_NO_ZEROS) {
        xx = x->tt - sums[0].sum * sums[1].sum / x->gg;
        x1 = sums[0].square - sums[0].sum * sums[0].sum / n1;
        x2 = sums[1].square - sums[1].sum * sums[1].sum / n2;
    }
    if (xx * xx < (1 - tolerance) * x1 * x2)
        return 0;
    return xx > 0 ? 1 : -1;
}

void ur_fit_store(const ur_fit_pairs *out, size_t d, size_t i, size_t j, double n, double joint,
                  ur_pair pair)
{
    uint8_t flag = 0;
    if (fabs(pair.rho) == 1) {
        flag = UNRELU_FLAG_DUPLICATE;
    } else if (joint < ENOUGH_JOINT) {
        flag = UNRELU_FLAG_FEW_JOINT;
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

/* both without zeros: Pearson's correlation, also closer to +-1 than the solver goes */
static ur_pair pearson(const cross *x, const ur_margin_sums sums[2])
{
    double n = x->gg, xx = x->tt - sums[0].sum * sums[1].sum / n;
    double x1 = sums[0].square - sums[0].sum * sums[0].sum / n;
    double x2 = sums[1].square - sums[1].sum * sums[1].sum / n;
    double rho = fmax(-1, fmin(1, xx / sqrt(x1) / sqrt(x2)));
    return (ur_pair){.rho = rho,
                     .rho_se = (1 - rho * rho) / sqrt(n),
                     .product_se = sqrt((1 + rho * rho) / n),
                     .converged = 1};
}

static void solve(const pairs *p, size_t i, size_t j)
{
    const ur_fit_column *c[2] = {&p->fit->columns[i], &p->fit->columns[j]};
    ur_margin margins[2] = {p->margins[i], p->margins[j]};
    ur_margin_sums sums[2];
    double margins_n[2] = {p->v->observed[c[0]->index], p->v->observed[c[1]->index]};
    int partial = margins_n[0] < *p->v->rows || margins_n[1] < *p->v->rows;
    for (int k = 0; k < 2; k++) {
        sums[k] = ur_fit_margin_sums(p->fit, p->v, c[k], partial ? c[1 - k] : NULL);
        if (partial)
            ur_margin_censored(&sums[k], &margins[k]);
    }
    double n = sums[0].n;
    cross x = cross_sums(p, i, j);
    ur_pair pair = {.rho = 0, .rho_se = NAN, .product_se = NAN};
    int usable = n > 0;
    for (int k = 0; k < 2; k++)
        usable &=
            margins[k].verdict == UR_MARGIN_FITTED || margins[k].verdict == UR_MARGIN_NO_ZEROS;
    if (!usable) { /* a constant column, or one without positives on the common rows */
        int constant =
            margins[0].verdict == UR_MARGIN_CONSTANT || margins[1].verdict == UR_MARGIN_CONSTANT;
        ur_fit_store(p->out, p->fit->d, i, j, n, constant ? ENOUGH_JOINT : 0, pair);
        return;
    }
    int sign = x.gg >= FEWEST_OF_A_COPY ? multiple(p, &x, sums, margins) : 0;
    if (sign) { /* single precision cannot tell a copy from a correlation of 1 - 1e-7 */
        pair.rho = sign;
        if (!p->fit->summary->plan.single) {
            pair.rho_se = 0;
            pair.product_se = 2 * p->margins[i].s_se / p->margins[i].s;
        }
    } else if (!partial && margins[0].verdict == UR_MARGIN_NO_ZEROS &&
               margins[1].verdict == UR_MARGIN_NO_ZEROS) {
        pair = pearson(&x, sums);
    } else {
        ur_pair_moments m =
            moments_of(&x, n, standardise(c[0], &margins[0]), standardise(c[1], &margins[1]));
        ur_pair_margin prepared[2] = {p->prepared[i], p->prepared[j]};
        for (int k = 0; k < 2 && partial; k++)
            ur_pair_margin_set(margins[k].gamma, &prepared[k]);
        ur_pair_six_statistics(&prepared[0], &prepared[1], &m, margins_n, &pair);
        if (x.gg < ENOUGH_JOINT || !pair.converged) {
            pair.rho = pair.start;
            x.gg = 0; /* as good as none */
        }
    }
    ur_fit_store(p->out, p->fit->d, i, j, n, x.gg, pair);
}

static void solve_row(void *context, size_t i)
{
    const pairs *p = context;
    size_t d = p->fit->d;
    p->out->rho[i * d + i] = 1;
    if (p->out->n_pair)
        p->out->n_pair[i * d + i] = p->v->observed[p->fit->columns[i].index];
    for (size_t j = i + 1; j < d; j++)
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
    return ur_parallel_for(fit->exec, "solving pairs", fit->d, solve_row, &p, err);
}
