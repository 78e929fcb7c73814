/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of models: a table of what commands do with each. Those that return an int return an
 * exit status, and say why where it is not 0. */
#ifndef CLI_MODELS_H
#define CLI_MODELS_H

#include "unrelu/unrelu.h"

#include "cli.h"
#include "show/model_text.h"
#include "show/shares_above.h"

typedef enum { CLI_GAUSSIAN, CLI_NETWORK, CLI_MIXTURE } cli_kind_of_model;
#define CLI_ANY_MODEL (1U << CLI_GAUSSIAN | 1U << CLI_NETWORK | 1U << CLI_MIXTURE)

typedef struct {
    cli_kind_of_model kind; /* which of these it is */
    union {
        unrelu_model *any;
        unrelu_gaussian *gaussian;
        unrelu_network *network;
        unrelu_mixture *mixture;
    };
} cli_model;

const char *cli_model_name(cli_kind_of_model kind);
size_t cli_model_columns(const cli_model *model); /* of a sample, or an input */
/* Which of those among (bits) the file holds; a file that holds none gets a sentence. */
int cli_find_model(const char *path, unsigned among, cli_kind_of_model *kind);
int cli_load_model(const char *path, unsigned among, cli_model *model);
int cli_save_model(const cli_model *model, const char *path); /* path NULL: nowhere */
void cli_free_model(cli_model *model);                        /* one that was not loaded too */

void cli_tell_model(const cli_model *model); /* its warnings */
/* Prints it, as text or JSON. done ("fitted"): then the time that took and the output are told too;
 * NULL: the model is not new. */
int cli_print_model(const char *command, const cli_shared *shared, const cli_model *model,
                    const char *done);
/* The same of a rectified Gaussian, and shares above values; pairs NULL: the strongest. */
int cli_print_gaussian_model(const char *command, const cli_shared *shared, const cli_model *model,
                             const char *done, const cli_exceedances *exceed,
                             const cli_shown_pairs *pairs);
/* How far one is from another of its kind, as text or JSON; below by kind, in compare.c. */
int cli_compare_models(const cli_shared *shared, const cli_model *truth, const cli_model *model);
int cli_compare_gaussians(const cli_shared *shared, const cli_model *truth, const cli_model *model);
int cli_compare_networks(const cli_shared *shared, const cli_model *truth, const cli_model *model);
int cli_compare_mixtures(const cli_shared *shared, const cli_model *truth, const cli_model *model);
/* of the columns of a rectified Gaussian or a mixture */
const char *const *cli_model_names(const cli_model *model);
/* Draws n samples of one and writes them to path, under these names. */
int cli_sample_model(const cli_shared *shared, const cli_model *model, uint64_t seed, size_t n,
                     const char *path, const char *const *names);

/* Writes the summary to the output and reports it. */
int cli_save_summary(const char *command, const cli_shared *shared, const unrelu_summary *summary);
void cli_free_summary(unrelu_summary **summary); /* one of NULL too; for CLI_SCOPE */
void cli_free_sampler(unrelu_sampler **sampler); /* likewise */

#endif
