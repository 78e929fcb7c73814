/* SPDX-License-Identifier: Apache-2.0 */
/* Step 2 of the one-layer paper: the share P of rows where both coordinates exceed
 * max(0, b). To the letter theta = pi - 2 pi P (Fact 1); otherwise the orthant probability is
 * inverted, which is the same for b >= 0 and right for b < 0 too. */
#include "base/error.h"
#include "gaussian/problem/fit.h"
#include "pass/parallel.h"
#include "pass/pass.h"
#include "summary/exceed.h"

#include <math.h>

typedef struct {
    const ur_fit *fit;
    const ur_exceed_view *v;
    const ur_fit_pairs *out;
    const ur_pair_margin *prepared; /* fitted columns */
    size_t d;                       /* source columns */
} signs;

static ur_pair solve(const signs *s, const ur_fit_column *a, const ur_fit_column *b, double n,
                     double above)
{
    ur_pair pair = {.rho = 0, .rho_se = NAN, .product_se = NAN};
    if (a->margin.verdict == UR_MARGIN_CONSTANT || b->margin.verdict == UR_MARGIN_CONSTANT)
        return pair; /* footnote 3 */
    if (!isfinite(a->margin.gamma) || !isfinite(b->margin.gamma))
        return pair; /* no truncated maximum likelihood: flagged there */
    if (s->fit->options->literal) {
        pair.rho = cos(acos(-1) * (1 - 2 * above / n));
        return pair;
    }
    double margins_n[2] = {s->fit->v.observed[a->index], s->fit->v.observed[b->index]};
    const ur_pair_margin *m = s->prepared;
    ur_pair_from_signs(&m[a - s->fit->columns], &m[b - s->fit->columns], n, above / n, margins_n,
                       &pair);
    /* the errors are those of censored margins fitted on the same rows */
    if (s->fit->options->norms != UNRELU_NORMS_CENSORED || n < margins_n[0] || n < margins_n[1])
        pair.rho_se = pair.product_se = NAN;
    return pair;
}

static void solve_row(void *context, size_t i)
{
    const signs *s = context;
    size_t d = s->fit->d;
    const ur_fit_column *a = &s->fit->columns[i];
    double rows = *s->fit->v.rows;
    s->out->rho[i * d + i] = 1;
    s->out->n_pair[i * d + i] = rows - s->v->missing[a->index];
    const unrelu_gaussian *m = s->fit->model;
    for (size_t j = i + 1; j < d; j++) {
        const ur_fit_column *b = &s->fit->columns[j];
        uint32_t flags = m->flags[i] | m->flags[j];
        size_t at = a->index * s->d + b->index;
        double n = rows - s->v->missing[a->index] - s->v->missing[b->index] + s->v->both_absent[at];
        ur_pair pair = {.rho = 0, .rho_se = NAN, .product_se = NAN};
        if (n > 0)
            pair = solve(s, a, b, n, s->v->above[at]);
        double joint = s->v->above[at];
        if (flags & UNRELU_FLAG_CONSTANT)
            joint = INFINITY; /* footnote 3: nothing was to be counted */
        else if (flags & UNRELU_FLAG_NEGATIVE_BIAS && fabs(pair.rho) >= UR_PAIR_LIMIT)
            joint = 0; /* P is small for b < 0, not for a correlation of -1 */
        ur_fit_store(s->out, d, i, j, n, joint, pair);
    }
}

unrelu_status ur_fit_signs(const ur_fit *fit, const ur_fit_pairs *out, unrelu_error *err)
{
    size_t d = fit->summary->plan.d;
    ur_exceed_plan plan = {.d = d, .cut = fit->cut, .missing = *fit->v.missing_cells > 0};
    UR_ARENA(arena);
    double *threshold = ur_take(&arena, d, sizeof *threshold);
    double *sums = ur_take(&arena, ur_exceed.len(&plan), sizeof *sums);
    ur_pair_margin *prepared = ur_take(&arena, fit->d, sizeof *prepared);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < fit->d; i++) {
        const ur_fit_column *c = &fit->columns[i];
        threshold[c->index] = fmax(c->limit, c->limit + ldexp(c->margin.b, c->exponent));
        ur_pair_margin_set(c->margin.gamma, &prepared[i]);
    }
    plan.threshold = threshold;
    UR_TRY(ur_source_rewind(fit->source, err));
    UR_TRY(ur_pass(fit->source, &ur_exceed, &plan, fit->exec, "counting signs", sums, err));
    ur_exceed_view v = ur_exceed_view_of(&plan, sums);
    signs s = {fit, &v, out, prepared, d};
    return ur_parallel_for(fit->exec, "solving pairs", fit->d, solve_row, &s, err);
}
