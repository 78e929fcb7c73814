/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "censor.h"
#include "files.h"
#include "scope.h"
#include "show/models.h"
#include "team.h"

typedef struct {
    cli_shared shared;
    unrelu_gaussian_options options;
    int paper, judge;
    int norms, angles, steps, activation; /* how often said */
    const char *censor_at, *transform, *exceed, *correlations;
    cli_limits limits;
} fit_arguments;

#define TO(kind, field) CLI_TO(kind, fit_arguments, field)

static const cli_option options[] = {
    {"output", 'o', "FILE", "write the model to FILE (.npz)", TO(CLI_TEXT, shared.output)},
    {"exceed", 0, "NAME=V[,NAME=V...]",
     "also give the share of values above V in column NAME, before censoring, with its interval; V "
     "alone: in every column",
     TO(CLI_TEXT, exceed)},
    {"correlations", 0, "all|N|matrix",
     "which correlations are printed: every pair, the N strongest (default 10), or all as a "
     "matrix; "
     "--json has all of them",
     TO(CLI_TEXT, correlations)},
    {.doc = "Method:", .kind = CLI_HEADING},
    {"method", 0, "efficient|paper",
     "efficient (default): --norms censored --angles h6, one pass, any sign of b; paper: --norms "
     "sgd --angles signs, the published algorithm to the letter, b >= 0 and no repair",
     TO(CLI_CHOICE, paper)},
    {"norms", 0, "censored|truncated|median|sgd",
     "how b and the scale of each column are learned: by the likelihood with the count of zeros, "
     "by that of the positive values alone, by the median (b >= 0), by projected gradient steps",
     TO(CLI_LIBRARY, norms)},
    {"angles", 0, "h6|signs|likelihood",
     "how the correlation of each pair is learned: by six statistics of one pass, by counting in a "
     "second pass how often both exceed b, or by the exact likelihood of the pair, in memory",
     TO(CLI_LIBRARY, angles)},
    {"rank", 0, "K|auto",
     "also give the eigenvalues of Sigma with their errors, and W with K columns in the model that "
     "-o writes; auto finds how many the data tell from 0",
     CLI_TO_LIBRARY},
    {"errors", 0, "auto|model|robust|bootstrap[:N]|cluster:NAME",
     "which standard errors: model, those of the normal law; robust, those that hold whatever the "
     "law (the sandwich; a second pass over the file); bootstrap, the deviations of N fits "
     "(default 200) to rows drawn again, for every method; cluster, the sandwich for rows that "
     "belong together where they say the same in column NAME (both hold the file in memory); auto "
     "(default): robust in a fit cell by cell (--angles likelihood and all that needs it), model "
     "in a fit of one pass",
     CLI_TO_LIBRARY},
    {"judge", 0, NULL,
     "also say how well each column fits, good, slight or poor, as 'unrelu check' does (a second "
     "pass, and a simulation)",
     TO(CLI_FLAG, judge)},
    {"precision", 0, "auto|double|single",
     "arithmetic inside a block of rows; sums over blocks are in double (default auto: single from "
     "96 columns on)",
     CLI_TO_LIBRARY},
    {.doc = "Data:", .kind = CLI_HEADING},
    {"censor-at", 0, "T[,T...]",
     "values at or below T are censored, in place of 0: one T, or one for each column (for cells "
     "below a detection limit, write 0 into the file and give the limit here)",
     TO(CLI_TEXT, censor_at)},
    {"limit", 0, "NAME=V",
     "cells 'ND' and 0 of column NAME are below the detection limit V; may be given again",
     TO(CLI_LIST, limits.named)},
    {"limits", 0, "FILE",
     "the detection limit of each such cell at its place in FILE, which has the rows and columns "
     "of SAMPLES; an empty cell has none, and takes that of --limit",
     TO(CLI_TEXT, limits.file)},
    CLI_READ_ROWS(fit_arguments),
    CLI_SIGN_ROWS(fit_arguments),
    {"transform", 0, "none|sqrt|log|boxcox|boxcox:L",
     "the values, transformed, are normal: by the square root, the logarithm, or (x^L - 1) / L "
     "with L as given or, for boxcox, estimated for each column; the model is of transformed "
     "values, medians and quantiles are given in the data's",
     TO(CLI_TEXT, transform)},
    {"activation", 0, "leaky:S|sigmoid",
     "samples are f(W z + b) of this invertible f in place of the ReLU: it is undone, and what is "
     "left has a plain mean and covariance; values may have any sign",
     TO(CLI_LIBRARY, activation)},
    {"additive-noise", 0, "SD|auto",
     "normal noise was added after the rectifier: take it out (auto: its size is learned from the "
     "negative values)",
     CLI_TO_LIBRARY},
    {"robust", 0, NULL, "leave out rows with gross outliers", TO(CLI_FLAG, options.robust)},
    {"drop", 0, NULL, "leave out columns that cannot be fitted, in place of stopping",
     TO(CLI_FLAG, options.drop)},
    {.doc = "For --norms sgd:", .kind = CLI_HEADING},
    {"batches", 0, "B", "batches of which the central answer is taken (default 1)",
     TO(CLI_LIBRARY, steps)},
    {"radius", 0, "R", "radius of the set that steps are projected on (default 3)",
     TO(CLI_LIBRARY, steps)},
    {"lambda", 0, "L", "the t-th step has length 1 / (L t) (default 0.1)", TO(CLI_LIBRARY, steps)},
    {"minibatch", 0, "M", "samples in one gradient (default 10)", TO(CLI_LIBRARY, steps)},
    {0},
};

static const cli_example examples[] = {
    {"unrelu fit water.csv --columns copper,zinc --transform log -o water.npz",
     "metals in wells, cells such as <10: lognormal values"},
    {"unrelu fit rain.csv --columns seattle,new_york --transform boxcox",
     "rain, where zeros are censored at 0"},
    {"unrelu generate gaussian -d 5 -n 20000 -o plant", "samples to try the rest on"},
    {"unrelu fit plant/x.npy --rank auto --json", "also how many latent dimensions, as JSON"},
    {"unrelu fit plant/x.npy --method paper --seed 7", "the published algorithm"},
    {"unrelu fit leaky.csv --activation leaky:0.1", "samples of leaky ReLUs, which hide nothing"},
    {0},
};

/* ---- from arguments to options of the library --------------------------------------- */

static void start(void *arguments)
{
    fit_arguments *a = arguments;
    unrelu_gaussian_options_init(&a->options, sizeof a->options);
}

static unrelu_status set(void *arguments, const char *name, const char *value, unrelu_error *err)
{
    return unrelu_gaussian_options_set(&((fit_arguments *)arguments)->options, name, value, err);
}

/* "log", "boxcox:0.3" */
static int parse_transform(const char *text, unrelu_gaussian_options *o)
{
    static const char with[] = "boxcox:";
    if (!text)
        return 0;
    o->transform = UNRELU_TRANSFORM_NONE;
    o->boxcox = NAN;
    if (strncmp(text, with, sizeof with - 1) == 0) {
        o->transform = UNRELU_TRANSFORM_BOXCOX;
        return cli_parse_real("--transform boxcox", text + sizeof with - 1, -10, 10,
                              "a number from -10 to 10", &o->boxcox);
    }
    for (; strcmp(unrelu_transform_name(o->transform), text) != 0; ++o->transform)
        if (o->transform == UNRELU_TRANSFORM_BOXCOX)
            return cli_usage("--transform: '%s' is not one of none, sqrt, log, boxcox, boxcox:L",
                             text);
    return 0;
}

/* the list of all columns but one */
static int leave_out(const char *column, char **list)
{
    size_t digits = strspn(column, "0123456789");
    const char *quote = column[digits] ? "\"" : "";
    return asprintf(list, "^%s%s%s", quote, column, quote) < 0 ? cli_no_memory() : 0;
}

/* limits and except receive memory that the options borrow */
static int fill_options(fit_arguments *a, double **limits, char **except)
{
    unrelu_gaussian_options *o = &a->options;
    o->literal = a->paper;
    if (a->paper && !a->norms)
        o->norms = UNRELU_NORMS_SGD;
    if (a->paper && !a->angles)
        o->angles = UNRELU_ANGLES_SIGNS;
    o->seed = a->shared.seed;
    if (a->transform && a->activation)
        return cli_usage("fit: --transform and --activation do not go together: values that an "
                         "activation gave are normal once it is undone");
    CLI_TRY(parse_transform(a->transform, o));
    CLI_TRY(cli_parse_limits(a->censor_at, limits, &o->censor_count));
    o->censor_at = *limits;
    if (a->limits.file && strcmp(a->limits.file, "-") == 0 && strcmp(a->shared.files[0], "-") == 0)
        return cli_usage("fit: SAMPLES and --limits cannot both be standard input");
    if (o->cluster && !a->shared.columns) /* what tells clusters apart is no sample */
        CLI_TRY(leave_out(o->cluster, except));
    if (*except)
        a->shared.columns = *except;
    if (a->steps && o->norms != UNRELU_NORMS_SGD)
        return cli_usage("fit: --batches, --radius, --lambda and --minibatch are for --norms sgd, "
                         "and this fit does not use it");
    return 0;
}

/* ---- the fit ----------------------------------------------------------------------- */

static int fit_summary(const fit_arguments *a, unrelu_gaussian **model)
{
    CLI_SCOPE(cli_free_summary) unrelu_summary *summary = NULL;
    unrelu_exec exec = cli_exec(&a->shared);
    const char *path = a->shared.files[0];
    const unrelu_gaussian_options *o = &a->options;
    const struct { /* what needs the samples themselves */
        int asked;
        const char *option;
    } table[] = {
        {o->literal, "--method paper"},
        {o->norms == UNRELU_NORMS_SGD, "--norms sgd"},
        {o->norms == UNRELU_NORMS_MEDIAN, "--norms median"},
        {o->angles == UNRELU_ANGLES_SIGNS, "--angles signs"},
        {o->angles == UNRELU_ANGLES_LIKELIHOOD, "--angles likelihood"},
        {a->limits.named != NULL, "--limit"},
        {a->limits.file != NULL, "--limits"},
        {o->transform != UNRELU_TRANSFORM_NONE && !a->activation, "--transform"},
        {o->additive_noise != 0, "--additive-noise"},
        {o->robust, "--robust"},
        {a->judge, "--judge"},
        {a->censor_at != NULL, "--censor-at"},
        {a->shared.columns != NULL, "--columns"},
        {a->limits.indicator != NULL, "--indicator"},
        {a->limits.uncensored != NULL, "--uncensored"},
        {a->limits.top != NULL, "--top"},
        {a->limits.na != NULL, "--na"},
        {a->limits.complete, "--complete"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].asked)
            return cli_usage("%s is a summary, and %s needs the samples themselves: fit those",
                             path, table[i].option);
    if (cli_team_shares())
        return cli_usage("%s is a summary, which has no rows to share among ranks: fit it with "
                         "'unrelu'",
                         path);
    if (a->shared.file_count > 1)
        return cli_usage("%s is a summary, and %s is given too: make one of summaries with "
                         "'unrelu merge', and fit that",
                         path, a->shared.files[1]);
    CLI_CALL(unrelu_summary_load(path, &summary, &err));
    CLI_CALL(unrelu_gaussian_fit_summary(summary, o, &exec, model, &err));
    return 0;
}

static int fit_samples(const fit_arguments *a, unrelu_gaussian **model)
{
    enum { ONCE = 0 }; /* cells such as <0.25 ask for more */
    CLI_SCOPE(cli_close_limited) cli_limited samples = {0};
    unrelu_exec exec = cli_exec(&a->shared);
    unrelu_gaussian_options with = a->options;
    CLI_TRY(cli_open_limited(&a->shared, a->shared.files[0], &a->limits, ONCE, NULL, &samples));
    with.limit = samples.limit;
    with.limits = samples.limits;
    CLI_CALL(unrelu_gaussian_fit(samples.source, &with, &exec, model, &err));
    if (cli_team_shares())
        cli_note("ranks do not look at single values: no column is judged for misfit, heavy tails, "
                 "rounding or repeated values; 'unrelu fit' on some of the rows does it");
    const unrelu_goodness_options how = {.size = sizeof how,
                                         .limit = samples.limit,
                                         .limits = samples.limits,
                                         .seed = a->shared.seed};
    if (a->judge)
        CLI_CALL(unrelu_gaussian_judge(*model, samples.source, &how, &exec, &err));
    return 0;
}

/* What the library would refuse only after a pass, or not know of. */
static int refuse_ranks(const fit_arguments *a)
{
    static const char all[] = "all rows in one place";
    if (a->judge)
        CLI_TRY(cli_team_refuse("fit --judge", all));
    if (a->limits.named || a->limits.file)
        CLI_TRY(cli_team_refuse("a fit with limits of cells (--limit, --limits)", all));
    return 0;
}

static int run(void *arguments)
{
    fit_arguments *a = arguments;
    CLI_MEMORY double *limits = NULL;
    CLI_MEMORY char *except = NULL;
    CLI_SCOPE(cli_free_model) cli_model model = {.kind = CLI_GAUSSIAN};
    CLI_SCOPE(cli_free_exceedances) cli_exceedances exceed = {0};
    cli_shown_pairs pairs;
    char kind[64] = "";
    CLI_TRY(cli_parse_pairs(a->correlations, &pairs));
    CLI_TRY(fill_options(a, &limits, &except));
    CLI_TRY(cli_check_output(&a->shared, ".npz"));
    CLI_TRY(cli_spare_input(&a->shared, a->limits.file));
    CLI_TRY(refuse_ranks(a));
    CLI_CALL(unrelu_file_kind(a->shared.files[0], kind, sizeof kind, &err));
    CLI_TRY((strcmp(kind, "summary") == 0 ? fit_summary : fit_samples)(a, &model.gaussian));
    CLI_TRY(cli_exceed(model.gaussian, a->exceed, a->shared.level, &exceed));
    CLI_TRY(cli_save_model(&model, a->shared.output)); /* its intervals are of 95 % */
    CLI_CALL(unrelu_gaussian_answer(model.gaussian, a->shared.level, &err));
    cli_tell_model(&model);
    return cli_print_gaussian_model("fit", &a->shared, &model, "fitted", &exceed, &pairs);
}

const cli_command cli_fit = {
    .name = "fit",
    .files = {"SAMPLES", 1, 1},
    .brief = "Learn the Gaussian behind rectified samples",
    .doc = "SAMPLES holds one sample of x = ReLU(W z + b), z standard normal, in each row: a .npy "
           "file, .npz or .npz:NAME, .csv or .tsv (also .gz), or - for CSV on standard input. "
           "Empty cells, NA and NaN are missing values. A cell such as <0.25 is below that "
           "detection limit, >900 above a limit, 0.2..0.5 between two, ND and 0 below the one that "
           "--limit or --limits gives; such data, and "
           "those of --transform, are held in memory and fitted by the exact likelihood of cells "
           "and pairs. A summary made by 'unrelu summarize' or 'unrelu merge' stands for the "
           "samples it was made from.\n\nWhat is learned is b, the scale of each column (the row "
           "norms of W) and their correlations, that is Sigma = W W', all with standard errors. "
           "What is off is flagged, and said on standard error.",
    .options = options,
    .has = CLI_HAS_SEED | CLI_HAS_THREADS | CLI_HAS_LEVEL | CLI_HAS_COLUMNS | CLI_HAS_JSON |
           CLI_HAS_RANKS | CLI_HAS_SHARDS,
    .examples = examples,
    .size = sizeof(fit_arguments),
    .start = start,
    .set = set,
    .run = run,
};
