/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <limits.h>
#include <string.h>

#include "files.h"
#include "generate.h"
#include "json.h"
#include "rows.h"
#include "talk.h"

/* ---- inputs and labels --------------------------------------------------------------- */

typedef struct {
    const unrelu_network_plant_options *options;
    const unrelu_network *truth; /* NULL: inputs only */
} drawing;

static unrelu_status draw(const void *from, size_t row, size_t rows, const unrelu_exec *exec,
                          double *const *x, unrelu_error *err)
{
    const drawing *of = from;
    return unrelu_network_draw(of->options, of->truth, row, rows, exec, x[0], x[1], err);
}

/* a_path NULL: inputs only */
static int write_rows(const generate_arguments *a, const unrelu_network_plant_options *o,
                      const unrelu_network *truth, const char *x_path, const char *a_path)
{
    const cli_rows_file files[] = {
        {x_path, o->d, truth ? truth->input_names : NULL},
        {a_path, o->m, truth ? truth->label_names : NULL},
    };
    return cli_write_rows(&a->shared, draw, &(drawing){o, truth}, a->n, files, a_path ? 2 : 1);
}

/* ---- options ------------------------------------------------------------------------- */

static int fill_options(const generate_arguments *a, unrelu_network_plant_options *o)
{
    unrelu_error err = {0};
    unrelu_network_plant_options_init(o, sizeof *o);
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
