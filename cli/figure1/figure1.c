/* SPDX-License-Identifier: Apache-2.0 */
/* Which points: those of the paper, or a few small ones. */
#include "figure1.h"

#include <math.h>
#include <stdio.h>

enum { N_PANEL, D_PANEL, KAPPA_PANEL };
const char *const cli_figure1_panels[] = {"n", "d", "kappa"};
const char *const cli_figure1_methods[] = {"paper", "efficient"};

void cli_figure1_plan(figure1 *f, size_t runs, uint64_t seed, int quick)
{
    *f = (figure1){.runs = runs, .seed = seed, .quick = quick};
    const size_t n = quick ? 20000 : 500000, d = 5, kappa = 1;
    for (size_t x = 20000; x <= (quick ? 50000 : 200000); x += 30000)
        f->points[f->count++] = (figure1_point){N_PANEL, x, x, d, kappa};
    for (size_t x = 5; x <= (quick ? 9 : 25); x += 4)
        f->points[f->count++] = (figure1_point){D_PANEL, x, n, x, kappa};
    for (size_t x = 1; x <= 25; x += quick ? 24 : 4)
        f->points[f->count++] = (figure1_point){KAPPA_PANEL, x, n, d, x};
    snprintf(f->fixed[N_PANEL], sizeof *f->fixed, "d = %zu, kappa = %zu", d, kappa);
    snprintf(f->fixed[D_PANEL], sizeof *f->fixed, "n = %zu, kappa = %zu", n, kappa);
    snprintf(f->fixed[KAPPA_PANEL], sizeof *f->fixed, "n = %zu, d = %zu", n, d);
    for (size_t i = 0; i < f->count * FIGURE1_METRICS; i++)
        f->rows[i / FIGURE1_METRICS][FIGURE1_LIMIT].sd[i % FIGURE1_METRICS] = NAN;
}

uint64_t cli_figure1_seed(const figure1 *f, size_t point, size_t run)
{
    uint64_t seed = 1000000 * f->seed + 1000 * (uint64_t)(point + 1) + (uint64_t)(run + 1);
    return seed & INT64_MAX;
}

int cli_figure1_is_done(const figure1 *f, size_t point)
{
    return f->rows[point][FIGURE1_PAPER].done && f->rows[point][FIGURE1_EFFICIENT].done;
}

size_t cli_figure1_done(const figure1 *f)
{
    size_t done = 0;
    for (size_t p = 0; p < f->count; p++)
        done += (size_t)cli_figure1_is_done(f, p);
    return done;
}
