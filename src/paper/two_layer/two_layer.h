/* SPDX-License-Identifier: Apache-2.0 */
/* Published algorithms for two-layer networks, to the letter, as ways of the methods that do more:
 * Algorithm 7 of --method one-sparse (--literal), the pursuit of --method sparse-noise (--pcp).
 * Those that give a start are in network/problem/start.h. */
#ifndef UR_TWO_LAYER_H
#define UR_TWO_LAYER_H

#include "network/hard/one_sparse/one_sparse.h"

/* --- literal.c --- */
/* a way of ur_one_sparse: Algorithm 7 alone */
unrelu_status ur_literal(const ur_problem *given, ur_peel *peel, int *ready, ur_outcome *out,
                         unrelu_error *err);

/* --- algorithm_8.c --- */
/* any-noise by Algorithm 8 alone; no network, and the number of tries, where they are too many */
unrelu_status ur_algorithm_8(const ur_problem *given, ur_outcome *out, unrelu_error *err);

/* --- symmetric.c --- */
typedef struct {
    double statistic, p; /* p: chance of so large a statistic under symmetry about 0 */
    size_t degrees;
} ur_symmetry;

unrelu_status ur_symmetry_test(const ur_sample *sample, uint64_t seed, const unrelu_exec *exec,
                               ur_symmetry *out, unrelu_error *err);
/* P(chi2 with `degrees` degrees of freedom > x), to 1e-12 relative */
double ur_chi2_tail(double degrees, double x);

/* --- pursuit.c --- */
/* min |L|_* + lambda |S|_1, L + S = A (n x m), by the inexact augmented Lagrangian method; Y (may
 * be NULL): its multiplier. Ends at |A - L - S|_F <= 1e-9 |A|_F or after 1000 steps. */
unrelu_status ur_pcp(size_t n, size_t m, const double *A, double lambda, const unrelu_exec *exec,
                     double *L, double *S, double *Y, int *steps, unrelu_error *err);
unrelu_status ur_pcp_recover(const ur_problem *given, ur_outcome *out, unrelu_error *err);

#endif
