/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>

#include "generate.h"
#include "json.h"
#include "talk.h"
#include "words.h"

int cli_generate_bias(const char *text, unrelu_bias_law *law, double *value)
{
    int word = cli_word_index("rectified|normal", text);
    *law = word == 0 ? UNRELU_BIAS_RECTIFIED : word == 1 ? UNRELU_BIAS_NORMAL : UNRELU_BIAS_FIXED;
    if (word >= 0)
        return 1;
    return cli_parse_real("--bias", text, -DBL_MAX, DBL_MAX, "rectified, normal or a number",
                          value);
}

uint64_t cli_generate_seed(const generate_arguments *a)
{
    return ~a->shared.seed;
}

int cli_generate_files_name(const generate_arguments *a, cli_generate_files *files)
{
    int status = cli_generate_path(a, "x.npy", files->x);
    return status ? status : cli_generate_path(a, "truth.npz", files->truth);
}

int cli_generate_report(const generate_arguments *a, const char *kind,
                        const cli_generate_files *files)
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
