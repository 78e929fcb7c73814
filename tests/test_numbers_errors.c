/* SPDX-License-Identifier: Apache-2.0 */
/* Errors where the model does not hold, beside the bootstrap, and how often a law that is not
 * normal is found out under several limits. A tenth of the runs in the tests; all of them with
 * --full. */
#include "numbers.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

enum { ROWS = 2000, SETS = 20, FEW = 100, JUDGED = 40, NULLS = 2000, MOST_DEGREES = 5 };
static const double RHO = 0.6;
/* how far the mean ratio of robust errors to the bootstrap's may be from 1 */
static const double NEAR = 0.15;

typedef enum { STUDENT_5, LOGNORMAL, TOP_CODED, STUDENT_3, LAWS } law;
static const char *const law_names[] = {"Student's t, 5 degrees", "lognormal", "top-coded",
                                        "Student's t, 3 degrees"};

/* two normals of correlation RHO, what they are divided by, and their law's values before 0 */
static void plant_rows(law of, uint64_t run, double x[2 * ROWS])
{
    static double z[ROWS * (2 + MOST_DEGREES)];
    ur_random_normals(run, 71 + of, 0, sizeof z / sizeof *z, z);
    for (size_t i = 0; i < ROWS; i++) {
        const double *u = z + i * (2 + MOST_DEGREES);
        double a = u[0], b = RHO * u[0] + sqrt(1 - RHO * RHO) * u[1], squares = 0;
        size_t degrees = of == STUDENT_5 ? 5 : 3;
        for (size_t k = 0; k < degrees; k++)
            squares += u[2 + k] * u[2 + k];
        double root = of == STUDENT_5 || of == STUDENT_3 ? sqrt(squares / (double)degrees) : 1;
        a = of == LOGNORMAL ? exp(a / 2) - 0.7 : 0.5 + a / root;
        b = of == LOGNORMAL ? exp(b / 2) - 0.7 : 0.3 + b / root;
        x[2 * i] = fmax(0, of == TOP_CODED ? fmin(a, 1.2) : a);
        x[2 * i + 1] = fmax(0, of == TOP_CODED ? fmin(b, 1.5) : b);
    }
}

static unrelu_gaussian *fit_with(const double *x, unrelu_angles angles, unrelu_errors errors)
{
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    o.angles = angles;
    o.errors = errors;
    return fit(x, ROWS, 2, &o);
}

static int is_warned(const unrelu_gaussian *m, const char *code)
{
    for (size_t i = 0; i < m->warning_count; i++)
        if (strcmp(m->warnings[i].code, code) == 0)
            return 1;
    return 0;
}

static void ratios_of(law of, unrelu_angles angles)
{
    static double x[2 * ROWS];
    int sets = runs_of(SETS), warned = 0;
    double b = 0, scale = 0, rho = 0, sigma = 0;
    char what[96];
    for (int set = 0; set < sets; set++) {
        plant_rows(of, (uint64_t)set, x);
        unrelu_gaussian *robust = fit_with(x, angles, UNRELU_ERRORS_ROBUST);
        unrelu_gaussian *again = fit_with(x, angles, UNRELU_ERRORS_BOOTSTRAP);
        for (size_t i = 0; i < 2; i++) {
            b += robust->b_se[i] / again->b_se[i] / 2;
            scale += robust->scale_se[i] / again->scale_se[i] / 2;
            sigma += robust->sigma_se[3 * i] / again->sigma_se[3 * i] / 3;
        }
        rho += robust->correlation_se[1] / again->correlation_se[1];
        sigma += robust->sigma_se[1] / again->sigma_se[1] / 3;
        warned += is_warned(robust, "heavy-tails");
        unrelu_gaussian_free(robust);
        unrelu_gaussian_free(again);
    }
    snprintf(what, sizeof what, "%s, n=%d, %s", law_names[of], ROWS,
             angles == UNRELU_ANGLES_H6 ? "one pass" : "likelihood");
    const struct {
        const char *of;
        double sum;
    } rows[] = {{"b", b}, {"scale", scale}, {"rho", rho}, {"Sigma", sigma}};
    for (size_t k = 0; k < (of == STUDENT_3 ? 1 : 4); k++) {
        char metric[96];
        snprintf(metric, sizeof metric, "robust error of %s over the bootstrap's, mean",
                 rows[k].of);
        row(what, metric, rows[k].sum / sets, 1 - NEAR, 1 + NEAR, "");
    }
    if (of == STUDENT_3)
        row(what, "sets with the warning `heavy-tails`", warned / (double)sets, 0.5, 1, "");
}

/* ---- judgement of fit: values below 0.5, and one cell, are below limits of their own ---- */

static double judge(int lognormal, uint64_t run, double *p)
{
    double x[FEW], limit[FEW], ks, ties;
    unrelu_source *samples = NULL, *limits = NULL;
    unrelu_error err = {0};
    unrelu_goodness_options o;
    unrelu_goodness_options_init(&o, sizeof o);
    ur_random_normals(run, 81, 0, FEW, x);
    for (size_t i = 0; i < FEW; i++) {
        x[i] = lognormal ? exp(x[i]) : 1 + x[i];
        limit[i] = i == FEW / 2 ? 8 : !lognormal && i % 3 == 0 ? 0.8 : 0.5;
        x[i] = x[i] <= limit[i] ? 0 : x[i];
    }
    must(unrelu_source_memory(x, FEW, 1, NULL, &samples, &err), &err);
    must(unrelu_source_memory(limit, FEW, 1, NULL, &limits, &err), &err);
    o.limits = limits;
    must(unrelu_columns_distance(samples, &o, NULL, &ks, p, &ties, &err), &err);
    unrelu_source_close(samples);
    unrelu_source_close(limits);
    return ks;
}

static void judgements(void)
{
    int runs = runs_of(JUDGED), poor = 0, few = 0;
    double p;
    for (int run = 0; run < runs; run++) {
        double ks = judge(1, (uint64_t)run, &p);
        poor += unrelu_fit_judge(ks, p, 100, 1) == UNRELU_FIT_POOR;
    }
    row("lognormal judged as normal, n=100, limits 0.5 and one of 8", "share called poor",
        poor / (double)runs, 38.0 / 40, 1, "");
    runs = runs_of(NULLS);
    for (int run = 0; run < runs; run++) {
        judge(0, (uint64_t)run, &p);
        few += p < 0.05;
    }
    double room = fmax(0.02, 3 * sqrt(0.05 * 0.95 / runs)); /* three deviations of fewer runs */
    row("normal, n=100, limits 0.5, 0.8 and one of 8", "share of p-values below 0.05",
        few / (double)runs, fmax(0, 0.05 - room), 0.05 + room, "");
}

int main(int argc, char **argv)
{
    numbers_begin(argc, argv, 0.1, "Errors and judgements where the law is another");
    for (law of = 0; of < LAWS; of++) {
        ratios_of(of, UNRELU_ANGLES_H6);
        ratios_of(of, UNRELU_ANGLES_LIKELIHOOD);
    }
    judgements();
    return numbers_end();
}
