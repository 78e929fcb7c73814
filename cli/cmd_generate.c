/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "files.h"
#include "json.h"
#include "rows.h"
#include "talk.h"
#include "words.h"

typedef struct {
    cli_shared shared;
    size_t d, k, n;
    double kappa;
    const char *bias;
} generate_arguments;

#define FIELD(name)  offsetof(generate_arguments, name)
#define AT_LEAST_ONE "a whole number of at least 1"

static const cli_option options[] = {
    {"output", 'o', "DIR", "folder to write to, made if missing (needed)", CLI_TEXT,
     FIELD(shared.output), 0, 0, NULL},
    {.doc = "Model:", .kind = CLI_HEADING},
    {"dimension", 'd', "D", "columns of a sample (needed)", CLI_WHOLE, FIELD(d), 1, 1e6,
     "a whole number from 1 to 1000000"},
    {"latent", 'k', "K", "columns of W (default D)", CLI_WHOLE, FIELD(k), 1, 1e6,
     "a whole number from 1 to 1000000"},
    {"count", 'n', "N", "samples to draw (needed)", CLI_WHOLE, FIELD(n), 1, 0x1p53, AT_LEAST_ONE},
    {"kappa", 0, "X", "condition number of W W' where K = D (default 1)", CLI_REAL, FIELD(kappa), 1,
     DBL_MAX, "a number of at least 1"},
    {"bias", 0, "rectified|normal|VALUE",
     "b: max(0, N(0, 1)) (default), N(0, 1), or VALUE times each column's scale", CLI_TEXT,
     FIELD(bias), 0, 0, NULL},
    {0},
};

static const cli_example examples[] = {
    {"unrelu generate gaussian -d 5 -n 200000 -o plant", "the setting of the paper"},
    {"unrelu generate gaussian -d 20 -k 3 -n 1e5 --bias -0.5 -o plant",
     "three latent dimensions, most values hidden"},
    {0},
};

static const generate_arguments defaults = {CLI_SHARED_DEFAULTS};
static const char kinds[] = "gaussian";

static int parse_bias(const char *text, unrelu_gaussian_plant_options *o)
{
    int word = text ? cli_word_index("rectified|normal", text) : 0;
    o->bias = word == 0 ? UNRELU_BIAS_RECTIFIED : UNRELU_BIAS_NORMAL;
    if (word >= 0)
        return 1;
    o->bias = UNRELU_BIAS_FIXED;
    return cli_parse_real("--bias", text, -DBL_MAX, DBL_MAX, "rectified, normal or a number",
                          &o->bias_value);
}

static int check(const generate_arguments *a)
{
    const char *kind = a->shared.files[0];
    if (cli_word_index(kinds, kind) < 0)
        return cli_usage("generate: this version has no kind of model '%s'; it has: %s", kind,
                         kinds);
    if (a->d == 0 || a->n == 0)
        return cli_usage("generate: say how large: -d D columns and -n N samples");
    return cli_require_output("generate", &a->shared, "the files go");
}

/* The samples take another stream than 'unrelu sample truth.npz' with the same seed would. */
static uint64_t seed_of_samples(uint64_t seed)
{
    return ~seed;
}

static int write_all(const generate_arguments *a, const unrelu_gaussian *truth, const char *x_path,
                     const char *truth_path)
{
    unrelu_error err = {0};
    int status = cli_write_rows(truth, seed_of_samples(a->shared.seed), a->n, x_path, &a->shared);
    if (status == 0)
        status = cli_exit(unrelu_gaussian_save(truth, truth_path, &err), &err);
    return status;
}

static int report(const generate_arguments *a, const char *x_path, const char *truth_path)
{
    cli_note("%s: %zu rows of %zu columns, seed %llu", x_path, a->n, a->d,
             (unsigned long long)a->shared.seed);
    cli_note("%s: the planted model", truth_path);
    if (!a->shared.json)
        return 0;
    cli_json json = cli_json_start("generate");
    cli_json_text(&json, "kind", "rectified-gaussian");
    cli_json_whole(&json, "n", a->n);
    cli_json_whole(&json, "d", a->d);
    cli_json_whole(&json, "k", a->k ? a->k : a->d);
    cli_json_whole(&json, "seed", a->shared.seed);
    cli_json_text(&json, "samples", x_path);
    cli_json_text(&json, "truth", truth_path);
    cli_json_put(&json, "warnings", json_array());
    return cli_json_finish(&json);
}

static int plant(const generate_arguments *a, const unrelu_gaussian_plant_options *o)
{
    char x_path[PATH_MAX], truth_path[PATH_MAX];
    const char *folder = a->shared.output;
    unrelu_error err = {0};
    unrelu_gaussian truth = {0};
    if (strlen(folder) + sizeof "/truth.npz" > PATH_MAX)
        return cli_usage("-o: the name of the folder is too long");
    snprintf(x_path, sizeof x_path, "%s/x.npy", folder);
    snprintf(truth_path, sizeof truth_path, "%s/truth.npz", folder);
    int status = cli_exit(unrelu_gaussian_plant(o, &truth, &err), &err);
    if (status == 0)
        status = cli_make_folder(folder);
    if (status == 0)
        status = write_all(a, &truth, x_path, truth_path);
    if (status == 0)
        status = report(a, x_path, truth_path);
    unrelu_gaussian_free(&truth);
    return status;
}

static int run(void *arguments)
{
    const generate_arguments *a = arguments;
    unrelu_gaussian_plant_options o = unrelu_gaussian_plant_options_default();
    int status = check(a);
    if (status != 0)
        return status;
    o.d = a->d;
    o.k = a->k;
    o.kappa = a->kappa > 0 ? a->kappa : o.kappa;
    o.seed = a->shared.seed;
    return parse_bias(a->bias, &o) ? plant(a, &o) : CLI_EXIT_USAGE;
}

const cli_command cli_generate = {
    .name = "generate",
    .files = "gaussian",
    .brief = "Plant a random model and draw samples from it",
    .doc = "Writes DIR/x.npy, the samples, and DIR/truth.npz, the model, which 'unrelu compare' "
           "holds a fit against. With K = D, W is a random rotation times a diagonal that gives "
           "W W' the condition number --kappa; with K < D, W has normal entries and rows of unit "
           "length.",
    .words = kinds,
    .options = options,
    .has = CLI_HAS_SEED | CLI_HAS_THREADS | CLI_HAS_JSON,
    .examples = examples,
    .least_files = 1,
    .most_files = 1,
    .size = sizeof(generate_arguments),
    .defaults = &defaults,
    .run = run,
};
