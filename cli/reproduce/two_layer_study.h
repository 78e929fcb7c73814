/* SPDX-License-Identifier: Apache-2.0 */
/* The claims of the two-layer paper as a study. Tables and words are in two_layer.c, one run in
 * two_layer_run.c, and Algorithm 8 with its guess given in two_layer_oracle.c. */
#ifndef CLI_TWO_LAYER_STUDY_H
#define CLI_TWO_LAYER_STUDY_H

#include "study.h"

enum { TOLD, RIGHT, CERTIFIED, FALSE_EXACT, ERR_V, RATIO, TWO_LAYER_METRICS };
enum { KEY_N, KEY_D, KEY_K, KEY_M, KEY_KAPPA, KEY_NOISE };

/* how the labels of a panel come about */
typedef enum {
    LABELS_EXACT,
    LABELS_LEMMA16, /* kappa = 1 / A */
    LABELS_WRONG,   /* a share (noise) of the cells is off by 5 to 10 root mean squares */
    LABELS_NOISY,   /* Student's t with 3 degrees of freedom, noise times the size of the labels */
} two_layer_labels;

typedef struct {
    two_layer_labels labels;
    unrelu_activation activation;
    double kappa_u; /* 0: as a random matrix has it */
    int signs_free; /* rows of V are compared up to their signs */
} two_layer_setting;

/* of step 3a of Algorithm 8 */
typedef enum { DITHER_PRINTED, DITHER_BEST } two_layer_dither;

/* of a series: options of unrelu_recover by name, or Algorithm 8 with the right M */
typedef struct {
    const char *options; /* "method=one-sparse literal=yes"; NULL: the oracle */
    int knows_k;         /* k is given */
    two_layer_dither dither;
} two_layer_method;

unrelu_status cli_two_layer_run(const study *s, const study_point *point, uint64_t seed,
                                const unrelu_exec *exec, study_result *out, unrelu_error *err);

double cli_two_layer_norm(size_t count, const double *A); /* Frobenius */

typedef struct {
    size_t n, d, k, m;
    double kappa_u;
    uint64_t seed;
    const unrelu_network *truth;
    const double *x, *a, *E; /* n x d, n x m: labels with their noise, and that alone */
} two_layer_data;

/* Steps 3 and 4 of Algorithm 8 where step 2 has guessed M S = U^+: writes U and V of model, a
 * network of these sizes. */
unrelu_status cli_two_layer_oracle(const two_layer_data *data, two_layer_dither dither,
                                   const unrelu_exec *exec, unrelu_network *model,
                                   unrelu_error *err);
/* |A - U f(V X)|_F */
unrelu_status cli_two_layer_objective(const two_layer_data *data, const unrelu_network *model,
                                      const unrelu_exec *exec, double *objective,
                                      unrelu_error *err);

#endif
