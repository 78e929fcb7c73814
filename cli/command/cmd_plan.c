/* SPDX-License-Identifier: Apache-2.0 */
/* How many samples: the bounds that the library knows for a model, as a table. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "flags.h"
#include "json.h"
#include "scope.h"
#include "table.h"
#include "words.h"

typedef struct {
    cli_shared shared;
    unrelu_plan_options options;
    const char *b;
} plan_arguments;

#define FIELD(name)     offsetof(plan_arguments, name)
#define TO(kind, field) CLI_TO(kind, plan_arguments, field)
#define UP_TO_1E9       "a whole number from 1 to 1000000000"

static const cli_option options[] = {
    {"dimension", 'd', "D", "columns of a sample or input (needed, but for mixtures)", CLI_WHOLE,
     FIELD(options.d), 1, 1e9, UP_TO_1E9},
    {"b", 0, "LIST",
     "b / scale of the columns, units or neurons, as in -1,0,0.5; a shorter list is gone through "
     "again (default 0: half of the values are hidden)",
     TO(CLI_TEXT, b)},
    {"failure", 0, "P", "delta: how often it may fail (default 0.05)", CLI_REAL,
     FIELD(options.failure), DBL_MIN, 1 - DBL_EPSILON, "a number between 0 and 1"},
    {"kappa", 0, "X", "condition number of W W', of a network that of V (default 1)", CLI_REAL,
     FIELD(options.kappa), 1, DBL_MAX, "a number of at least 1"},
    {.doc = "gaussian:", .kind = CLI_HEADING},
    {"error", 0, "E",
     "the error that is wanted (needed): of err_b = |b - b*| / |W*|_F, of err_Sigma = |Sigma - "
     "Sigma*|_F / |W*|_F^2, of single numbers relative to their scales, and of the total "
     "variation; "
     "root mean squares over repetitions",
     CLI_REAL, FIELD(options.error), DBL_MIN, 1e6, "a number above 0"},
    {.doc = "network, mixture:", .kind = CLI_HEADING},
    {"neurons", 'k', "K", "neurons of the network (needed)", CLI_WHOLE, FIELD(options.k), 1, 1e9,
     UP_TO_1E9},
    {"labels", 'm', "M", "columns of a label of the network (default K)", CLI_WHOLE,
     FIELD(options.m), 1, 1e9, UP_TO_1E9},
    {"units", 'p', "P", "units of the mixture (needed)", CLI_WHOLE, FIELD(options.p), 1, 1e9,
     UP_TO_1E9},
    {0},
};

static const cli_example examples[] = {
    {"unrelu plan -d 5 --error 0.01", "errors of 1 %, five columns, b = 0"},
    {"unrelu plan -d 91 --error 0.1 --b -1,0,1", "a third of the columns mostly hidden"},
    {"unrelu plan network -d 50 -k 20 -m 30", "to recover a network exactly"},
    {"unrelu plan network -d 10 -k 5 --b -1,0.5 --json", "with biases of both signs, as JSON"},
    {"unrelu plan mixture -p 8 --b 0.7", "units that are off in 24 % of the samples"},
    {0},
};

static const char kinds[] = "gaussian|network|mixture"; /* in the order of unrelu_plan_model */
static const char *const names[] = {"gaussian", "network", "mixture"};

static void start(void *arguments)
{
    plan_arguments *a = arguments;
    unrelu_plan_options_init(&a->options, sizeof a->options);
}

static void free_plan(unrelu_plan **plan)
{
    unrelu_plan_free(*plan);
}

/* ---- results -------------------------------------------------------------------------- */

/* what its n is: the word of the table */
static const char *role_of(const unrelu_plan_bound *b)
{
    static const char *const words[][3] = {{"enough", "enough ~", "measured"},
                                           {"needed", "needed ~", "measured"}};
    return b->holds ? words[b->role][b->constant] : "none";
}

/* of the Cramer-Rao bound, which has an error for any n */
static int is_limit(const unrelu_plan_bound *b)
{
    return b->error_at_one > 0 || strcmp(b->name, "correlation") == 0;
}

static void add_count(cli_table *t, double n)
{
    cli_table_add_real(t, n < 1e15 ? "%.0f" : "%.3g", n);
}

static void print_bounds(cli_table *t, const unrelu_plan *plan)
{
    const unrelu_plan_bound *b;
    cli_table_titles(t, "samples|is|bound|");
    for (size_t i = 0; (b = unrelu_plan_bound_at(plan, i)); i++) {
        if (is_limit(b))
            continue;
        add_count(t, b->n);
        cli_table_add(t, "%s", role_of(b));
        cli_table_add(t, "%s", b->title);
        if (b->holds)
            cli_table_add(t, "%s; assumes %s", b->says, b->assumes);
        else
            cli_table_add(t, "%s", b->because);
    }
    cli_table_print(t, "rlll");
    printf("\nenough: so many do; needed: with fewer it fails; measured: was enough in runs;\n"
           "~: O(.) or Omega(.), whose constant is open and taken as 1; none: does not apply\n");
}

static const double table_n[] = {1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
enum { TABLE_N = sizeof table_n / sizeof *table_n };

static void print_limits(cli_table *t, const unrelu_plan *plan)
{
    const unrelu_plan_bound *b;
    cli_table_titles(t, "samples|error of|at n|");
    for (size_t i = 0; (b = unrelu_plan_bound_at(plan, i)); i++) {
        if (!is_limit(b))
            continue;
        add_count(t, b->n);
        cli_table_add(t, "%s", b->title);
        cli_table_add_real(t, "%.4g / sqrt(n)", b->error_at_one);
        cli_table_add(t, "%s", b->says);
    }
    cli_table_print(t, "rlrl");
}

static void print_errors(cli_table *t, const unrelu_plan *plan)
{
    const unrelu_plan_bound *b;
    size_t limits = 0;
    while ((b = unrelu_plan_bound_at(plan, limits)) && is_limit(b))
        limits++;
    cli_table_start(t, limits + 1);
    cli_table_add(t, "n");
    for (size_t i = 0; i < limits; i++)
        cli_table_add(t, "%s", unrelu_plan_bound_at(plan, i)->title);
    for (int k = 0; k < TABLE_N; k++) {
        cli_table_add(t, "%.0f", table_n[k]);
        for (size_t i = 0; i < limits; i++)
            cli_table_add_real(t, "%.3g",
                               unrelu_plan_bound_at(plan, i)->error_at_one / sqrt(table_n[k]));
    }
    cli_table_print(t, "rrrrrrr");
}

static int print(const unrelu_plan_options *o, const unrelu_plan *plan)
{
    static const char *const things[] = {"columns", "neurons", "units"};
    CLI_MEMORY cli_table *t = malloc(sizeof *t);
    if (!t)
        return cli_no_memory();
    size_t of = o->model == UNRELU_PLAN_GAUSSIAN  ? o->d
                : o->model == UNRELU_PLAN_NETWORK ? o->k
                                                  : o->p;
    if (o->model == UNRELU_PLAN_GAUSSIAN)
        printf("samples for an error of %g, at the Cramer-Rao bound\n"
               "d = %zu uncorrelated columns, b / scale =",
               o->error, o->d);
    else
        printf("samples to recover a %s exactly, without noise\n%zu %s, b / scale =",
               names[o->model], of, things[o->model]);
    for (size_t i = 0; i < o->b_count || i == 0; i++)
        printf("%s %g", i ? "," : "", o->b_count ? o->b[i] : 0);
    printf("%s\n\n", o->b_count < of && o->b_count > 1 ? ", and again" : "");
    if (o->model == UNRELU_PLAN_GAUSSIAN) {
        print_limits(t, plan);
        if (o->b_count > 1)
            printf("\nb, scale and rho are those of the worst column or pair\n");
        printf("\nthe paper's bounds, delta = %g, kappa = %g\n\n", o->failure, o->kappa);
        print_bounds(t, plan);
        printf("\nerrors by the number of samples\n\n");
        print_errors(t, plan);
    } else {
        print_bounds(t, plan);
    }
    return 0;
}

static void put_count(cli_json *json, const char *key, double count)
{
    if (count < 0x1p53)
        cli_json_whole(json, key, (uint64_t)count);
    else
        cli_json_real(json, key, count);
}

static void put_bounds(cli_json *json, const unrelu_plan *plan)
{
    static const char *const constants[] = {"explicit", "open", "measured"};
    const unrelu_plan_bound *b;
    json_t *rows = json_array();
    for (size_t i = 0; (b = unrelu_plan_bound_at(plan, i)); i++) {
        cli_json row = {.object = json_object()};
        cli_json_text(&row, "name", b->name);
        cli_json_text(&row, "title", b->title);
        put_count(&row, "n", b->n);
        cli_json_text(&row, "role", b->role == UNRELU_BOUND_NEEDED ? "needed" : "enough");
        cli_json_text(&row, "constant", constants[b->constant]);
        cli_json_text(&row, "says", b->says);
        cli_json_text(&row, "assumes", b->assumes);
        cli_json_put(&row, "holds", json_boolean(b->holds));
        cli_json_text(&row, "because", b->because);
        cli_json_text(&row, "source", b->source);
        cli_json_append_object(json, rows, &row);
    }
    cli_json_put(json, "bounds", rows);
}

/* "samples" and "table" are those of the Cramer-Rao bound, and of Theorem 1 */
static void put_limits(cli_json *json, const unrelu_plan *plan)
{
    cli_json needs = {.object = json_object()};
    const unrelu_plan_bound *b;
    json_t *rows = json_array();
    for (size_t i = 0; (b = unrelu_plan_bound_at(plan, i)); i++)
        if (is_limit(b) || strcmp(b->name, "theorem-1") == 0)
            put_count(&needs, is_limit(b) ? b->name : "paper", b->n);
    json->failed |= needs.failed;
    cli_json_put(json, "samples", needs.object);
    for (int k = 0; k < TABLE_N; k++) {
        cli_json row = {.object = json_object()};
        put_count(&row, "n", table_n[k]);
        for (size_t i = 0; (b = unrelu_plan_bound_at(plan, i)); i++)
            if (is_limit(b))
                cli_json_real(&row, b->name, b->error_at_one / sqrt(table_n[k]));
        cli_json_append_object(json, rows, &row);
    }
    cli_json_put(json, "table", rows);
}

static int print_json(const unrelu_plan_options *o, const unrelu_plan *plan)
{
    cli_json json = cli_json_start("plan");
    cli_json_text(&json, "model", names[o->model]);
    if (o->d)
        cli_json_whole(&json, "d", o->d);
    if (o->model == UNRELU_PLAN_NETWORK)
        cli_json_whole(&json, "k", o->k);
    if (o->model == UNRELU_PLAN_MIXTURE)
        cli_json_whole(&json, "p", o->p);
    if (o->model == UNRELU_PLAN_GAUSSIAN)
        cli_json_real(&json, "error", o->error);
    cli_json_real(&json, "failure", o->failure);
    cli_json_real(&json, "kappa", o->kappa);
    cli_json_reals(&json, "b", o->b_count ? o->b : (const double[]){0},
                   o->b_count ? o->b_count : 1);
    if (o->model == UNRELU_PLAN_GAUSSIAN)
        put_limits(&json, plan);
    put_bounds(&json, plan);
    cli_json_put(&json, "warnings", json_array());
    return cli_json_finish(&json);
}

static int run(void *arguments)
{
    const plan_arguments *a = arguments;
    unrelu_plan_options o = a->options;
    CLI_SCOPE(free_plan) unrelu_plan *plan = NULL;
    int model = a->shared.file_count ? cli_word_index(kinds, a->shared.files[0]) : 0;
    if (model < 0)
        return cli_usage("plan: '%s' is not one of gaussian, network, mixture", a->shared.files[0]);
    o.model = (unrelu_plan_model)model;
    unrelu_error wrong = {0};
    if (a->b && unrelu_plan_options_set(&o, "b", a->b, &wrong) != UNRELU_OK)
        return cli_usage("--b%s", wrong.text + strlen("`b`"));
    CLI_CALL(unrelu_plan_make(&o, &plan, &err));
    return a->shared.json ? print_json(&o, plan) : print(&o, plan);
}

const cli_command cli_plan = {
    .name = "plan",
    .files = {"[gaussian|network|mixture]", 0, 1},
    .words = kinds,
    .brief = "Tell how many samples a wanted accuracy needs",
    .doc =
        "Every bound that is known for such a model, with what it assumes; where that does not "
        "hold (b < 0, say) there is the reason in place of a number. A constant that a theorem "
        "leaves open is taken as 1 and called a rate; beside it stands what was measured.\n\n"
        "gaussian (default): a rectified Gaussian x = ReLU(W z + b) with D columns that are not "
        "correlated: how many samples until the errors are E, where a method is as exact as the "
        "Cramer-Rao bound allows. 'unrelu fit' is, save at a few dozen samples, where columns are "
        "hardly ever positive, or where correlations are near 1. An error is a root mean square "
        "over repetitions: of b, scale and correlation that of one number, of err_b and err_Sigma "
        "that of the paper's measure of all of them, of TV an upper bound by the Kullback-Leibler "
        "divergence. Correlated columns need fewer samples for a correlation: its error falls "
        "with 1 - rho^2.\n\n"
        "network: to recover a = U f(V x + c) exactly from labels without noise: so many that "
        "every neuron is on in D samples (D + 1 with biases), what was enough in runs, and the "
        "least that any method needs where V has the condition number kappa.\n\n"
        "mixture: to recover A of x = A ReLU(W z + b) exactly, by facets and by separability, for "
        "units that are independent.",
    .options = options,
    .has = CLI_HAS_JSON,
    .examples = examples,
    .size = sizeof(plan_arguments),
    .start = start,
    .run = run,
};
