/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "censor.h"
#include "escape.h"
#include "flags.h"
#include "json.h"
#include "scope.h"
#include "show/model_text.h"
#include "width.h"
#include "words.h"

typedef struct {
    cli_shared shared;
    cli_limits limits;
} check_arguments;

static const cli_option options[] = {CLI_LIMIT_ROWS(check_arguments),
                                     CLI_READ_ROWS(check_arguments),
                                     CLI_SIGN_ROWS(check_arguments),
                                     {0}};

static const cli_example examples[] = {
    {"unrelu check rain.csv --columns seattle,new_york",
     "before a fit: what is off, and which transform may help"},
    {"unrelu check water.csv --columns copper,zinc --json",
     "metals in wells, cells such as <10; as JSON"},
    {0},
};

/* ---- what is right and what is not -------------------------------------------------- */

enum {
    MANY = 40,  /* columns from which on not all are shown, but */
    FIRST = 20, /* the first of them and */
    OTHERS = 20,
    NAMED = 6, /* columns in a sentence */
    VERDICT = 640,
    TRANSFORM = 32,
};

typedef struct {
    size_t d; /* columns of the samples */
    const unrelu_source *samples;
    unrelu_gaussian *model;          /* of those that can be fitted */
    double *ks, *ks_p, *ties;        /* d; one block of memory */
    unrelu_transform_advice *advice; /* d, then of all together */
    size_t *place;                   /* d: in the model; model.d where it was left out */
} findings;

static int is_fitted(const findings *f, size_t j)
{
    return f->place[j] < f->model->d;
}

static uint32_t flags_of(const findings *f, size_t j)
{
    return is_fitted(f, j) && f->model->flags ? f->model->flags[f->place[j]] : 0;
}

static unrelu_fit_word word_of(const findings *f, size_t j)
{
    double seen = is_fitted(f, j) ? f->model->positive[f->place[j]] : 0;
    return unrelu_fit_judge(f->ks[j], f->ks_p[j], seen, f->model->d);
}

static int is_judged(const findings *f, size_t j)
{
    return word_of(f, j) != UNRELU_FIT_UNKNOWN;
}

static int looks_wrong(const findings *f, size_t j)
{
    return word_of(f, j) == UNRELU_FIT_POOR;
}

/* under the transform for all columns, or as it is where that cannot be taken of it */
static int looks_wrong_under(const findings *f, size_t j)
{
    const unrelu_transform_advice *a = &f->advice[j];
    return isnan(a->shared_ks) ? looks_wrong(f, j)
                               : unrelu_fit_judge(a->shared_ks, a->shared_ks_p, (double)a->values,
                                                  f->model->d) == UNRELU_FIT_POOR;
}

/* under its own transform */
static const char *word_under_own(const findings *f, size_t j)
{
    const unrelu_transform_advice *a = &f->advice[j];
    return unrelu_fit_word_name(unrelu_fit_judge(a->ks, a->ks_p, (double)a->values, f->model->d));
}

/* "log", "boxcox:0.31"; "" where nothing can be said */
static const char *transform_of(const unrelu_transform_advice *advice, char *text)
{
    text[0] = '\0';
    if (advice->values == 0 || (isnan(advice->lambda) && isnan(advice->lost[0])))
        return text;
    if (advice->transform == UNRELU_TRANSFORM_BOXCOX && isfinite(advice->lambda))
        snprintf(text, TRANSFORM, "boxcox:%.2f", rint(100 * advice->lambda) / 100 + 0.0);
    else
        snprintf(text, TRANSFORM, "%s", unrelu_transform_name(advice->transform));
    return text;
}

/* ---- the sentence ------------------------------------------------------------------- */

/* What the transform for all columns does to them, which was tried. One is not advised under which
 * no fewer columns look wrong. */
static void add_advice(const findings *f, size_t wrong, char *text)
{
    char name[TRANSFORM];
    size_t still = 0, listed = 0;
    transform_of(&f->advice[f->d], name);
    for (size_t j = 0; j < f->d; j++)
        still += (size_t)looks_wrong_under(f, j);
    if (!*name || strcmp(name, "none") == 0 || (wrong == 0 && still > 0))
        return;
    if (still >= wrong && wrong > 0) {
        cli_append(text, VERDICT,
                   "; --transform %s is likelier, but under it %zu of %zu %s not either", name,
                   still, f->model->d, still == 1 ? "does" : "do");
        return;
    }
    cli_append(text, VERDICT, "; %s --transform %s%s", wrong ? "try" : "still,", name,
               !wrong             ? " fits better"
               : still            ? ", under which these still do not: "
               : f->model->d == 1 ? ", under which it does"
                                  : ", under which all do");
    for (size_t j = 0; j < f->d && still; j++)
        if (looks_wrong_under(f, j) && listed++ <= NAMED)
            cli_append(text, VERDICT, "%s%.40s", listed == 1 ? "" : ", ",
                       listed > NAMED ? "..." : unrelu_source_name(f->samples, j));
}

static const char *verdict_of(const findings *f, char *text)
{
    size_t wrong = 0, judged = 0, listed = 0;
    for (size_t j = 0; j < f->d; j++) {
        wrong += (size_t)looks_wrong(f, j);
        judged += (size_t)is_judged(f, j);
    }
    if (judged == 0)
        snprintf(text, VERDICT, "no column could be judged");
    else if (wrong > 0 && judged == 1)
        snprintf(text, VERDICT, "the column does not look like a rectified Gaussian");
    else if (wrong > 0)
        snprintf(text, VERDICT, "%zu of %zu columns %s not look like a rectified Gaussian", wrong,
                 judged, wrong == 1 ? "does" : "do");
    else
        snprintf(text, VERDICT, "%s like a rectified Gaussian",
                 judged == 1 ? "the column looks" : "all columns look");
    for (size_t j = 0; j < f->d; j++) {
        if (!looks_wrong(f, j) || listed++ > NAMED)
            continue;
        cli_append(text, VERDICT, "%s%.40s", listed == 1 ? ": " : ", ",
                   listed > NAMED ? "..." : unrelu_source_name(f->samples, j));
    }
    add_advice(f, wrong, text);
    return text;
}

/* ---- JSON ----------------------------------------------------------------------------- */

static json_t *text_or_null(const char *text)
{
    return *text ? json_string(text) : json_null();
}

static json_t *count_or_null(const findings *f, const double *values, size_t j)
{
    double value = values && is_fitted(f, j) ? values[f->place[j]] : NAN;
    return isfinite(value) ? json_integer((json_int_t)value) : json_null();
}

static int has_quantiles(const findings *f, size_t j)
{
    const unrelu_gaussian *m = f->model;
    return is_fitted(f, j) && m->median && m->quantiles && m->median_ci && m->quantiles_ci;
}

/* by the names and in the shapes that they have in the JSON of a fit; null where there is no fit */
static void put_quantiles(cli_json *one, const findings *f, size_t j)
{
    const unrelu_gaussian *m = f->model;
    size_t i = f->place[j];
    int has = has_quantiles(f, j);
    json_t *both = has ? json_array() : json_null();
    for (size_t k = 0; k < 2 && has; k++) {
        json_t *ci = json_array();
        cli_json_append(one, ci, cli_json_number(m->quantiles_ci[4 * i + 2 * k]));
        cli_json_append(one, ci, cli_json_number(m->quantiles_ci[4 * i + 2 * k + 1]));
        cli_json_append(one, both, ci);
    }
    cli_json_real(one, "median", has ? m->median[i] : NAN);
    cli_json_reals(one, "median_ci", has ? m->median_ci + 2 * i : NULL, 2);
    cli_json_reals(one, "quantiles", has ? m->quantiles + 2 * i : NULL, 2);
    cli_json_put(one, "quantiles_ci", both);
}

static int print_json(const findings *f, uint64_t seed)
{
    char transform[TRANSFORM], verdict[VERDICT];
    cli_json json = cli_json_start("check");
    json_t *columns = json_array();
    cli_json_whole(&json, "n", f->model->n);
    cli_json_whole(&json, "d", f->d);
    for (size_t j = 0; j < f->d; j++) {
        const unrelu_transform_advice *a = &f->advice[j];
        cli_json one = {.object = json_object()};
        cli_json_text(&one, "name", unrelu_source_name(f->samples, j));
        cli_json_put(&one, "fitted", json_boolean(is_fitted(f, j)));
        cli_json_put(&one, "observed", count_or_null(f, f->model->observed, j));
        cli_json_put(&one, "uncensored", count_or_null(f, f->model->positive, j));
        cli_json_real(&one, "ks", f->ks[j]);
        cli_json_real(&one, "ks_p", f->ks_p[j]);
        cli_json_real(&one, "ties", f->ties[j]);
        cli_json_put(&one, "fit", text_or_null(unrelu_fit_word_name(word_of(f, j))));
        cli_json_put(&one, "looks_right",
                     is_judged(f, j) ? json_boolean(!looks_wrong(f, j)) : json_null());
        cli_json_put(&one, "transform", text_or_null(transform_of(a, transform)));
        cli_json_real(&one, "lambda", a->lambda);
        cli_json_reals(&one, "lost", a->lost, 3);
        cli_json_real(&one, "transform_ks", a->ks);
        cli_json_real(&one, "transform_ks_p", a->ks_p);
        cli_json_put(&one, "transform_fit", text_or_null(word_under_own(f, j)));
        cli_json_real(&one, "shared_ks", a->shared_ks);
        cli_json_real(&one, "shared_ks_p", a->shared_ks_p);
        put_quantiles(&one, f, j);
        cli_json_put(&one, "flags", cli_json_codes(&json, flags_of(f, j)));
        cli_json_append_object(&json, columns, &one);
    }
    cli_json_put(&json, "columns", columns);
    cli_json_put(&json, "transform", text_or_null(transform_of(&f->advice[f->d], transform)));
    cli_json_text(&json, "verdict", verdict_of(f, verdict));
    cli_json_whole(&json, "seed", seed);
    cli_json_warnings(&json, f->model->warnings, f->model->warning_count);
    return cli_json_finish(&json);
}

/* ---- text ----------------------------------------------------------------------------- */

static void add_column(cli_table *table, const findings *f, size_t j)
{
    char transform[TRANSFORM], flags[CLI_TABLE_CELL];
    const char *wrong = isfinite(f->ks[j]) && !is_judged(f, j) ? "too few to judge"
                        : word_of(f, j) < UNRELU_FIT_SLIGHT    ? ""
                                                            : unrelu_fit_word_name(word_of(f, j));
    double share = is_fitted(f, j) ? cli_censored_share(f->model, f->place[j]) : NAN;
    transform_of(&f->advice[j], transform);
    cli_flag_names(flags_of(f, j), flags, sizeof flags);
    cli_table_add_name(table, unrelu_source_name(f->samples, j));
    cli_table_add_real(table, "%.1f %%", 100 * share);
    cli_table_add_real(table, "%.3f", f->ks[j]);
    cli_table_add_real(table, "%.3f", f->ks_p[j]);
    cli_table_add_real(table, "%.1f %%", 100 * f->ties[j]);
    const char *then = word_under_own(f, j);
    cli_table_add(table, "%s%s%s", *transform ? transform : "-", *then ? ": " : "", then);
    cli_table_add(table, "%s%s%s%s", is_fitted(f, j) ? "" : "cannot be fitted", wrong,
                  *wrong && *flags ? ", " : "", flags);
}

static void print_text(const findings *f)
{
    const unrelu_gaussian *m = f->model;
    cli_table table, quantiles;
    size_t shown = 0, others = 0, left_out = 0, answered = 0;
    char verdict[VERDICT];
    cli_print(
        "%zu rows, %zu column%s; KS is the largest distance of the distribution from the fitted "
        "one,\np the share of samples of the fitted one that are as far from theirs\n\n",
        m->n, f->d, cli_plural(f->d));
    cli_table_titles(&table, "column|censored|KS|p|ties|transform|remarks");
    cli_table_titles(&quantiles, "column|median|5 % quantile|95 % quantile");
    for (size_t j = 0; j < f->d; j++) {
        int stands_out = looks_wrong(f, j) || !is_fitted(f, j) || flags_of(f, j);
        if (f->d > MANY && j >= FIRST && !(stands_out && others++ < OTHERS))
            continue;
        shown++;
        add_column(&table, f, j);
        if (!has_quantiles(f, j))
            continue;
        answered++;
        cli_table_add_name(&quantiles, unrelu_source_name(f->samples, j));
        cli_table_add_real(&quantiles, "%.3g", m->median[f->place[j]]);
        cli_table_add_real(&quantiles, "%.3g", m->quantiles[2 * f->place[j]]);
        cli_table_add_real(&quantiles, "%.3g", m->quantiles[2 * f->place[j] + 1]);
    }
    cli_table_print(&table, "lrrrrll");
    if (shown < f->d)
        cli_print("  ... the first %d and some that stand out of %zu columns: --json has all\n",
                  FIRST, f->d);
    if (answered > 0) {
        cli_print("\nby a fit without a transform, before censoring\n");
        cli_table_print(&quantiles, "lrrr");
    }
    cli_print("\n%s\n", m->warning_count ? "a fit would warn:" : "a fit would not warn");
    for (size_t i = 0; i < m->warning_count; i++) {
        int column = cli_print("  %s: ", m->warnings[i].code);
        cli_print_wrapped(cli_flagged(m->warnings[i].message).text, column, 4);
    }
    while (left_out < f->d && is_fitted(f, left_out))
        left_out++;
    if (left_out < f->d)
        cli_print("a fit stops at column %s, which cannot be fitted, unless --drop leaves it out\n",
                  unrelu_source_name(f->samples, left_out));
    putchar('\n');
    cli_print_wrapped(verdict_of(f, verdict), 0, 0);
}

/* ---- what is found ---------------------------------------------------------------------- */

static void free_findings(findings *f)
{
    unrelu_gaussian_free(f->model);
    free(f->advice);
    free(f->place);
    free(f->ks);
}

static int run(void *arguments)
{
    const check_arguments *a = arguments;
    unrelu_exec exec = cli_exec(&a->shared);
    unrelu_goodness_options with = {.size = sizeof with, .seed = a->shared.seed};
    unrelu_gaussian_options o;
    CLI_SCOPE(cli_close_limited) cli_limited s = {0};
    CLI_SCOPE(free_findings) findings f = {0};
    CLI_TRY(cli_open_limited(&a->shared, a->shared.files[0], &a->limits, 0, NULL, &s));
    f.samples = s.source;
    f.d = unrelu_source_columns(s.source);
    f.advice = calloc(f.d + 1, sizeof *f.advice);
    f.place = calloc(f.d, sizeof *f.place);
    f.ks = calloc(f.d, 3 * sizeof *f.ks);
    if (!f.advice || !f.place || !f.ks)
        return cli_no_memory();
    f.ks_p = f.ks + f.d;
    f.ties = f.ks_p + f.d;
    unrelu_gaussian_options_init(&o, sizeof o);
    o.drop = 1;
    o.limit = s.limit;
    o.limits = s.limits;
    CLI_CALL(unrelu_gaussian_fit(s.source, &o, &exec, &f.model, &err));
    CLI_CALL(unrelu_transform_suggest(s.source, s.limit, s.limits, &exec, f.advice, &err));
    with.limit = s.limit;
    with.limits = s.limits;
    CLI_CALL(unrelu_columns_distance(s.source, &with, &exec, f.ks, f.ks_p, f.ties, &err));
    /* the model's columns are those of the samples in their order, but for some */
    const unrelu_gaussian *m = f.model;
    for (size_t j = 0, i = 0; j < f.d; j++) {
        int found = i < m->d && (m->d - i == f.d - j || !m->names ||
                                 strcmp(m->names[i], unrelu_source_name(f.samples, j)) == 0);
        f.place[j] = found ? i++ : m->d;
    }
    if (a->shared.json)
        return print_json(&f, a->shared.seed);
    print_text(&f);
    return 0;
}

const cli_command cli_check = {
    .name = "check",
    .files = {"SAMPLES", 1, 1},
    .brief = "Look at samples before a fit: what is off, and which transform may help",
    .doc =
        "SAMPLES is what 'unrelu fit' takes. Each column is fitted, and compared with what was "
        "fitted: the Kolmogorov-Smirnov distance of the two distributions, over all values that "
        "were "
        "seen (where cells have limits of their own, by the reversed Kaplan-Meier estimate), "
        "with the share p of samples of the fitted one that are as far from a fit of their own, "
        "and the share of values that occur again. Values that are rounded to a unit are compared "
        "at "
        "the edges of their rounding alone, and so are those of the samples behind p. Values that "
        "pile up at the largest one or at "
        "another, few different ones, rounding and values far out are named with numbers, of at "
        "most 1024 rows, evenly spread. "
        "Where p "
        "is below 0.05 / columns (at least 0.002), a fit is slight at a distance below 0.05 - with "
        "many samples far smaller ones are found, and do no harm - and poor at a larger one; else "
        "it is good, but of fewer than 10 values seen, which cannot tell.\n\nThe "
        "transform is the plainest of none, sqrt, log and Box-Cox that the likelihood does not "
        "speak against (at a level of 1 %); a value of 0 counts as below the smallest one "
        "there. At most 20000 rows enter that. What is advised was tried: behind it stands how the "
        "column fits then, and a transform for all columns is named where fewer look wrong under "
        "it. "
        "The power of Box-Cox is the one that 'unrelu fit' estimates.\n\nMedian, 5 and 95 % "
        "quantile "
        "are those of a fit without a transform, before censoring: of a column that fits poorly "
        "they "
        "are no better than that fit.\n\nThe status is 0 also "
        "where columns fit "
        "poorly, and 4 where nothing can be fitted.",
    .options = options,
    .has = CLI_HAS_SEED | CLI_HAS_THREADS | CLI_HAS_COLUMNS | CLI_HAS_JSON,
    .examples = examples,
    .size = sizeof(check_arguments),
    .run = run,
};
