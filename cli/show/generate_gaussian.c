/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"
#include "generate.h"
#include "rows.h"
#include "talk.h"

static int write_samples(const generate_arguments *a, const unrelu_gaussian *truth,
                         const char *path)
{
    unrelu_error err = {0};
    unrelu_sampler *sampler = NULL;
    int status = cli_exit(unrelu_sampler_new(truth, cli_generate_seed(a), &sampler, &err), &err);
    cli_rows rows = {.sampler = sampler, .d = truth->d, .names = truth->names};
    if (status == 0)
        status = cli_write_rows(&rows, a->n, path, &a->shared);
    unrelu_sampler_free(sampler);
    return status;
}

static int plant(const generate_arguments *a, const unrelu_gaussian_plant_options *o)
{
    unrelu_error err = {0};
    unrelu_gaussian truth = {0};
    cli_generate_files files;
    int status = cli_generate_files_name(a, &files);
    if (status == 0)
        status = cli_exit(unrelu_gaussian_plant(o, &truth, &err), &err);
    if (status == 0)
        status = cli_make_folder(a->shared.output);
    if (status == 0)
        status = write_samples(a, &truth, files.x);
    if (status == 0)
        status = cli_exit(unrelu_gaussian_save(&truth, files.truth, &err), &err);
    if (status == 0)
        status = cli_generate_report(a, "rectified-gaussian", &files);
    unrelu_gaussian_free(&truth);
    return status;
}

int cli_generate_gaussian(const generate_arguments *a)
{
    unrelu_gaussian_plant_options o = unrelu_gaussian_plant_options_default();
    o.d = a->d;
    o.k = a->k;
    o.kappa = a->kappa > 0 ? a->kappa : o.kappa;
    o.seed = a->shared.seed;
    if (a->bias && !cli_generate_bias(a->bias, &o.bias, &o.bias_value))
        return CLI_EXIT_USAGE;
    return plant(a, &o);
}
