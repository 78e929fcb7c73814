/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "censor.h"
#include "json.h"
#include "scope.h"
#include "show/check.h"

typedef struct {
    cli_shared shared;
    cli_limits limits;
} check_arguments;

static const cli_option options[] = {CLI_LIMIT_ROWS(check_arguments), {0}};

static const cli_example examples[] = {
    {"unrelu check samples.csv", "before a fit: what is off, and which transform may help"},
    {"unrelu check lab.csv --columns lead,zinc --limit lead=0.5", "two columns of a laboratory"},
    {0},
};

/* ---- JSON ----------------------------------------------------------------------------- */

static json_t *text_or_null(const char *text)
{
    return *text ? json_string(text) : json_null();
}

static json_t *count_or_null(double value)
{
    return isfinite(value) ? json_integer((json_int_t)value) : json_null();
}

static json_t *column_of(cli_json *json, const cli_check_findings *f, size_t j)
{
    const unrelu_transform_advice *a = &f->advice[j];
    cli_look look = cli_check_look(f, j);
    int flagged = f->place[j] < f->model.d && f->model.flags;
    char transform[32];
    cli_json one = {.object = json_object()};
    cli_check_transform(a, transform, sizeof transform);
    cli_json_text(&one, "name", unrelu_source_name(f->samples, j));
    cli_json_put(&one, "fitted", json_boolean(f->place[j] < f->model.d));
    cli_json_put(&one, "observed", count_or_null(cli_check_value(f, f->model.observed, j)));
    cli_json_put(&one, "uncensored", count_or_null(cli_check_value(f, f->model.positive, j)));
    cli_json_real(&one, "ks", f->ks[j]);
    cli_json_real(&one, "ks_p", f->ks_p[j]);
    cli_json_real(&one, "ties", f->ties[j]);
    cli_json_put(&one, "looks_right",
                 look == CLI_NOT_JUDGED ? json_null() : json_boolean(look == CLI_LOOKS_RIGHT));
    cli_json_put(&one, "transform", text_or_null(transform));
    cli_json_real(&one, "lambda", a->lambda);
    cli_json_reals(&one, "lost", a->lost, 3);
    cli_json_put(&one, "flags", cli_json_codes(json, flagged ? f->model.flags[f->place[j]] : 0));
    json->failed |= one.failed;
    return one.object;
}

static int print_json(const cli_check_findings *f, uint64_t seed)
{
    char transform[32], verdict[640];
    cli_json json = cli_json_start("check");
    json_t *columns = json_array();
    cli_json_whole(&json, "n", f->model.n);
    cli_json_whole(&json, "d", f->d);
    for (size_t j = 0; j < f->d; j++)
        cli_json_append(&json, columns, column_of(&json, f, j));
    cli_json_put(&json, "columns", columns);
    cli_check_transform(&f->advice[f->d], transform, sizeof transform);
    cli_json_put(&json, "transform", text_or_null(transform));
    cli_check_verdict(f, verdict, sizeof verdict);
    cli_json_text(&json, "verdict", verdict);
    cli_json_whole(&json, "seed", seed);
    cli_json_warnings(&json, f->model.warnings, f->model.warning_count);
    return cli_json_finish(&json);
}

/* ---- what is found ---------------------------------------------------------------------- */

static void free_findings(cli_check_findings *f)
{
    unrelu_gaussian_free(&f->model);
    free(f->advice);
    free(f->place);
    free(f->ks);
}

static int find(const check_arguments *a, const cli_limited *s, cli_check_findings *f)
{
    unrelu_exec exec = cli_exec(&a->shared);
    unrelu_goodness_options with = {.size = sizeof with, .seed = a->shared.seed};
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    o.drop = 1;
    o.limit = s->limit;
    o.limits = s->limits;
    f->advice = calloc(f->d + 1, sizeof *f->advice);
    f->place = calloc(f->d, sizeof *f->place);
    f->ks = calloc(f->d, 3 * sizeof *f->ks);
    if (!f->advice || !f->place || !f->ks)
        return cli_no_memory();
    f->ks_p = f->ks + f->d;
    f->ties = f->ks_p + f->d;
    CLI_CALL(unrelu_gaussian_fit(s->source, &o, &exec, &f->model, &err));
    CLI_CALL(unrelu_transform_suggest(s->source, s->limit, s->limits, &exec, f->advice, &err));
    CLI_CALL(unrelu_columns_distance(s->source, s->limit, s->limits, &with, &exec, f->ks, f->ks_p,
                                     f->ties, &err));
    /* the model's columns are those of the samples in their order, but for some */
    const unrelu_gaussian *m = &f->model;
    for (size_t j = 0, i = 0; j < f->d; j++) {
        int found = i < m->d && (m->d - i == f->d - j || !m->names ||
                                 strcmp(m->names[i], unrelu_source_name(f->samples, j)) == 0);
        f->place[j] = found ? i++ : m->d;
    }
    return 0;
}

static int run(void *arguments)
{
    const check_arguments *a = arguments;
    CLI_SCOPE(cli_close_limited) cli_limited samples = {0};
    CLI_SCOPE(free_findings) cli_check_findings f = {0};
    CLI_TRY(cli_open_limited(&a->shared, a->shared.files[0], &a->limits, 0, &samples));
    f.samples = samples.source;
    f.d = unrelu_source_columns(samples.source);
    CLI_TRY(find(a, &samples, &f));
    if (a->shared.json)
        return print_json(&f, a->shared.seed);
    cli_print_check(&f);
    return 0;
}

const cli_command cli_check = {
    .name = "check",
    .files = "SAMPLES",
    .brief = "Look at samples before a fit: what is off, and which transform may help",
    .doc =
        "SAMPLES is what 'unrelu fit' takes. Each column is fitted, and compared with what was "
        "fitted: the Kolmogorov-Smirnov distance of the two distributions, above the limit, with "
        "the share p of samples of the fitted one that are as far from a fit of their own, and "
        "the share of values that occur again (rounded values, codes for something else). A column "
        "looks wrong where p is below 0.05 / columns (at least 0.002) and the distance at least "
        "0.02: with many samples far smaller ones are found, and do no harm.\n\nThe transform is "
        "the plainest of none, sqrt, log and Box-Cox that the likelihood does not speak against "
        "(at a level of 1 %); a value of 0 counts as below the smallest one there. At most 20000 "
        "rows enter that.\n\nThe status is 0 also where columns look wrong, and 4 where nothing "
        "can be fitted.",
    .options = options,
    .has = CLI_HAS_SEED | CLI_HAS_THREADS | CLI_HAS_COLUMNS | CLI_HAS_JSON,
    .examples = examples,
    .least_files = 1,
    .most_files = 1,
    .size = sizeof(check_arguments),
    .run = run,
};
