/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>

#include "files.h"
#include "generate.h"
#include "json.h"
#include "models.h"
#include "talk.h"
#include "words.h"

/* text: rectified, normal or a number; on failure says why and returns 0 */
static int parse_bias(const char *text, unrelu_bias_law *law, double *value)
{
    int word = cli_word_index("rectified|normal", text);
    *law = word == 0 ? UNRELU_BIAS_RECTIFIED : word == 1 ? UNRELU_BIAS_NORMAL : UNRELU_BIAS_FIXED;
    if (word >= 0)
        return 1;
    return cli_parse_real("--bias", text, -DBL_MAX, DBL_MAX, "rectified, normal or a number",
                          value);
}

typedef struct {
    char x[PATH_MAX], truth[PATH_MAX];
} paths;

static int name_files(const generate_arguments *a, paths *files)
{
    int status = cli_generate_path(a, "x.npy", files->x);
    return status ? status : cli_generate_path(a, "truth.npz", files->truth);
}

static int report(const generate_arguments *a, const char *kind, const paths *files)
{
    size_t units = a->p ? a->p : a->d;
    cli_note("%s: %zu rows of %zu columns, seed %llu", files->x, a->n, a->d,
             (unsigned long long)a->shared.seed);
    cli_note("%s: the planted model", files->truth);
    if (!a->shared.json)
        return 0;
    cli_json json = cli_json_start("generate");
    cli_json_text(&json, "kind", kind);
    cli_json_whole(&json, "n", a->n);
    cli_json_whole(&json, "d", a->d);
    if (a->p)
        cli_json_whole(&json, "p", a->p);
    cli_json_whole(&json, "k", a->k ? a->k : units);
    cli_json_whole(&json, "seed", a->shared.seed);
    cli_json_text(&json, "samples", files->x);
    cli_json_text(&json, "truth", files->truth);
    cli_json_put(&json, "warnings", json_array());
    return cli_json_finish(&json);
}

/* The samples take another stream than 'unrelu sample truth.npz' with the same seed would. */
static int write_files(const generate_arguments *a, const cli_model *truth, const paths *files)
{
    int status = cli_make_folder(a->shared.output);
    if (status == 0)
        status = cli_sample_model(&a->shared, truth, ~a->shared.seed, a->n, files->x);
    if (status == 0)
        status = cli_save_model(truth, files->truth);
    return status ? status : report(a, cli_model_name(truth->kind), files);
}

int cli_generate_gaussian(const generate_arguments *a)
{
    unrelu_error err = {0};
    paths files;
    cli_model truth = {.kind = CLI_GAUSSIAN};
    unrelu_gaussian_plant_options o;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    o.d = a->d;
    o.k = a->k;
    o.kappa = a->kappa > 0 ? a->kappa : o.kappa;
    o.seed = a->shared.seed;
    if (a->bias && !parse_bias(a->bias, &o.bias, &o.bias_value))
        return CLI_EXIT_USAGE;
    int status = name_files(a, &files);
    if (status == 0)
        status = cli_exit(unrelu_gaussian_plant(&o, &truth.gaussian, &err), &err);
    if (status == 0)
        status = write_files(a, &truth, &files);
    cli_free_model(&truth);
    return status;
}

int cli_generate_mixture(const generate_arguments *a)
{
    unrelu_error err = {0};
    paths files;
    cli_model truth = {.kind = CLI_MIXTURE};
    unrelu_mixture_plant_options o;
    unrelu_mixture_plant_options_init(&o, sizeof o);
    if (a->p == 0)
        return cli_usage("generate mixture: say how many hidden units: -p P");
    o.d = a->d;
    o.p = a->p;
    o.k = a->k;
    o.kappa = a->kappa > 0 ? a->kappa : o.kappa;
    o.noise = a->noise >= 0 ? a->noise : o.noise;
    o.seed = a->shared.seed;
    if (!parse_bias(a->bias ? a->bias : "0", &o.bias, &o.bias_value))
        return CLI_EXIT_USAGE;
    int status = name_files(a, &files);
    if (status == 0)
        status = cli_exit(unrelu_mixture_plant(&o, &truth.mixture, &err), &err);
    if (status == 0)
        status = write_files(a, &truth, &files);
    cli_free_model(&truth);
    return status;
}
