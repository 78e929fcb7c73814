/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"
#include "generate.h"
#include "rows.h"
#include "talk.h"

static int write_samples(const generate_arguments *a, const unrelu_mixture *truth, const char *path)
{
    unrelu_error err = {0};
    unrelu_sampler *sampler = NULL;
    uint64_t seed = cli_generate_seed(a);
    int status = cli_exit(unrelu_sampler_new_mixture(truth, seed, &sampler, &err), &err);
    cli_rows rows = {.sampler = sampler, .d = truth->d, .names = truth->names};
    if (status == 0)
        status = cli_write_rows(&rows, a->n, path, &a->shared);
    unrelu_sampler_free(sampler);
    return status;
}

static int plant(const generate_arguments *a, const unrelu_mixture_plant_options *o)
{
    unrelu_error err = {0};
    unrelu_mixture truth = {0};
    cli_generate_files files;
    int status = cli_generate_files_name(a, &files);
    if (status == 0)
        status = cli_exit(unrelu_mixture_plant(o, &truth, &err), &err);
    if (status == 0)
        status = cli_make_folder(a->shared.output);
    if (status == 0)
        status = write_samples(a, &truth, files.x);
    if (status == 0)
        status = cli_exit(unrelu_mixture_save(&truth, files.truth, &err), &err);
    if (status == 0)
        status = cli_generate_report(a, "mixture", &files);
    unrelu_mixture_free(&truth);
    return status;
}

int cli_generate_mixture(const generate_arguments *a)
{
    unrelu_mixture_plant_options o = unrelu_mixture_plant_options_default();
    if (a->p == 0)
        return cli_usage("generate mixture: say how many hidden units: -p P");
    o.d = a->d;
    o.p = a->p;
    o.k = a->k;
    o.kappa = a->kappa > 0 ? a->kappa : o.kappa;
    o.noise = a->noise >= 0 ? a->noise : o.noise;
    o.seed = a->shared.seed;
    if (!cli_generate_bias(a->bias ? a->bias : "0", &o.bias, &o.bias_value))
        return CLI_EXIT_USAGE;
    return plant(a, &o);
}
