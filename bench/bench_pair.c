/* SPDX-License-Identifier: Apache-2.0 */
/* Microseconds of one pair solve, on planted pairs with gamma in [-1, 2.5] and |rho| < 0.95, and
 * its ratio to the plain dot product of the pair's own two columns in the same run. */
#include "base/random.h"
#include "law/margin.h"
#include "law/pair.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PAIRS = 500, ROWS = 20000, REPEATS = 30 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct {
    ur_pair_margin m[2];
    ur_pair_moments t;
    double gamma[2], rho;
} planted;

static double fit_margin(const double *x, ur_margin *fit)
{
    ur_margin_sums sums = {.n = ROWS, .shift = 1};
    for (int i = 0; i < ROWS; i++)
        if (x[i] > 0) {
            sums.positive++;
            sums.sum += x[i] - 1;
            sums.square += (x[i] - 1) * (x[i] - 1);
        }
    ur_margin_censored(&sums, fit);
    return fmax(fit->b, 0);
}

static void plant(uint64_t stream, planted *p, double *x, double *y)
{
    double u[3];
    ur_random_uniforms(1, stream, 0, 3, u);
    p->gamma[0] = -1 + 3.5 * u[0];
    p->gamma[1] = -1 + 3.5 * u[1];
    p->rho = 0.95 * (2 * u[2] - 1);
    ur_random_normals(1, stream, 0, ROWS, x);
    ur_random_normals(1, stream, ROWS, ROWS, y);
    for (int i = 0; i < ROWS; i++) {
        y[i] = fmax(0, p->gamma[1] + p->rho * x[i] + sqrt(1 - p->rho * p->rho) * y[i]);
        x[i] = fmax(0, p->gamma[0] + x[i]);
    }
    ur_margin fx, fy;
    double bx = fit_margin(x, &fx), by = fit_margin(y, &fy);
    ur_pair_margin_set(fx.gamma, &p->m[0]);
    ur_pair_margin_set(fy.gamma, &p->m[1]);
    p->t = (ur_pair_moments){.n = ROWS};
    for (int i = 0; i < ROWS; i++)
        if (x[i] > 0 && y[i] > 0) {
            double v1 = (x[i] - bx) / fx.s, v2 = (y[i] - by) / fy.s;
            p->t.gg += 1.0 / ROWS;
            p->t.v1g2 += v1 / ROWS;
            p->t.v2g1 += v2 / ROWS;
            p->t.v1v2 += v1 * v2 / ROWS;
            p->t.v1v1g2 += v1 * v1 / ROWS;
            p->t.v2v2g1 += v2 * v2 / ROWS;
        }
}

static double dot(const double *x, const double *y)
{
    double sum[8] = {0};
    for (int i = 0; i < ROWS; i += 8)
        for (int k = 0; k < 8; k++)
            sum[k] += x[i + k] * y[i + k];
    return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

int main(void)
{
    planted *p = calloc(PAIRS, sizeof *p);
    ur_pair *out = calloc(PAIRS, sizeof *out);
    double *x = calloc(ROWS, sizeof *x), *y = calloc(ROWS, sizeof *y);
    if (!p || !out || !x || !y)
        return 1;
    for (int k = 0; k < PAIRS; k++)
        plant((uint64_t)k, &p[k], x, y);
    const double margins_n[2] = {ROWS, ROWS};
    double best = INFINITY, best_signs = INFINITY, best_dot = INFINITY, sink = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double t0 = seconds();
        for (int k = 0; k < PAIRS; k++)
            ur_pair_six_statistics(&p[k].m[0], &p[k].m[1], &p[k].t, margins_n, &out[k]);
        double t1 = seconds();
        for (int k = 0; k < PAIRS; k++) {
            ur_pair signs;
            ur_pair_from_signs(&p[k].m[0], &p[k].m[1], ROWS, 0.25 * p[k].m[0].Phi, margins_n,
                               &signs);
            sink += signs.rho;
        }
        double t2 = seconds();
        for (int k = 0; k < PAIRS; k++) {
            x[0] = k;
            sink += dot(x, y);
        }
        double t3 = seconds();
        best = fmin(best, t1 - t0);
        best_signs = fmin(best_signs, t2 - t1);
        best_dot = fmin(best_dot, t3 - t2);
    }
    double evaluations = 0, z2 = 0;
    int most = 0, failed = 0;
    for (int k = 0; k < PAIRS; k++) {
        evaluations += out[k].evaluations;
        most = out[k].evaluations > most ? out[k].evaluations : most;
        failed += !out[k].converged;
        z2 += pow((out[k].rho - p[k].rho) / out[k].rho_se, 2);
    }
    printf("h6     %.2f us/pair, %.2f evaluations (most %d), %d of %d not converged, z rms %.3f\n",
           1e6 * best / PAIRS, evaluations / PAIRS, most, failed, PAIRS, sqrt(z2 / PAIRS));
    printf("signs  %.2f us/pair\n", 1e6 * best_signs / PAIRS);
    printf("dot    %.2f us for %d rows; h6 is %.2f of it%s\n", 1e6 * best_dot / PAIRS, ROWS,
           best / best_dot, isfinite(sink) ? "" : " (?)");
    free(p);
    free(out);
    free(x);
    free(y);
    return 0;
}
