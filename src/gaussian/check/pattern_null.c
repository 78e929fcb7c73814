/* SPDX-License-Identifier: Apache-2.0 */
/* What the distance of a column with several limits is where its law is right: p = (r + 1) /
 * (runs + 1), r of `runs` simulated columns being at least as far from theirs. A simulated cell is
 * normal, and has a limit with the chances that the column's cells have: of c cells below a limit
 * l among n, c / (n F(l)), F being the column's own steps. These are the chances of a limit that
 * knows nothing of the value (with the steps they are a maximum of the likelihood); what is left
 * over has no limit. So no limit of a cell that was seen need be known.
 *
 * sqrt n D has a law that depends on n little (Stephens 1974): beyond what has 400 values seen,
 * smaller columns are simulated. A run stops where enough are as far, with p = r / runs, which is
 * as valid (Besag and Clifford 1991). */
#include "base/error.h"
#include "base/random.h"
#include "gaussian/check/goodness.h"

#include <math.h>

/* ENOUGH: a p of 0.1 is then known to a tenth of it */
enum { RUNS = 999, SEEN = 400, MOST_CELLS = 8000, ENOUGH = 100 };

/* Limits from the largest down, in deviations from b, and the chance of this one or a larger. */
typedef struct {
    size_t limits;
    double *limit, *chance;
} pattern;

static void find_pattern(const ur_steps *s, double b, double scale, pattern *p)
{
    double total = 0;
    for (size_t k = s->limits; k > 0; k--) {
        double mass = ur_steps_before(s, s->limit[k - 1]);
        total += mass > 0 ? s->limited[k - 1] / (s->observed * mass) : 0;
        p->limit[p->limits] = (s->limit[k - 1] - b) / scale;
        p->chance[p->limits++] = fmin(1, total);
    }
}

static double limit_of(const pattern *p, double u)
{
    size_t from = 0, to = p->limits;
    while (from < to) {
        size_t k = (from + to) / 2;
        *(p->chance[k] <= u ? &from : &to) = p->chance[k] <= u ? k + 1 : k;
    }
    return from < p->limits ? p->limit[from] : -INFINITY;
}

static double stretched(double n, double distance)
{
    return distance * (sqrt(n) + UR_STEPHENS_A + UR_STEPHENS_C / sqrt(n));
}

/* NaN: it could not be fitted */
static unrelu_status simulate(const pattern *p, size_t n, const ur_pattern_test *test,
                              uint64_t seed, uint64_t run, double *room, double *distance,
                              unrelu_error *err)
{
    UR_ARENA(arena);
    double *x = room, *u = room + n;
    unsigned char *state = ur_take(&arena, n, 1);
    ur_cell_margin fit = {.margin = {.b = 0, .s = 1}};
    ur_steps steps;
    *distance = NAN;
    UR_TRY(ur_arena_status(&arena, err));
    ur_random_normals(seed, test->stream, run * n, n, x);
    ur_random_uniforms(seed, test->stream, run * n, n, u);
    for (size_t i = 0; i < n; i++) {
        double limit = limit_of(p, u[i]);
        state[i] = x[i] <= limit ? UR_BELOW : UR_SEEN;
        x[i] = fmax(x[i], limit);
    }
    if (test->fitted)
        UR_TRY(ur_cell_margin_fit(n, x, NULL, state, &fit, err));
    UR_TRY(ur_steps_find(&arena, &(ur_known){n, x, state}, &steps, err));
    if (fit.margin.s > 0 && isfinite(fit.margin.b) && steps.seen > 0)
        *distance = ur_steps_distance(&steps, fit.margin.b, fit.margin.s);
    return UNRELU_OK;
}

unrelu_status ur_pattern_p(const ur_pattern_test *test, size_t runs, uint64_t seed, double *p,
                           unrelu_error *err)
{
    UR_ARENA(arena);
    const ur_steps *s = test->steps;
    pattern limits = {0, ur_take(&arena, s->limits, sizeof *limits.limit),
                      ur_take(&arena, s->limits, sizeof *limits.chance)};
    double n = fmin(s->observed, ceil(SEEN * s->observed / fmax(s->seen, 1)));
    size_t cells = (size_t)fmin(n, MOST_CELLS), far = 0, done = 0, want = runs ? runs : RUNS;
    double *room = ur_take(&arena, cells, 2 * sizeof *room), distance;
    double own = stretched(s->observed, test->distance);
    *p = NAN;
    UR_TRY(ur_arena_status(&arena, err));
    find_pattern(s, test->b, test->s, &limits);
    for (size_t run = 0; run < want && far < ENOUGH; run++) {
        UR_TRY(simulate(&limits, cells, test, seed, run, room, &distance, err));
        done += (size_t)!isnan(distance);
        far += (size_t)(stretched((double)cells, distance) >= own);
    }
    *p = far >= ENOUGH ? (double)far / (double)done : (double)(far + 1) / (double)(done + 1);
    return UNRELU_OK;
}
