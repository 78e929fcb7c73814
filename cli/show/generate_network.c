/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "generate.h"
#include "json.h"
#include "talk.h"

enum { BLOCK_CELLS = 1 << 18 }; /* 2 MB of doubles: stays in the cache, and SIGINT is seen soon */

/* ---- inputs and labels, a block at a time -------------------------------------------- */

typedef struct {
    const unrelu_network_plant_options *options;
    const unrelu_network *truth; /* NULL: inputs only */
    unrelu_sink *x, *a;          /* a NULL: inputs only */
    size_t n;
} drawing;

static unrelu_status draw_block(const drawing *to, size_t row, size_t rows, const unrelu_exec *exec,
                                double *x, double *a, unrelu_error *err)
{
    unrelu_status status = unrelu_network_draw(to->options, to->truth, row, rows, exec, x, a, err);
    if (status == UNRELU_OK)
        status = unrelu_sink_write(to->x, x, rows, err);
    if (status == UNRELU_OK && to->a)
        status = unrelu_sink_write(to->a, a, rows, err);
    return status;
}

static unrelu_status draw_all(const drawing *to, const unrelu_exec *exec, unrelu_error *err)
{
    size_t d = to->options->d, width = d + (to->a ? to->options->m : 0);
    size_t block = width < BLOCK_CELLS ? BLOCK_CELLS / width : 1;
    unrelu_exec silent = *exec; /* the progress of one block is none */
    silent.progress = NULL;
    double *x = malloc(block * width * sizeof *x);
    unrelu_status status = x ? UNRELU_OK : UNRELU_ENOMEM;
    for (size_t row = 0; row < to->n && status == UNRELU_OK; row += block) {
        size_t rows = to->n - row < block ? to->n - row : block;
        exec->progress(exec->context, "drawing", (double)row / (double)to->n);
        if (exec->cancelled(exec->context))
            status = UNRELU_ECANCELLED;
        if (status == UNRELU_OK)
            status = draw_block(to, row, rows, &silent, x, to->a ? x + block * d : NULL, err);
    }
    free(x);
    return status;
}

static unrelu_status finish(unrelu_sink *sink, unrelu_status status, unrelu_error *err)
{
    if (sink && status == UNRELU_OK)
        return unrelu_sink_commit(sink, err);
    if (sink)
        unrelu_sink_abort(sink);
    return status;
}

/* a_path NULL: inputs only */
static int write_rows(const generate_arguments *a, const unrelu_network_plant_options *o,
                      const unrelu_network *truth, const char *x_path, const char *a_path)
{
    unrelu_error err = {0};
    drawing to = {.options = o, .truth = truth, .n = a->n};
    unrelu_exec exec = cli_exec(&a->shared);
    unrelu_status status =
        unrelu_sink_open(x_path, a->n, o->d, truth ? truth->input_names : NULL, &to.x, &err);
    if (status == UNRELU_OK && a_path)
        status = unrelu_sink_open(a_path, a->n, o->m, truth->label_names, &to.a, &err);
    if (status == UNRELU_OK)
        status = draw_all(&to, &exec, &err);
    status = finish(to.x, status, &err);
    status = finish(to.a, status, &err);
    return cli_exit(status, &err);
}

/* ---- options ------------------------------------------------------------------------- */

static int fill_options(const generate_arguments *a, unrelu_network_plant_options *o)
{
    unrelu_error err = {0};
    *o = unrelu_network_plant_options_default();
    o->d = a->d;
    o->k = a->k;
    o->m = a->m;
    o->kappa_x = a->kappa > 0 ? a->kappa : o->kappa_x;
    o->kappa_v = a->kappa_v > 0 ? a->kappa_v : o->kappa_v;
    o->kappa_u = a->kappa_u > 0 ? a->kappa_u : o->kappa_u;
    o->noise = a->noise >= 0 ? a->noise : o->noise;
    o->inputs = a->inputs >= 0 ? (unrelu_inputs)a->inputs : o->inputs;
    o->seed = a->shared.seed;
    if (a->bias &&
        !cli_parse_real("--bias", a->bias, 0, DBL_MAX,
                        "a number of at least 0: the standard deviation of the biases", &o->bias))
        return CLI_EXIT_USAGE;
    if (!a->activation)
        return 0;
    return cli_exit(unrelu_activation_parse(a->activation, &o->activation, &err), &err);
}

static void tell_inputs(const char *path, const generate_arguments *a)
{
    unsigned long long seed = a->shared.seed;
    if (strcmp(path, "-") == 0)
        cli_note("seed %llu", seed);
    else
        cli_note("%s: %zu rows of %zu columns, seed %llu", path, a->n, a->d, seed);
}

/* ---- network ------------------------------------------------------------------------- */

typedef struct {
    char x[PATH_MAX], a[PATH_MAX], truth[PATH_MAX];
} paths;

static int name_files(const generate_arguments *a, paths *to)
{
    int status = cli_generate_path(a, "x.npy", to->x);
    if (status == 0)
        status = cli_generate_path(a, "a.npy", to->a);
    if (status == 0)
        status = cli_generate_path(a, "truth.npz", to->truth);
    return status;
}

static int report_network(const generate_arguments *a, const unrelu_network_plant_options *o,
                          const paths *to)
{
    tell_inputs(to->x, a);
    cli_note("%s: their labels, %zu columns", to->a, o->m);
    cli_note("%s: the planted network", to->truth);
    if (!a->shared.json)
        return 0;
    cli_json json = cli_json_start("generate");
    cli_json_text(&json, "kind", "network");
    cli_json_whole(&json, "n", a->n);
    cli_json_whole(&json, "d", o->d);
    cli_json_whole(&json, "k", o->k);
    cli_json_whole(&json, "m", o->m);
    cli_json_whole(&json, "seed", o->seed);
    cli_json_text(&json, "inputs", to->x);
    cli_json_text(&json, "labels", to->a);
    cli_json_text(&json, "truth", to->truth);
    cli_json_put(&json, "warnings", json_array());
    return cli_json_finish(&json);
}

static int write_network(const generate_arguments *a, const unrelu_network_plant_options *o,
                         const paths *to)
{
    unrelu_error err = {0};
    unrelu_network truth = {0};
    int status = cli_exit(unrelu_network_plant(o, &truth, &err), &err);
    if (status == 0)
        status = cli_make_folder(a->shared.output);
    if (status == 0)
        status = write_rows(a, o, &truth, to->x, to->a);
    if (status == 0)
        status = cli_exit(unrelu_network_save(&truth, to->truth, &err), &err);
    unrelu_network_free(&truth);
    return status ? status : report_network(a, o, to);
}

int cli_generate_network(const generate_arguments *a)
{
    paths to;
    unrelu_network_plant_options o;
    if (a->k == 0 || a->m == 0)
        return cli_usage("generate network: say how large: -k K neurons and -m M labels");
    int status = fill_options(a, &o);
    if (status == 0)
        status = name_files(a, &to);
    return status ? status : write_network(a, &o, &to);
}

/* ---- inputs alone -------------------------------------------------------------------- */

int cli_generate_inputs(const generate_arguments *a)
{
    unrelu_network_plant_options o;
    const char *path = a->shared.output;
    if (a->shared.json && strcmp(path, "-") == 0)
        return cli_usage("generate inputs: the rows and --json cannot both go to standard output");
    int status = fill_options(a, &o);
    o.k = o.m = 1; /* of no network */
    if (status == 0)
        status = cli_check_output(&a->shared, NULL);
    if (status == 0)
        status = write_rows(a, &o, NULL, path, NULL);
    if (status != 0)
        return status;
    tell_inputs(path, a);
    if (!a->shared.json)
        return 0;
    cli_json json = cli_json_start("generate");
    cli_json_text(&json, "kind", "inputs");
    cli_json_whole(&json, "n", a->n);
    cli_json_whole(&json, "d", a->d);
    cli_json_whole(&json, "seed", a->shared.seed);
    cli_json_text(&json, "inputs", path);
    cli_json_put(&json, "warnings", json_array());
    return cli_json_finish(&json);
}
