/* SPDX-License-Identifier: Apache-2.0 */
#include "models.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "json.h"
#include "model_text.h"
#include "scope.h"
#include "team.h"
#include "words.h"

/* ---- the table ----------------------------------------------------------------------- */

typedef struct {
    const char *name, *maker;
    const char *learned; /* what its command calls it */
    unrelu_status (*load)(const char *path, cli_model *model, unrelu_error *err);
    unrelu_status (*save)(const cli_model *model, const char *path, unrelu_error *err);
    void (*print)(const cli_model *model, double level);
    void (*put)(cli_json *json, const cli_model *model);
    int (*compare)(const cli_shared *shared, const cli_model *truth, const cli_model *model);
    unrelu_status (*draws)(const cli_model *model, uint64_t seed, unrelu_sampler **sampler,
                           unrelu_error *err); /* NULL: it has no samples of its own */
} kind_of_model;

/* A row's functions, where each kind has one of the same name. */
#define FORWARD_FILE(kind)                                                                         \
    static unrelu_status load_##kind(const char *path, cli_model *model, unrelu_error *err)        \
    {                                                                                              \
        return unrelu_##kind##_load(path, &model->kind, err);                                      \
    }                                                                                              \
    static unrelu_status save_##kind(const cli_model *model, const char *path, unrelu_error *err)  \
    {                                                                                              \
        return unrelu_##kind##_save(model->kind, path, err);                                       \
    }                                                                                              \
    static void put_##kind(cli_json *json, const cli_model *model)                                 \
    {                                                                                              \
        cli_json_##kind(json, model->kind);                                                        \
    }
#define FORWARD(kind)                                                                              \
    FORWARD_FILE(kind)                                                                             \
    static void print_##kind(const cli_model *model, double level)                                 \
    {                                                                                              \
        cli_print_##kind(model->kind, level);                                                      \
    }

FORWARD(network)
FORWARD(mixture)
FORWARD_FILE(gaussian)

static void print_gaussian(const cli_model *model, double level)
{
    cli_print_gaussian(model->gaussian, level, NULL);
}

static unrelu_status draw_gaussian(const cli_model *model, uint64_t seed, unrelu_sampler **sampler,
                                   unrelu_error *err)
{
    return unrelu_gaussian_sampler(model->gaussian, seed, sampler, err);
}

static unrelu_status draw_mixture(const cli_model *model, uint64_t seed, unrelu_sampler **sampler,
                                  unrelu_error *err)
{
    return unrelu_mixture_sampler(model->mixture, seed, sampler, err);
}

#define FUNCTIONS(kind) load_##kind, save_##kind, print_##kind, put_##kind

static const kind_of_model kinds[] = {
    [CLI_GAUSSIAN] = {"rectified-gaussian", "'unrelu fit'", "model", FUNCTIONS(gaussian),
                      cli_compare_gaussians, draw_gaussian},
    [CLI_NETWORK] = {"network", "'unrelu recover'", "network", FUNCTIONS(network),
                     cli_compare_networks, NULL},
    [CLI_MIXTURE] = {"mixture", "'unrelu unmix'", "model", FUNCTIONS(mixture), cli_compare_mixtures,
                     draw_mixture},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- files --------------------------------------------------------------------------- */

const char *cli_model_name(cli_kind_of_model kind)
{
    return kinds[kind].name;
}

size_t cli_model_columns(const cli_model *model)
{
    return model->kind == CLI_NETWORK   ? model->network->d
           : model->kind == CLI_MIXTURE ? model->mixture->d
                                        : model->gaussian->d;
}

/* "a, b or c": of those among, their names or who makes them */
static const char *list_kinds(unsigned among, int makers, char *list, size_t size)
{
    list[0] = '\0';
    for (size_t i = 0; i < KINDS; i++)
        if (among >> i & 1)
            cli_append(list, size, "%s%s",
                       !*list             ? ""
                       : among >> (i + 1) ? ", "
                                          : " or ",
                       makers ? kinds[i].maker : kinds[i].name);
    return list;
}

int cli_find_model(const char *path, unsigned among, cli_kind_of_model *found)
{
    char kind[64] = "", names[128], makers[128];
    CLI_CALL(unrelu_file_kind(path, kind, sizeof kind, &err));
    for (size_t i = 0; i < KINDS; i++)
        if (among >> i & 1 && strcmp(kind, kinds[i].name) == 0) {
            *found = (cli_kind_of_model)i;
            return 0;
        }
    list_kinds(among, 0, names, sizeof names);
    list_kinds(among, 1, makers, sizeof makers);
    if (access(path, R_OK) != 0)
        return cli_refuse_file("cannot open %s: %s", path, strerror(errno));
    if (strcmp(kind, "summary") == 0)
        return cli_refuse_file("%s is a summary, not a model: 'unrelu fit %s' makes a model of it",
                               path, path);
    if (*kind && among != CLI_ANY_MODEL)
        return cli_refuse_file("%s is of kind '%s', and a %s is needed here; %s makes one", path,
                               kind, names, makers);
    if (*kind)
        return cli_refuse_file("%s is of kind '%s', which this version cannot use", path, kind);
    return cli_refuse_file("%s is not a model; %s makes one", path, makers);
}

int cli_load_model(const char *path, unsigned among, cli_model *model)
{
    CLI_TRY(cli_find_model(path, among, &model->kind));
    CLI_CALL(kinds[model->kind].load(path, model, &err));
    return 0;
}

int cli_save_model(const cli_model *model, const char *path)
{
    if (!path || !cli_team_leads())
        return 0;
    CLI_CALL(kinds[model->kind].save(model, path, &err));
    cli_wrote_file();
    return 0;
}

void cli_free_model(cli_model *model)
{
    unrelu_model_free(model->any);
}

/* ---- what is done with it ------------------------------------------------------------ */

void cli_tell_model(const cli_model *model)
{
    size_t count;
    const unrelu_warning *warnings = unrelu_model_warnings(model->any, &count);
    cli_tell_warnings(warnings, count);
}

int cli_print_model(const char *command, const cli_shared *shared, const cli_model *model,
                    const char *done)
{
    return cli_print_gaussian_model(command, shared, model, done, NULL, NULL);
}

int cli_print_gaussian_model(const char *command, const cli_shared *shared, const cli_model *model,
                             const char *done, const cli_exceedances *exceed,
                             const cli_shown_pairs *pairs)
{
    const kind_of_model *kind = &kinds[model->kind];
    int shares = exceed && exceed->count > 0;
    if (shared->json) {
        cli_json json = cli_json_start(command);
        kind->put(&json, model);
        if (shares)
            cli_json_exceedances(&json, model->gaussian, exceed);
        if (done)
            cli_json_text(&json, "output", shared->output);
        return cli_json_finish(&json);
    }
    if (model->kind == CLI_GAUSSIAN)
        cli_print_gaussian(model->gaussian, shared->level, pairs);
    else
        kind->print(model, shared->level);
    if (shares)
        cli_print_exceedances(model->gaussian, exceed, shared->level);
    if (done)
        cli_note("%s in %.2f s", done, cli_seconds());
    if (done && shared->output)
        cli_note("the %s is in %s", kind->learned, shared->output);
    return 0;
}

int cli_compare_models(const cli_shared *shared, const cli_model *truth, const cli_model *model)
{
    return kinds[truth->kind].compare(shared, truth, model);
}

static unrelu_status draw(const void *from, size_t row, size_t rows, const unrelu_exec *exec,
                          double *const *x, unrelu_error *err)
{
    return unrelu_sampler_draw(from, row, rows, exec, x[0], err);
}

void cli_free_sampler(unrelu_sampler **sampler)
{
    unrelu_sampler_free(*sampler);
}

const char *const *cli_model_names(const cli_model *model)
{
    return model->kind == CLI_MIXTURE ? model->mixture->names : model->gaussian->names;
}

int cli_sample_model(const cli_shared *shared, const cli_model *model, uint64_t seed, size_t n,
                     const char *path, const char *const *names)
{
    CLI_SCOPE(cli_free_sampler) unrelu_sampler *sampler = NULL;
    cli_rows_file to = {path, cli_model_columns(model), names};
    CLI_CALL(kinds[model->kind].draws(model, seed, &sampler, &err));
    double clipped = unrelu_sampler_clipped(sampler);
    if (clipped < 0)
        cli_warning("the correlations of the model are indefinite (smallest eigenvalue %.3g): "
                    "samples are of the nearest that are not; 'unrelu fit' without --method paper "
                    "repairs them by their standard errors",
                    clipped);
    return cli_write_rows(shared, draw, sampler, n, &to, 1);
}

/* ---- summaries ----------------------------------------------------------------------- */

void cli_free_summary(unrelu_summary **summary)
{
    unrelu_summary_free(*summary);
}

int cli_save_summary(const char *command, const cli_shared *shared, const unrelu_summary *summary)
{
    size_t n = unrelu_summary_rows(summary), d = unrelu_summary_columns(summary);
    if (!cli_team_leads())
        return 0;
    CLI_CALL(unrelu_summary_save(summary, shared->output, &err));
    const char *activation = unrelu_summary_activation(summary);
    int undone = strcmp(activation, "relu") != 0;
    cli_note("%s: a summary of %zu rows of %zu columns%s%s", shared->output, n, d,
             undone ? ", which went through " : "", undone ? activation : "");
    if (!shared->json)
        return 0;
    cli_json json = cli_json_start(command);
    cli_json_whole(&json, "n", n);
    cli_json_whole(&json, "d", d);
    cli_json_text(&json, "output", shared->output);
    if (undone)
        cli_json_text(&json, "activation", activation);
    cli_json_put(&json, "warnings", json_array());
    return cli_json_finish(&json);
}
