/* SPDX-License-Identifier: Apache-2.0 */
/* Huber's estimate by least squares. rho lies below the parabola of curvature 1 that touches it at
 * r: with residuals R and their scale s the sum over cells is below that of squares of
 *   (A - R + s psi(R / s)) - U f(V x) - e,
 * so that the least squares of these labels, with what is far off drawn in to c s, lower it; then
 * s anew. The curvature is the share of cells within c s, of any x alike, so that the labels are
 * first moved by 1 / share of it, Newton's step, and where that does not lower the objective as
 * they are. */
#include "base/error.h"
#include "dense/linear.h"
#include "network/newton/newton.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

enum { ROWS = 256 }; /* of a block */
/* Gain of a round, of n m s, below which s is found anew, and above which the next one moves the
 * cells beyond c s twice as far. Where most cells are met to rounding s is small and falls, and psi
 * holds those of a label short that is not met yet: it has to catch up. (1 % of spikes and no other
 * noise: an entry of U off by 4 % after 60 rounds without either.) */
static const double FAR = 1e-2;

typedef struct {
    const ur_newton *problem;
    const ur_newton_fit *fit;
    double *F, *R; /* n x k, n x m */
} residual;

static void write_rows(void *context, size_t block)
{
    const residual *c = context;
    const ur_newton *q = c->problem;
    size_t k = c->fit->k, m = q->m, first = block * ROWS;
    size_t rows = q->n - first < ROWS ? q->n - first : ROWS;
    double *F = c->F + first * k, *R = c->R + first * m;
    ur_multiply_nt(rows, q->p, k, q->x + first * q->p, c->fit->V, F);
    ur_activation_apply(q->f, rows * k, F, F, NULL);
    ur_multiply_nt(rows, k, m, F, c->fit->U, R);
    for (size_t i = 0; i < rows * m; i++)
        R[i] = q->a[first * m + i] - R[i] - c->fit->e[i % m];
}

unrelu_status ur_newton_rest(const ur_newton *problem, const ur_newton_fit *fit, double *R,
                             unrelu_error *err)
{
    UR_ARENA(arena);
    residual c = {problem, fit, ur_take(&arena, problem->n, fit->k * sizeof(double)), R};
    UR_TRY(ur_arena_status(&arena, err));
    return ur_parallel_for(problem->exec, "residuals", (problem->n + ROWS - 1) / ROWS, write_rows,
                           &c, err);
}

unrelu_status ur_newton_huber(const ur_newton *problem, int rounds, int steps, double tolerance,
                              ur_newton_fit *fit, ur_huber *huber, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t cells = problem->n * problem->m;
    double *R = ur_take(&arena, cells, sizeof *R), *next_R = ur_take(&arena, cells, sizeof *R);
    double *drawn = ur_take(&arena, cells, sizeof *drawn);
    ur_newton within = *problem;
    ur_newton_fit next;
    int taken = 0, converged = 0, plain = 0; /* plain: labels are moved as they are */
    double reach = 1;
    UR_TRY(ur_newton_alloc(problem, fit->k, &arena, &next, err));
    within.a = drawn;
    UR_TRY(ur_newton_rest(problem, fit, R, err));
    ur_huber now = ur_huber_of(cells, R, 1), then;
    for (; taken < rounds && !converged && now.scale > 0; taken++) {
        double share = plain ? 1 : now.inside;
        for (size_t i = 0; i < cells; i++) {
            double psi = ur_huber_psi(R[i], now.scale);
            drawn[i] = problem->a[i] - R[i] + (psi == R[i] ? psi : reach * psi) / share;
        }
        ur_newton_copy(problem, fit, &next);
        UR_TRY(ur_newton_solve(&within, steps, tolerance, 0, &next, err));
        UR_TRY(ur_newton_rest(problem, &next, next_R, err));
        then = ur_huber_at(cells, next_R, 1, now.scale);
        double unit = (double)cells * now.scale, gain = (now.objective - then.objective) / unit;
        if (gain > 0) {
            ur_newton_copy(problem, &next, fit);
            double *room = R;
            R = next_R;
            next_R = room;
            now = then;
        }
        reach = gain > FAR ? 2 * reach : 1;
        if (gain < FAR) {
            then = ur_huber_of(cells, R, 1);
            gain = fmax(gain, 0) + (now.objective - then.objective) / unit;
            now = then;
        }
        converged = plain && !(gain > tolerance);
        plain = !(gain > tolerance) && reach == 1;
    }
    fit->rss = now.rms * now.rms * (double)cells;
    fit->steps = taken;
    fit->converged = converged;
    *huber = now;
    return UNRELU_OK;
}
