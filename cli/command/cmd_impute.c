/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "censor.h"
#include "files.h"
#include "json.h"
#include "scope.h"
#include "show/models.h"
#include "spreadsheet.h"

typedef struct {
    cli_shared shared;
    size_t draws;
    int median, fixed_parameters;
    int spreadsheet_safe;
    cli_limits limits;
} impute_arguments;

#define TO(kind, field) CLI_TO(kind, impute_arguments, field)

static const cli_option options[] = {
    {"output", 'o', "FILE", "write to FILE: .npy, .csv or .tsv, or - for CSV on standard output",
     TO(CLI_TEXT, shared.output)},
    {"draws", 0, "M",
     "in place of conditional means, M draws of every hidden cell from its conditional law: M "
     "times the rows of SAMPLES, draw after draw; in CSV after columns .imp, the number of the "
     "draw, and .id, that of the row",
     CLI_WHOLE, offsetof(impute_arguments, draws), 1, 0x1p31, "a whole number of at least 1"},
    {"median", 0, NULL, "conditional medians in place of conditional means", TO(CLI_FLAG, median)},
    {"fixed-parameters", 0, NULL,
     "draws by the model as it stands; else b, scale and correlation are drawn from their errors "
     "before each of them",
     TO(CLI_FLAG, fixed_parameters)},
    CLI_SPREADSHEET_ROW(impute_arguments, spreadsheet_safe),
    CLI_LIMIT_ROWS(impute_arguments),
    CLI_READ_ROWS(impute_arguments),
    {0},
};

static const cli_example examples[] = {
    {"unrelu fit water.csv --columns copper,zinc --transform log -o water.npz",
     "the model that tells what is likely"},
    {"unrelu impute water.npz water.csv -o filled.csv",
     "conditional means in place of cells such as <10, and of missing ones"},
    {"unrelu impute water.npz water.csv --draws 20 -o i.csv",
     "twenty completed tables, one below the other"},
    {0},
};

static int impute(const impute_arguments *a, const unrelu_gaussian *model,
                  unrelu_impute_report *report)
{
    CLI_SCOPE(cli_close_limited) cli_limited samples = {0};
    unrelu_exec exec = cli_exec(&a->shared);
    enum { MORE_THAN_ONCE = 0 }; /* what is passed on is read by itself */
    CLI_TRY(cli_open_limited(&a->shared, a->shared.files[1], &a->limits, MORE_THAN_ONCE, model,
                             &samples));
    unrelu_impute_options o = {.size = sizeof o,
                               .draws = a->draws,
                               .limit = samples.limit,
                               .limits = samples.limits,
                               .seed = a->shared.seed,
                               .spreadsheet_safe = a->spreadsheet_safe,
                               .median = a->median,
                               .fixed_parameters = a->fixed_parameters};
    CLI_CALL(
        unrelu_gaussian_impute(model, samples.source, &o, a->shared.output, &exec, report, &err));
    return 0;
}

/* Which columns the fit found not to follow its law: what is filled in there follows it none the
 * less. text is room for the sentence; 0: there are none. */
static size_t warn_of_misfit(const unrelu_gaussian *m, char *text, size_t size, unrelu_warning *out)
{
    size_t count = 0, first = 0;
    for (size_t j = m->flags ? m->d : 0; j-- > 0;)
        if (m->flags[j] & UNRELU_FLAG_MISFIT) {
            count++;
            first = j;
        }
    snprintf(text, size,
             "%zu column%s of the model (%.60s%s) did not fit its law: values that are filled in "
             "follow the model, not the data; fit them with another `transform`",
             count, count == 1 ? "" : "s", m->names ? m->names[first] : "",
             count > 1 ? ", ..." : "");
    *out = (unrelu_warning){"misfit", text};
    return count > 0;
}

static int run(void *arguments)
{
    const impute_arguments *a = arguments;
    const cli_shared *shared = &a->shared;
    CLI_SCOPE(cli_free_model) cli_model loaded = {0};
    unrelu_impute_report report;
    CLI_TRY(cli_require_output("impute", shared, "the filled samples go"));
    CLI_TRY(cli_check_output(shared, NULL));
    if (a->limits.file && strcmp(a->limits.file, shared->output) == 0)
        return cli_usage("-o %s is the file of limits, which would be lost: give another name",
                         shared->output);
    int printed = strcmp(shared->output, "-") == 0;
    if (shared->json && printed)
        return cli_usage(
            "impute: --json and the samples cannot both go to standard output: give -o a file");
    CLI_TRY(cli_load_model(shared->files[0], 1U << CLI_GAUSSIAN, &loaded));
    CLI_TRY(impute(a, loaded.gaussian, &report));
    char misfit[320];
    unrelu_warning warning;
    size_t warnings = warn_of_misfit(loaded.gaussian, misfit, sizeof misfit, &warning);
    cli_tell_warnings(&warning, warnings);
    if (shared->json) {
        cli_json json = cli_json_start("impute");
        cli_json_whole(&json, "n", report.rows);
        cli_json_whole(&json, "d", loaded.gaussian->d);
        cli_json_text(&json, "method", a->draws ? "draws" : a->median ? "median" : "mean");
        cli_json_whole(&json, "draws", a->draws);
        cli_json_whole(&json, "censored", report.censored);
        cli_json_whole(&json, "missing", report.missing);
        cli_json_whole(&json, "rows", report.written);
        cli_json_whole(&json, "seed", a->shared.seed);
        cli_json_text(&json, "output", a->shared.output);
        cli_json_warnings(&json, &warning, warnings);
        return cli_json_finish(&json);
    }
    char how[64];
    snprintf(how, sizeof how, "conditional %s", a->median ? "medians" : "means");
    if (a->draws)
        snprintf(how, sizeof how, "%zu draws of %zu rows", a->draws, report.rows);
    cli_note("%zu of %zu cells are censored, and %zu missing", report.censored,
             report.rows * loaded.gaussian->d, report.missing);
    size_t d = loaded.gaussian->d;
    cli_note("%s: %zu rows of %zu column%s, %s, seed %llu",
             printed ? "standard output" : shared->output, report.written, d, d == 1 ? "" : "s",
             how, (unsigned long long)shared->seed);
    return 0;
}

const cli_command cli_impute = {
    .name = "impute",
    .files = {"MODEL SAMPLES", 2, 2},
    .brief = "Fill the values that the rectifier or a detection limit hid, and missing ones",
    .doc =
        "MODEL is a rectified Gaussian, SAMPLES has its columns, by name or in its order. A "
        "cell at or below the limit of the model (0 unless it was fitted with --censor-at), a "
        "cell '<0.25', or 'ND' with --limit is below a limit, '>900' above one, '0.2..0.5' "
        "between two; an empty cell, NA or NaN is missing. All these become their conditional "
        "means given the cells of the row that were seen, and given that the others lie within "
        "their limits; all else stays as it is, bit for bit. Of a CSV file that has more columns "
        "than the model those of the model are found by their names, and the others are passed "
        "on to a CSV file as they are written.\n\nWhat is filled in for a cell "
        "below its limit is the value before the "
        "rectifier, W z + b: it lies below the limit, and below 0 where the limit is 0. Means "
        "are in the unit of the data, also of a model with --transform, where --median gives "
        "what lies in the middle (under log the geometric mean, if nothing cuts "
        "it).\n\nMeans vary less than values do: for a variance "
        "or a correlation of the filled table take --draws and average over the tables. What is "
        "computed of M such tables has an interval by Rubin's rules, the error of the model "
        "included.",
    .options = options,
    .has = CLI_HAS_SEED | CLI_HAS_THREADS | CLI_HAS_COLUMNS | CLI_HAS_JSON,
    .examples = examples,
    .size = sizeof(impute_arguments),
    .run = run,
};
