/* SPDX-License-Identifier: Apache-2.0 */
/* The stations of a fit. fit.c walks through them in this order:
 *   prepare   limits, noise level and outlier cuts that the passes need
 *   moments   one pass (summary.c), or a summary file
 *   margins   b and scale of every column by the chosen norms, then into the model
 *   pairs     correlations by the chosen angles
 *   finish    Sigma, rank, repair and warnings
 * cells_fit.c joins them at finish: it has no moments. */
#ifndef UR_GAUSSIAN_FIT_H
#define UR_GAUSSIAN_FIT_H

#include "base/arena.h"
#include "gaussian/problem/tolerance.h"
#include "gaussian/summary/gaussian_summary.h"
#include "law/margin.h"
#include "law/pair.h"
#include "model/kind.h"

/* One column during a fit. Lengths carry the unit 2^exponent and lie above the limit; only
 * at the end are they turned into the data's own. */
typedef struct {
    size_t index; /* in the source */
    int exponent;
    double limit, shift; /* data units; shift above the limit, in units of 2^exponent */
    ur_margin censored;  /* what h6 works with */
    ur_margin margin;    /* by the chosen norms */
} ur_fit_column;

/* Negative values of a column, by which its noise is measured. */
typedef struct {
    double bound;          /* data units */
    double within, square; /* how many lie above -bound, and their mean square in units of it */
    double inner, beyond;  /* how many lie well within, and below -bound */
} ur_fit_negatives;

typedef struct {
    const unrelu_gaussian_options *options;
    const unrelu_exec *exec;
    ur_arena *arena;       /* of the whole fit */
    unrelu_source *source; /* NULL: a summary file was given */
    const unrelu_summary *summary;
    double *body; /* all groups added up */
    ur_moments_view v;
    size_t d; /* columns that are fitted */
    ur_fit_column *columns;
    double *limit;               /* source columns: as the user asked, before noise raised it */
    double *noise;               /* source columns: standard deviation in data units, or NULL */
    double *cut;                 /* source columns, or NULL */
    ur_fit_negatives *negatives; /* source columns, or NULL: the noise was not measured */
    unrelu_gaussian *model;
} ur_fit;

enum { UR_MARGIN_PARAMETERS = 2 }; /* of a column: b and scale */

/* What is left to be finished: a model with b, scales and correlations. */
typedef struct {
    const unrelu_gaussian_options *options;
    unrelu_gaussian *model;
    double *product_se;     /* d x d: see ur_fit_pairs */
    const ur_fit *moments;  /* what a jackknife leaves parts of out; NULL: there are none */
    const double *noise_se; /* d: standard errors of the squares of the noise; NULL: it is known */
} ur_estimate;

/* --- margins.c --- */
/* sums of column a over the rows where column b is observed too (NULL: over all its rows) */
ur_margin_sums ur_fit_margin_sums(const ur_fit *fit, const ur_moments_view *v,
                                  const ur_fit_column *a, const ur_fit_column *b);
/* chooses the columns (drop), fits censored margins and those of the chosen norms */
unrelu_status ur_fit_margins(ur_fit *fit, unrelu_error *err);
/* by the censored or truncated likelihood, as the norms say */
void ur_fit_likelihood(const ur_fit *fit, const ur_margin_sums *sums, ur_margin *out);

/* from margins in units to the model in the data's */
void ur_fit_name_method(unrelu_gaussian *model, const unrelu_gaussian_options *options);
unrelu_status ur_fit_set_columns(const ur_fit *fit, unrelu_error *err);
/* the covariance of b and s in the data's unit, from units of 2^exponent; NaN beyond the range of a
 * double */
double ur_fit_covariance(double bs, int exponent);
/* flags of a column with these many cells, and above their limits */
uint32_t ur_fit_flags(double observed, double positive, const ur_margin *margin);

/* --- column_likelihoods.c: how likely the values as recorded are --- */
/* takes room in the model; all NaN */
unrelu_status ur_fit_take_likelihoods(unrelu_gaussian *model, unrelu_error *err);
/* of column i, of so many parameters */
void ur_fit_set_likelihood(unrelu_gaussian *model, size_t i, double loglik, int parameters);
/* of the sums that a margin was fitted to, in units of 2^exponent; NaN: the margin is constant */
double ur_fit_margin_likelihood(const ur_margin_sums *sums, const ur_margin *margin, int exponent);
/* What it adds to the logarithm of a density that x was transformed: log dy/dx, at y of x. NaN: of
 * an activation, which is not known there */
double ur_fit_log_slope(unrelu_transform transform, double lambda, double y);

/* --- median.c, sgd.c: norms that need passes of their own --- */
unrelu_status ur_fit_median(ur_fit *fit, unrelu_error *err);
unrelu_status ur_fit_sgd(ur_fit *fit, unrelu_error *err);

/* --- pairs.c --- */
typedef struct {
    double *rho;                 /* d x d, symmetric, diagonal 1 */
    double *rho_se, *product_se; /* may be NULL; product_se is relative to scale_i scale_j */
    double *n_pair;              /* may be NULL */
    uint8_t *flags;              /* may be NULL */
    int by_all_rows; /* the likelihood counts hidden cells too: few joint positives leave an error,
                      * unless it rises all the way to 1 or -1 */
} ur_fit_pairs;
/* Stores a pair on both sides of the diagonal, after marking what cannot be relied on: too few
 * joint positives, an estimate at the solver's limit, a weak standard error. */
void ur_fit_store(const ur_fit_pairs *out, size_t d, size_t i, size_t j, double n, double joint,
                  ur_pair pair);
unrelu_status ur_fit_h6(const ur_fit *fit, const ur_moments_view *v, const ur_fit_pairs *out,
                        unrelu_error *err);
/* --- pairs_ranks.c: rows of pairs that this rank solves, and those of all to all --- */
int ur_fit_shares_pairs(const ur_fit *fit);
int ur_fit_is_own_row(const ur_fit *fit, size_t i);
unrelu_status ur_fit_gather_pairs(const ur_fit *fit, const ur_fit_pairs *pairs, unrelu_error *err);

/* the cross sums of a pair in the caller's order, which is that of the source; t1g2: sum of t_1 G_2
 */
typedef struct {
    double gg, tt, t1g2, t2g1, t1t1g2, t2t2g1;
} ur_fit_cross;
ur_fit_cross ur_fit_cross_of(const ur_fit *fit, const ur_moments_view *v,
                             const ur_fit_column *const c[2]);
/* with v = alpha t + beta on the positives: v = (x - anchor) / s, as pair.h wants it */
ur_pair_moments ur_fit_pair_moments(const ur_fit_cross *x, double n,
                                    const ur_fit_column *const c[2], const ur_margin m[2]);
/* --- bootstrap.c --- */
/* lambda: columns of the source; of a fit again, which knows the powers of Box-Cox and leaves out
 * the joint likelihood. NULL: the first fit */
typedef unrelu_status ur_fit_again(unrelu_source *source, const unrelu_gaussian_options *options,
                                   const double *lambda, const unrelu_exec *exec,
                                   unrelu_gaussian **model, unrelu_error *err);
/* puts errors by the bootstrap in the place of those of a model that was fitted to the source */
unrelu_status ur_fit_bootstrap(unrelu_source *source, const unrelu_gaussian_options *options,
                               const unrelu_exec *exec, ur_fit_again *fit, unrelu_gaussian *model,
                               unrelu_error *err);
/* the warning where errors by clusters rest on few of them, and their name into the model */
void ur_fit_name_clusters(unrelu_gaussian *model, const char *column, size_t count);

/* --- robust.c --- */
/* Puts errors that hold whatever the law in the place of those of the model, by a pass over the
 * source. Margins by likelihood, pairs by h6. */
unrelu_status ur_fit_robust(const ur_fit *fit, double *product_se, unrelu_error *err);
/* whether robust errors hang on a few rows: the sums of squares and of fourth powers of what rows
 * move the scale by, and how many cells were seen */
int ur_fit_heavy_tails(double squares, double fourths, double seen);

/* --- sign_counts.c --- */
unrelu_status ur_fit_signs(const ur_fit *fit, const ur_fit_pairs *out, unrelu_error *err);

/* --- finish.c --- */
unrelu_status ur_fit_finish(const ur_estimate *estimate, unrelu_error *err);

/* --- cells_fit.c --- */
/* whether the options ask for it; a file that has cells with limits needs it too */
int ur_fit_needs_cells(const unrelu_gaussian_options *options);
/* model is empty on entry */
unrelu_status ur_fit_cells(unrelu_source *source, const unrelu_gaussian_options *options,
                           const double *lambda, const unrelu_exec *exec, unrelu_gaussian *model,
                           unrelu_error *err);

/* --- rank.c: W and the eigenvalues of sigma --- */
unrelu_status ur_fit_rank(const ur_estimate *estimate, unrelu_error *err);

/* --- additive_noise.c --- */
unrelu_status ur_fit_noise(ur_fit *fit, double *limit, unrelu_error *err);
/* The model's noise again, now that its b and scales (of what was seen) are known, and the standard
 * errors (d) of its square; warns where negative values are not normal. */
void ur_fit_settle_noise(const ur_fit *fit, double *variance_se);

/* --- prepare.c --- */
unrelu_status ur_fit_cut(ur_fit *fit, const double *limit, unrelu_error *err);
/* level[q * d + j] of every source column, by `levels` passes */
unrelu_status ur_fit_quantiles(const ur_fit *fit, size_t quantiles, const double *level, int levels,
                               double *value, unrelu_error *err);

/* --- warn.c --- */
void ur_warn_missing(unrelu_gaussian *model, double missing, double cells);
/* all that the user should know about this fit */
struct ur_repair; /* gaussian_model.h */
void ur_fit_warn(const ur_estimate *estimate, const struct ur_repair *moved);

#endif
