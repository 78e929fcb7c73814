/* SPDX-License-Identifier: Apache-2.0 */
/* The correlation of one pair from its six statistics ("h6"), or from a count above two
 * thresholds ("signs"). Everything is scale-free and anchored:
 *   gamma = b / s,   v = (x - max(b, 0)) / s where x > 0, and 0 where x = 0.
 * A coordinate without zeros needs nothing special: gamma = 8 (no zeros expected), v = (x - b) / s;
 * rho is then Pearson's. A gamma above 8 is taken as 8. */
#ifndef UR_PAIR_H
#define UR_PAIR_H

#include "law/bivariate.h"

/* what a coordinate brings to all its pairs */
typedef struct {
    double gamma, anchor; /* anchor = max(gamma, 0) */
    double below;         /* gamma - anchor = min(gamma, 0) */
    double phi, Phi, hazard;
    double below_phi, below_Phi; /* at min(gamma, 0) */
    double V[3]; /* inverse information of (b, s) in one sample at s = 1: bb, bs, ss */
} ur_pair_margin;

void ur_pair_margin_set(double gamma, ur_pair_margin *out);

typedef struct {
    double n; /* rows where both are observed; the margins are fitted on those rows */
    /* means over the n rows, G = 1(x > 0) */
    double gg, v1g2, v2g1, v1v2, v1v1g2, v2v2g1;
} ur_pair_moments;

typedef struct {
    double rho, rho_se; /* errors are NaN where the variance is degenerate or no row
                         * has both positive */
    /* standard error of rho s1 s2 divided by s1 s2, where rho comes from n rows and the
     * scales from margins_n[0], margins_n[1] rows that contain them */
    double product_se;
    double start;    /* h6: the efficient score at rho = 0, solved; steadier with
                      * few joint positives; with none, where half of one is expected */
    int converged;   /* 0: rho is start */
    int evaluations; /* of the model's moments, for the bench */
    int reweighed;   /* h6: the weights were set anew after the first step */
    /* cell by cell alone (cell_pair.h), whose rho_se and product_se hold whatever the law: those of
     * the model, and how rho moves with each row (n, in the room of the pair; NULL: not known) */
    double model_rho_se, model_product_se;
    const double *by_row;
} ur_pair;

/* margins_n: rows behind the scales that will multiply rho into Sigma; equal to n without
 * missing values. rho is always finite and within +-UR_PAIR_LIMIT. */
#define UR_PAIR_LIMIT 0.99999
void ur_pair_six_statistics(const ur_pair_margin *m1, const ur_pair_margin *m2,
                            const ur_pair_moments *t, const double margins_n[2], ur_pair *out);
/* the same, with new weights if and only if `as` took them: a smooth function of the moments */
void ur_pair_six_again(const ur_pair_margin *m1, const ur_pair_margin *m2, const ur_pair_moments *t,
                       const double margins_n[2], const ur_pair *as, ur_pair *out);

/* above: share of the n rows with x_i > max(0, b_i) for both. Inverts the orthant probability
 * P = Phi2(min(gamma1, 0), min(gamma2, 0); rho). Margins are the censored fits of the same rows;
 * the standard errors account for them. */
void ur_pair_from_signs(const ur_pair_margin *m1, const ur_pair_margin *m2, double n, double above,
                        const double margins_n[2], ur_pair *out);

/* population values of the six statistics in the order of ur_pair_moments: the tests' oracle
 * and the solver's model */
void ur_pair_expect(const ur_pair_margin *m1, const ur_pair_margin *m2, double rho,
                    double expect[6]);

#endif
