/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage of the answers in the data's own unit: lognormal values, of which a share lies below
 * limits that differ from cell to cell, at sizes that laboratories have. A tenth of the runs in the
 * tests; all of them with --full. */
#include "numbers.h"

#include "base/random.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 200, LIMITS = 3 };
static const double B = 1, S = 1;                           /* of the logarithms */
static const double around[LIMITS] = {0.7, 1, 1 / 0.7};     /* times the median limit */
static const double LEAST = .93;                            /* of coverage */
static const double THRESHOLD_DEVIATIONS = 1.2815515655446; /* 10 % lie above it */

/* lognormal rows of which about this share lies below its limit, where they are 0 */
static void plant_rows(size_t n, double censored, uint64_t run, double *x, double *limit)
{
    double middle = exp(B + S * unrelu_normal_quantile(censored));
    ur_random_normals(run, 61, 0, n, x);
    for (size_t i = 0; i < n; i++) {
        double value = exp(B + S * x[i]);
        limit[i] = middle * around[i % LIMITS];
        x[i] = value < limit[i] ? 0 : value;
    }
}

static unrelu_gaussian *fit_rows(double *x, double *limit, size_t n, unrelu_errors errors)
{
    unrelu_gaussian *model = NULL;
    unrelu_source *source = NULL, *limits = NULL;
    unrelu_error err = {0};
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    o.transform = UNRELU_TRANSFORM_LOG;
    o.errors = errors;
    must(unrelu_source_memory(x, n, 1, NULL, &source, &err), &err);
    must(unrelu_source_memory(limit, n, 1, NULL, &limits, &err), &err);
    o.limits = limits;
    must(unrelu_gaussian_fit(source, &o, NULL, &model, &err), &err);
    unrelu_source_close(source);
    unrelu_source_close(limits);
    return model;
}

typedef struct {
    int mean, sd, median, top, ucl, above;
} covered;

static int holds(const double *ends, double truth)
{
    return ends[0] <= truth && truth <= ends[1];
}

static void count(const unrelu_gaussian *m, covered *c)
{
    double mean = exp(B + S * S / 2), share, ci[2];
    unrelu_error err = {0};
    must(unrelu_gaussian_exceed(m, 0, exp(B + THRESHOLD_DEVIATIONS * S), 0.95, &share, ci, &err),
         &err);
    c->mean += holds(m->mean_ci, mean);
    c->sd += holds(m->sd_ci, mean * sqrt(expm1(S * S)));
    c->median += holds(m->median_ci, exp(B));
    c->top += holds(m->quantiles_ci + 2, exp(B + S * unrelu_normal_quantile(0.95)));
    c->ucl += mean <= m->ucl95[0];
    c->above += holds(ci, 0.1);
}

static void coverage_of(size_t n, double censored, unrelu_errors errors, int full)
{
    int runs = runs_of(full);
    covered c = {0};
    for (int run = 0; run < runs; run++) {
        double x[MOST], limit[MOST];
        plant_rows(n, censored, (uint64_t)run, x, limit);
        unrelu_gaussian *m = fit_rows(x, limit, n, errors);
        count(m, &c);
        unrelu_gaussian_free(m);
    }
    int is_model = errors == UNRELU_ERRORS_MODEL;
    char what[96];
    snprintf(what, sizeof what, "lognormal, n=%zu, %.0f %% below limits, %s errors", n,
             100 * censored, is_model ? "model" : "robust");
    const struct {
        const char *of;
        int count;
    } rows[] = {{"mean", c.mean},
                {"standard deviation", c.sd},
                {"median", c.median},
                {"95 % quantile", c.top},
                {"share above a value", c.above}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char metric[96];
        snprintf(metric, sizeof metric, "coverage of 95 %% intervals of the %s", rows[k].of);
        row(what, metric, rows[k].count / (double)runs, LEAST, .97, "");
    }
    row(what, "how often the mean lies below UCL95", c.ucl / (double)runs, LEAST, .97, "");
}

int main(int argc, char **argv)
{
    numbers_begin(argc, argv, 0.1, "Answers in the data's unit");
    static const unrelu_errors kinds[] = {UNRELU_ERRORS_AUTO, UNRELU_ERRORS_MODEL};
    for (size_t k = 0; k < 2; k++)
        for (size_t n = 50; n <= MOST; n *= 4)
            for (int third = 1; third <= 2; third++)
                coverage_of(n, 0.3 * third, kinds[k], 10000);
    return numbers_end();
}
