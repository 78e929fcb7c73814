/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdio.h>

#include "files.h"
#include "json.h"
#include "reproduce/study.h"
#include "scope.h"
#include "words.h"

typedef struct {
    cli_shared shared;
    size_t runs; /* 0: not said */
    int quick, restart;
} reproduce_arguments;

#define FIELD(name)     offsetof(reproduce_arguments, name)
#define TO(kind, field) CLI_TO(kind, reproduce_arguments, field)

static const cli_option options[] = {
    {"output", 'o', "DIR",
     "write NAME.csv, NAME.json and NAME.html, NAME being figure1 or two-layer, to the folder DIR, "
     "made if missing; the points that a NAME.csv there holds already are not run again",
     TO(CLI_TEXT, shared.output)},
    {"runs", 0, "R",
     "runs of every point (default: 10 of figure1, 20 of two-layer; with --quick 2 and 3)",
     CLI_WHOLE, FIELD(runs), 1, STUDY_MOST_RUNS, "a whole number from 1 to 999"},
    {"quick", 0, NULL, "a few small points, in some seconds", TO(CLI_FLAG, quick)},
    {"restart", 0, NULL, "run all points again, whatever DIR holds", TO(CLI_FLAG, restart)},
    {0},
};

static const cli_example examples[] = {
    {"unrelu reproduce", "what can be reproduced"},
    {"unrelu reproduce figure1 --quick", "six points, a table"},
    {"unrelu reproduce figure1 -o figure1", "all of it; figure1/figure1.html shows it"},
    {"unrelu reproduce two-layer -o claims", "the claims of the two-layer paper"},
    {0},
};

static const char things[] = "figure1|two-layer";
static const study_kind *const kinds[] = {&cli_study_figure1, &cli_study_two_layer}; /* as these */
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- where it stands ------------------------------------------------------------------ */

typedef struct {
    const study *s;
    double total, done; /* work, which is what time goes with */
    double start;
    int verbose;
} clock_of_work;

static void tell_step(void *context, size_t point)
{
    clock_of_work *c = context;
    char stage[96];
    c->done += c->s->points[point].work;
    double left = (cli_seconds() - c->start) * (c->total - c->done) / c->done;
    if (c->verbose) /* which tells every new stage */
        snprintf(stage, sizeof stage, "%s", c->s->kind->name);
    else if (left < 100)
        snprintf(stage, sizeof stage, "point %zu of %zu, %.0f s left", point + 1, c->s->count,
                 left);
    else
        snprintf(stage, sizeof stage, "point %zu of %zu, %.0f min left", point + 1, c->s->count,
                 left / 60);
    cli_progress(NULL, stage, c->done / c->total);
}

/* csv: NULL where nothing is kept */
static int run_points(study *s, const cli_shared *shared, const char *csv)
{
    unrelu_error err = {0};
    unrelu_exec exec = cli_exec(shared);
    exec.progress = NULL; /* of one fit: short */
    clock_of_work clock = {.s = s, .start = cli_seconds(), .verbose = shared->verbose};
    for (size_t p = 0; p < s->count; p++)
        clock.total += cli_study_is_done(s, p) ? 0 : (double)s->runs * s->points[p].work;
    for (size_t p = 0; p < s->count; p++) {
        if (cli_study_is_done(s, p))
            continue;
        unrelu_status status = cli_study_run(s, p, &exec, tell_step, &clock, &err);
        if (status == UNRELU_ECANCELLED && csv && cli_study_done(s) > 0) {
            cli_error("interrupted; %s holds %zu of %zu points, and the same command goes on from "
                      "there",
                      csv, cli_study_done(s), s->count);
            return cli_exit_interrupted();
        }
        CLI_TRY(cli_exit(status, &err));
        cli_detail("%s, %s = %.15g: done", cli_study_panel(s, p)->key,
                   cli_study_panel(s, p)->varies, s->points[p].x);
        if (csv)
            CLI_TRY(cli_study_save(s, csv));
    }
    return 0;
}

/* ---- results -------------------------------------------------------------------------- */

static int report(const study *s, const cli_shared *shared)
{
    if (!shared->json)
        return cli_study_print(s);
    cli_json json = cli_study_json(s);
    cli_json_text(&json, "output", shared->output);
    return cli_json_finish(&json);
}

static int write_json(const study *s, const char *path)
{
    size_t length;
    cli_json all = cli_study_json(s);
    CLI_ARRAY char *text = cli_json_dump(&all, &length);
    if (!text)
        return cli_no_memory_for("the JSON text");
    return cli_write_file(path, text, length);
}

static int reproduce(const reproduce_arguments *a, const study_kind *kind)
{
    const cli_shared *shared = &a->shared;
    const char *folder = shared->output, *name = kind->name;
    char csv[PATH_MAX], json[PATH_MAX], page[PATH_MAX];
    CLI_MEMORY study *s = malloc(sizeof *s);
    if (!s)
        return cli_no_memory();
    cli_study_plan(s, kind, a->runs, shared->seed, a->quick);
    if (!folder) {
        CLI_TRY(run_points(s, shared, NULL));
        return report(s, shared);
    }
    snprintf(csv, sizeof csv, "%s/%s.csv", folder, name);
    snprintf(json, sizeof json, "%s/%s.json", folder, name);
    if (snprintf(page, sizeof page, "%s/%s.html", folder, name) >= PATH_MAX)
        return cli_usage("-o: the name of the folder is too long");
    CLI_TRY(cli_make_folder(folder));
    if (!a->restart)
        CLI_TRY(cli_study_load(s, csv));
    if (cli_study_done(s) > 0)
        cli_note("%s holds %zu of %zu points already", csv, cli_study_done(s), s->count);
    CLI_TRY(run_points(s, shared, csv));
    CLI_TRY(write_json(s, json));
    CLI_TRY(cli_study_page(s, page));
    CLI_TRY(report(s, shared));
    cli_note("%s/%s.csv, .json and .html are written", folder, name);
    return 0;
}

static int run(void *arguments)
{
    const reproduce_arguments *a = arguments;
    for (size_t i = 0; a->shared.file_count == 0 && i < KINDS; i++)
        printf("%-10s%s\n%10s%s\n", kinds[i]->name, kinds[i]->brief[0], "", kinds[i]->brief[1]);
    if (a->shared.file_count == 0)
        return 0;
    int thing = cli_word_index(things, a->shared.files[0]);
    if (thing < 0)
        return cli_usage("reproduce: there is no '%s' to reproduce; there are: figure1, two-layer",
                         a->shared.files[0]);
    if (a->restart && !a->shared.output)
        return cli_usage("reproduce: --restart is about the files of -o, and there is no -o");
    return reproduce(a, kinds[thing]);
}

const cli_command cli_reproduce = {
    .name = "reproduce",
    .files = {"[figure1|two-layer]", 0, 1},
    .brief = "Run what the papers claim again, with their methods and ours",
    .doc =
        "figure1: the three panels of Figure 1 of the one-layer paper. A point is a number of "
        "samples n, of columns d and a condition number kappa; each of its runs plants a new W "
        "and b, draws samples, and fits them both by the published algorithm ('unrelu fit "
        "--method paper') and by the default. The errors are those of the paper: err_b = |b - "
        "b*| / |W*|_F, err_Sigma = |Sigma - Sigma*|_F / |W*|_F^2 and sqrt(min(KL, KL reversed) "
        "/ 2); where the published algorithm ends with a Sigma that is not positive definite "
        "there is no KL, and the run is counted. Beside them stands the Cramer-Rao limit: the "
        "root mean square error that no unbiased method goes below. It is that of one "
        "coordinate, or of one pair, at a time; with kappa > 1 all columns together may tell a "
        "little more, and no limit of KL is given.\n\ntwo-layer: what the two-layer paper claims, "
        "on "
        "planted networks: how samples must grow with the condition number (Lemma 16, data of "
        "'unrelu generate network --lemma16'); the score tensor of order 3 against order 2 "
        "(Algorithm 4); Algorithm 7 as printed against peeling; the printed programme for wrong "
        "labels, which finds none of them, the same with a weight (--pcp), and the stages of "
        "'unrelu recover --method sparse-noise'; Algorithm 8 with the right guess given, against "
        "'--method any-noise'; and how many samples an exact recovery takes, against d, the "
        "condition number and k. It counts the runs that were called exact and were wrong.\n\n"
        "Without a name, say what can be reproduced. Each takes some minutes in full; "
        "interrupted, it keeps the points that are finished, and goes on from there when started "
        "again with the same -o, --runs and --seed.",
    .words = things,
    .options = options,
    .has = CLI_HAS_SEED | CLI_HAS_THREADS | CLI_HAS_JSON,
    .examples = examples,
    .size = sizeof(reproduce_arguments),
    .run = run,
};
