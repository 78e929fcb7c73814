/* SPDX-License-Identifier: Apache-2.0 */
/* Which points: those of the paper, or a few small ones. */
#include "figure1.h"

#include <stdio.h>
#include <string.h>

enum { N_PANEL, D_PANEL, KAPPA_PANEL };

static void add(figure1 *f, int panel, size_t n, size_t d, size_t kappa)
{
    f->points[f->count++] = (figure1_point){panel, n, d, kappa};
}

void cli_figure1_plan(figure1 *f, size_t runs, uint64_t seed, int quick)
{
    memset(f, 0, sizeof *f);
    f->runs = runs;
    f->seed = seed;
    f->quick = quick;
    size_t n = quick ? 20000 : 500000;
    for (size_t x = 20000; x <= (quick ? 50000 : 200000); x += 30000)
        add(f, N_PANEL, x, 5, 1);
    for (size_t x = 5; x <= (quick ? 9 : 25); x += 4)
        add(f, D_PANEL, n, x, 1);
    for (size_t x = 1; x <= 25; x += quick ? 24 : 4)
        add(f, KAPPA_PANEL, n, 5, x);
}

uint64_t cli_figure1_seed(const figure1 *f, size_t point, size_t run)
{
    uint64_t seed = 1000000 * f->seed + 1000 * (uint64_t)(point + 1) + (uint64_t)(run + 1);
    return seed & INT64_MAX;
}

const char *cli_figure1_panel(int panel)
{
    static const char *const names[FIGURE1_PANELS] = {"n", "d", "kappa"};
    return names[panel];
}

const char *cli_figure1_method(int method)
{
    static const char *const names[FIGURE1_METHODS] = {"paper", "efficient"};
    return names[method];
}

size_t cli_figure1_x(const figure1_point *p)
{
    return p->panel == N_PANEL ? p->n : p->panel == D_PANEL ? p->d : p->kappa;
}

int cli_figure1_is_done(const figure1 *f, size_t point)
{
    for (int m = 0; m < FIGURE1_METHODS; m++)
        if (!f->rows[point][m].done)
            return 0;
    return 1;
}

size_t cli_figure1_done(const figure1 *f)
{
    size_t done = 0;
    for (size_t p = 0; p < f->count; p++)
        done += (size_t)cli_figure1_is_done(f, p);
    return done;
}

const char *cli_figure1_fixed(const figure1 *f, int panel, char *text, size_t size)
{
    const figure1_point *p = f->points;
    while (p->panel != panel)
        p++;
    if (panel == N_PANEL)
        snprintf(text, size, "d = %zu, kappa = %zu", p->d, p->kappa);
    else if (panel == D_PANEL)
        snprintf(text, size, "n = %zu, kappa = %zu", p->n, p->kappa);
    else
        snprintf(text, size, "n = %zu, d = %zu", p->n, p->d);
    return text;
}
