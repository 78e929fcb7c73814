/* SPDX-License-Identifier: Apache-2.0 */
/* How many samples, from the Cramer-Rao bound. The model is D uncorrelated coordinates of scale 1,
 * whose b / scale goes through the list again and again. With v the bounds in one sample,
 *   n err_b^2 = sum_i v(b_i) / D,   n err_Sigma^2 = (sum_i 4 v(s_i) + sum_{i != j} v(rho_ij)) /
 * D^2, |W|_F^2 being D. Only the values of the list enter, so that D may be anything. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "json.h"
#include "scope.h"
#include "table.h"

typedef struct {
    cli_shared shared;
    size_t d;
    double error, failure; /* error 0: not said */
    const char *b;
} plan_arguments;

#define FIELD(name)     offsetof(plan_arguments, name)
#define TO(kind, field) CLI_TO(kind, plan_arguments, field)

static const cli_option options[] = {
    {"dimension", 'd', "D", "columns of a sample (needed)", CLI_WHOLE, FIELD(d), 1, 1e9,
     "a whole number from 1 to 1000000000"},
    {"error", 0, "E",
     "the error that is wanted (needed): of err_b = |b - b*| / |W*|_F, of err_Sigma = |Sigma - "
     "Sigma*|_F / |W*|_F^2, and of single numbers relative to their scales; root mean squares over "
     "repetitions",
     CLI_REAL, FIELD(error), DBL_MIN, 1e6, "a number above 0"},
    {"b", 0, "LIST",
     "b / scale of the columns, as in -1,0,0.5; a list shorter than D is gone through again "
     "(default 0: half of the values are hidden)",
     TO(CLI_TEXT, b)},
    {"failure", 0, "P", "delta of the paper: how often its bound may fail (default 0.05)", CLI_REAL,
     FIELD(failure), DBL_MIN, 1 - DBL_EPSILON, "a number between 0 and 1"},
    {0},
};

static const cli_example examples[] = {
    {"unrelu plan -d 5 --error 0.01", "errors of 1 %, five columns, b = 0"},
    {"unrelu plan -d 91 --error 0.1 --b -1,0,1", "a third of the columns mostly hidden"},
    {0},
};

static const plan_arguments defaults = {.failure = 0.05};

enum { MOST_VALUES = 100, B_LEAST = -6, B_MOST = 1000 };

/* root mean square errors times sqrt(n) */
enum { OF_B, OF_SCALE, OF_RHO, OF_ERR_B, OF_ERR_SIGMA, ERRORS };
static const struct {
    const char *key, *head, *does;
} errors[ERRORS] = {
    {"b", "b", "of one column, over its scale"},
    {"scale", "scale", "of one column, relative"},
    {"correlation", "rho", "of one pair, where it is 0"},
    {"err_b", "err_b", "|b - b*| / |W*|_F"},
    {"err_sigma", "err_Sigma", "|Sigma - Sigma*|_F / |W*|_F^2"},
};

typedef struct {
    size_t d, count;
    double value[MOST_VALUES];
    double columns[MOST_VALUES]; /* that have the value */
    double unit[ERRORS];         /* at n = 1 */
    double error, paper;         /* wanted; (1 / error^2) ln(d / failure) */
} plan;

/* ---- the list ------------------------------------------------------------------------- */

static int parse_list(const char *text, plan *p)
{
    CLI_MEMORY char *copy = strdup(text);
    if (!copy)
        return cli_no_memory();
    for (char *rest = copy, *item; (item = strsep(&rest, ","));) {
        if (p->count == MOST_VALUES)
            return cli_usage("plan: --b lists more than %d values", MOST_VALUES);
        CLI_TRY(cli_parse_real("--b", item, B_LEAST, B_MOST, "a number from -6 to 1000",
                               &p->value[p->count++]));
    }
    if (p->count > p->d)
        return cli_usage("plan: --b lists %zu values, and -d says %zu columns", p->count, p->d);
    for (size_t i = 0; i < p->count; i++)
        p->columns[i] = (double)((p->d - 1 - i) / p->count + 1);
    return 0;
}

/* ---- the bound ------------------------------------------------------------------------ */

/* every value twice, for the pairs of its own */
typedef struct {
    double b[2 * MOST_VALUES], scale[2 * MOST_VALUES], b_se[2 * MOST_VALUES];
    double scale_se[2 * MOST_VALUES];
    double correlation[4 * MOST_VALUES * MOST_VALUES], rho_se[4 * MOST_VALUES * MOST_VALUES];
} model;

static int set_errors(plan *p)
{
    CLI_MEMORY model *m = calloc(1, sizeof *m);
    if (!m)
        return cli_no_memory();
    double d = (double)p->d, b = 0, sigma = 0, worst[3] = {0};
    size_t k = 2 * p->count;
    unrelu_gaussian gaussian = {
        .d = k, .b = m->b, .scale = m->scale, .correlation = m->correlation};
    for (size_t i = 0; i < k; i++) {
        m->b[i] = p->value[i / 2];
        m->scale[i] = 1;
        m->correlation[i * k + i] = 1;
    }
    CLI_CALL(unrelu_gaussian_bound(&gaussian, 1, m->b_se, m->scale_se, NULL, m->rho_se, &err));
    for (size_t i = 0; i < p->count; i++) {
        double b_se = m->b_se[2 * i], scale_se = m->scale_se[2 * i], ci = p->columns[i];
        worst[OF_B] = fmax(worst[OF_B], b_se);
        worst[OF_SCALE] = fmax(worst[OF_SCALE], scale_se);
        b += ci * b_se * b_se;
        sigma += ci * 4 * scale_se * scale_se;
        for (size_t j = 0; j < p->count; j++) {
            double rho_se = m->rho_se[2 * i * k + 2 * j + 1];
            double pairs = ci * (i == j ? ci - 1 : p->columns[j]);
            sigma += pairs * rho_se * rho_se;
            if (pairs > 0)
                worst[OF_RHO] = fmax(worst[OF_RHO], rho_se);
        }
    }
    if (p->d == 1)
        worst[OF_RHO] = NAN;
    memcpy(p->unit, worst, sizeof worst);
    p->unit[OF_ERR_B] = sqrt(b / d);
    p->unit[OF_ERR_SIGMA] = sqrt(sigma) / d;
    return 0;
}

/* NaN: no pair, no correlation */
static double samples_for(const plan *p, int k)
{
    static const double ROUNDING = 1e-12; /* 10000, not 10001 for that of the ratio */
    double ratio = p->unit[k] / p->error;
    return isnan(ratio) ? NAN : fmax(1, ceil(ratio * ratio * (1 - ROUNDING)));
}

/* ---- results -------------------------------------------------------------------------- */

static const double table_n[] = {1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
enum { TABLE_N = sizeof table_n / sizeof *table_n };

static int print(const plan *p)
{
    CLI_MEMORY cli_table *t = malloc(sizeof *t);
    if (!t)
        return cli_no_memory();
    printf("samples for an error of %g, at the Cramer-Rao bound\n"
           "d = %zu uncorrelated columns, b / scale =",
           p->error, p->d);
    for (size_t i = 0; i < p->count; i++)
        printf("%s %g", i ? "," : "", p->value[i]);
    printf("%s\n\n", p->count < p->d && p->count > 1 ? ", and again" : "");
    cli_table_titles(t, "samples|error of|at n|");
    for (int k = 0; k < ERRORS; k++) {
        cli_table_add_real(t, "%.0f", samples_for(p, k));
        cli_table_add(t, "%s", errors[k].head);
        cli_table_add_real(t, "%.4g / sqrt(n)", p->unit[k]);
        cli_table_add(t, "%s", errors[k].does);
    }
    cli_table_add(t, "%.0f", p->paper);
    cli_table_add(t, "the paper");
    cli_table_add(t, "%s", "");
    cli_table_add(t, "1/E^2 ln(D/delta); its constant is open");
    cli_table_print(t, "rlrl");
    if (p->count > 1)
        printf("\nb, scale and rho are those of the worst column or pair\n");
    printf("\nerrors by the number of samples\n\n");
    cli_table_start(t, ERRORS + 1);
    cli_table_add(t, "n");
    for (int k = 0; k < ERRORS; k++)
        cli_table_add(t, "%s", errors[k].head);
    for (int i = 0; i < TABLE_N; i++) {
        cli_table_add(t, "%.0f", table_n[i]);
        for (int k = 0; k < ERRORS; k++)
            cli_table_add_real(t, "%.3g", p->unit[k] / sqrt(table_n[i]));
    }
    cli_table_print(t, "rrrrrr");
    return 0;
}

static void put_count(cli_json *json, const char *key, double count)
{
    if (count < 0x1p53)
        cli_json_whole(json, key, (uint64_t)count);
    else
        cli_json_real(json, key, count);
}

static int print_json(const plan *p, double failure)
{
    cli_json json = cli_json_start("plan"), needs = {.object = json_object()};
    json_t *rows = json_array();
    cli_json_whole(&json, "d", p->d);
    cli_json_real(&json, "error", p->error);
    cli_json_real(&json, "failure", failure);
    cli_json_reals(&json, "b", p->value, p->count);
    for (int k = 0; k < ERRORS; k++)
        put_count(&needs, errors[k].key, samples_for(p, k));
    put_count(&needs, "paper", p->paper);
    json.failed |= needs.failed;
    cli_json_put(&json, "samples", needs.object);
    for (int i = 0; i < TABLE_N; i++) {
        cli_json row = {.object = json_object()};
        put_count(&row, "n", table_n[i]);
        for (int k = 0; k < ERRORS; k++)
            cli_json_real(&row, errors[k].key, p->unit[k] / sqrt(table_n[i]));
        json.failed |= row.failed | (json_array_append_new(rows, row.object) != 0);
    }
    cli_json_put(&json, "table", rows);
    cli_json_put(&json, "warnings", json_array());
    return cli_json_finish(&json);
}

static int run(void *arguments)
{
    const plan_arguments *a = arguments;
    if (a->d == 0 || a->error == 0)
        return cli_usage("plan: say how large, and how exact: -d D columns and --error E");
    plan p = {.d = a->d, .error = a->error};
    CLI_TRY(parse_list(a->b ? a->b : "0", &p));
    p.paper = ceil(log((double)a->d / a->failure) / (a->error * a->error));
    CLI_TRY(set_errors(&p));
    return a->shared.json ? print_json(&p, a->failure) : print(&p);
}

const cli_command cli_plan = {
    .name = "plan",
    .files = {"-d D --error E", 0, 0},
    .brief = "Tell how many samples a wanted accuracy needs",
    .doc = "For a rectified Gaussian x = ReLU(W z + b) with D columns that are not correlated: how "
           "many samples until the errors are E, where a method is as exact as the Cramer-Rao "
           "bound allows. 'unrelu fit' is, save at a few dozen samples, where columns are hardly "
           "ever positive, or where correlations are near 1. An error is a root mean square over "
           "repetitions: of b, scale and correlation that of one number, of err_b and err_Sigma "
           "that of the paper's measure of all of them. Beside it stands the paper's bound (1/E^2) "
           "ln(D/delta), whose constant is not known and is taken as 1. Correlated columns need "
           "fewer samples for a correlation: its error falls with 1 - rho^2.",
    .options = options,
    .has = CLI_HAS_JSON,
    .examples = examples,
    .size = sizeof(plan_arguments),
    .defaults = &defaults,
    .run = run,
};
