/* SPDX-License-Identifier: Apache-2.0 */
/* The stations of an unmixing. unmix.c walks through them:
 *   span       singular values of the samples
 *   attempts   p and the noise by them
 *   cone       the samples in p coordinates where y'y = n I
 *   facets     normals of the cone's facets: y u = 0 where a unit is off, else above
 *   separable  the same by the paper's way
 *   polish     with noise: the normals to first order of the noise, with their errors
 *   hidden     A and M = A^+ X by the normals, over all samples; W W' and b by the rectified
 *              Gaussian fit on M
 *   rules      the verdict, by a table of rules, unit_patterns.c and others */
#ifndef UR_UNMIX_H
#define UR_UNMIX_H

#include "base/arena.h"
#include "mixture/model/mixture.h"
#include "model/samples.h"

/* What follows is filled from the arena that is handed in, and lives as long as that does. */

/* --- sample_span.c --- */
typedef struct {
    size_t n, d, most;   /* most: min(n, d) */
    const double *x;     /* (n, d) */
    size_t nonzero;      /* samples that are not 0 */
    double *unit;        /* d: powers of two near the largest value of a column */
    double common;       /* the largest of them, */
    double *even;        /* d: and that for each */
    double rms;          /* of all cells */
    double *R;           /* d x d: X = Q R diag(unit) */
    double *each, *same; /* d: singular values of X, columns in their own unit or in one */
    double *each_vt, *same_vt;
    size_t rank;     /* by `each` */
    double rounding; /* deviation of the rounding of x; 0: full precision */
    char precision[16];
} ur_span;

unrelu_status ur_span_measure(const unrelu_source *source, const ur_table *x,
                              const unrelu_exec *exec, ur_arena *arena, ur_span *span,
                              unrelu_error *err);
/* deviation of the noise of x, were what is beyond p noise */
double ur_span_noise(const ur_span *span, size_t p);
/* the largest singular value beyond p over the largest that noise makes: about 1 */
double ur_span_excess(const ur_span *span, size_t p);
/* the p with the largest gap behind it; 0: none, as there is but one singular value */
size_t ur_span_gap(const ur_span *span);
/* the first p beyond which all is as of noise, or tiny; 0: none */
size_t ur_span_flat(const ur_span *span);

/* Samples in the coordinates of their span: y = x B with y'y = n I, and x = y C but for noise. */
typedef struct {
    size_t n, d, p;
    const double *x;    /* (n, d) */
    double *y;          /* (n, p) */
    double *B, *C;      /* d x p, p x d */
    const double *unit; /* d: of x, for residuals */
    double sigma;       /* standard deviation of the noise of x; 0: none */
    double *noise;      /* p x p, diagonal: covariance of the noise of a row of y; NULL: none */
    double tolerance;   /* without noise: h = y u below this times |y| is 0 */
} ur_cone;

/* sigma 0: no noise */
unrelu_status ur_cone_make(const ur_span *span, size_t p, double sigma, const unrelu_exec *exec,
                           ur_arena *arena, ur_cone *cone, unrelu_error *err);
/* deviation of the noise of h = y u */
double ur_cone_noise(const ur_cone *cone, const double *u);
/* Mean square of what p units leave of the samples, x - y C, in the longer half of them over that
 * in the shorter: noise is as large in both, while units that were not counted, and mixtures of
 * full rank taken for fewer, grow with the samples. */
unrelu_status ur_cone_growth(const ur_cone *cone, double *ratio, unrelu_error *err);

/* A unit for each row of U (count x p): h = y u >= 0, and 0 where the unit is off. */
typedef struct {
    size_t count; /* at least p; more: ambiguous, and the first p are the likeliest */
    double *U;    /* count x p, unit rows; the first p are independent */
    size_t tries;
    size_t hinged; /* the last of them that are ends of the samples in place of facets not found */
} ur_normals;

/* --- unmix_facets.c --- */
/* Whether a sample is beyond the facet or on it. Without noise: h < -tolerance |y|, |h| <=
 * tolerance |y|. With noise: h < -6 s, |h| <= 3 s. */
typedef enum { UR_ABOVE_FACET, UR_ON, UR_BEYOND } ur_side;
ur_side ur_side_of(const ur_cone *cone, double h, double size, double s);
/* how many samples may be beyond a facet */
size_t ur_most_beyond(const ur_cone *cone);
/* EDATA with how many were found and what to do, where that is fewer than p. `ends`: where half of
 * them are certified, ends of the samples may stand for the others. */
unrelu_status ur_unmix_facets(const ur_cone *cone, int ends, uint64_t seed, const unrelu_exec *exec,
                              ur_arena *arena, ur_normals *normals, unrelu_error *err);

/* --- paper/mixture/separable.c --- */
/* EDATA where separability fails, with how many samples would be needed */
unrelu_status ur_unmix_separable(const ur_cone *cone, uint64_t seed, const unrelu_exec *exec,
                                 ur_arena *arena, ur_normals *normals, unrelu_error *err);

/* --- hidden.c --- */
/* units by decreasing root mean square */
typedef struct {
    double *U, *inverse; /* p x p: normals as rows, and U^-1 */
    double *G;           /* p x d: rows are the columns of A times their lengths */
    double *length;      /* p */
    double *deviation;   /* p: of the noise of h; 0 without noise */
} ur_units;

unrelu_status ur_units_make(const ur_cone *cone, const double *U, ur_arena *arena, ur_units *units,
                            unrelu_error *err);
/* all but U from U, in its order */
unrelu_status ur_units_derive(const ur_cone *cone, ur_units *units, unrelu_error *err);

/* of all samples and units */
typedef struct {
    double left, total; /* sums of squares of X - M A' and of X, in units of the columns */
    double negative;    /* largest -h / |y|; with noise over its deviation */
} ur_certificate;

/* M (n x p), exactly 0 where a unit is off (with noise: where it is not surely on) */
unrelu_status ur_units_fill(const ur_cone *cone, const ur_units *units, const unrelu_exec *exec,
                            double *M, ur_certificate *all, unrelu_error *err);
/* with noise: EDATA where more is left of the samples than that, so that they are no mixtures */
unrelu_status ur_certificate_check(const ur_cone *cone, const ur_certificate *all,
                                   unrelu_error *err);
unrelu_status ur_units_fit(const ur_cone *cone, const ur_units *units, const double *M,
                           uint64_t seed, const unrelu_exec *exec, unrelu_gaussian **hidden,
                           unrelu_error *err);

/* --- unmix_polish.c --- */
/* What the samples did to the normals: sample j moves u_k by -response_k z_j score_jk. */
typedef struct {
    double *response; /* p of p x p; NaN where a normal has no error */
    double *score;    /* n x p */
} ur_influence;

/* U (p x p) in place, and its influence */
unrelu_status ur_unmix_polish(const ur_cone *cone, const unrelu_exec *exec, double *U,
                              ur_influence *influence, unrelu_error *err);
/* standard errors of A (d x p) */
unrelu_status ur_unmix_errors(const ur_cone *cone, const unrelu_exec *exec, const ur_units *units,
                              const ur_influence *influence, double *A_se, unrelu_error *err);

/* --- unit_patterns.c --- */
/* samples with the same units on, in which `units` of them vary in fewer dimensions; all 0: none */
typedef struct {
    size_t samples, units, rank;
} ur_latent;
unrelu_status ur_unmix_latent(size_t n, size_t p, const double *M, ur_latent *found,
                              unrelu_error *err);

typedef struct {
    size_t n, p, words;
    uint64_t *off; /* for each unit the samples where it is off, as bits */
} ur_patterns;

unrelu_status ur_patterns_make(size_t n, size_t p, const double *M, ur_arena *arena,
                               ur_patterns *out, unrelu_error *err);

/* units i and j are off together in `off` samples, at least 10, and l is off in all of them, or on
 * in all of them, though the other were expected in so many; all 0: there are none such */
typedef struct {
    size_t i, j, l, off;
    int on;
    double expected, surprise; /* surprise: -ln of the chance that there are none */
} ur_ridge;

/* the most surprising one by the patterns drawn (NULL: of most samples, l being off) */
ur_ridge ur_patterns_ridge(const ur_patterns *seen, const ur_patterns *drawn);
/* the same by the fitted hidden layer */
unrelu_status ur_unmix_ridge(size_t n, const double *M, const unrelu_gaussian *hidden,
                             const unrelu_exec *exec, ur_ridge *worst, unrelu_error *err);

/* --- remainder.c --- */
typedef enum {
    UR_REMAINDER_LONGEST, /* it is `value` deviations long in sample `at` */
    UR_REMAINDER_SPREAD,  /* its mean size is `value` times that of normal noise of its deviation */
    UR_REMAINDER_SIZE,    /* its size has the correlation `value` with that of the samples */
    UR_REMAINDER_SCALE,   /* or with whether unit `at` is on */
    UR_REMAINDER_SHIFT    /* its mean is off 0 by `value` of its deviations where unit `at` is on,
                             p: in all samples */
} ur_remainder_kind;

/* what speaks most against taking what p units leave of the samples for noise */
typedef struct {
    ur_remainder_kind kind;
    size_t at;
    double value, surprise; /* surprise: -ln of a bound of the chance, were it noise */
} ur_remainder;

/* direction (d): of the samples over their units, the singular vector behind the p-th;
 * M (n x p): which units are on */
unrelu_status ur_unmix_remainder(const ur_cone *cone, const double *direction, const double *M,
                                 ur_remainder *worst, unrelu_error *err);

/* --- unmix.c --- */
typedef struct {
    size_t p;
    double sigma; /* 0: no noise */
} ur_attempt;

enum { UR_ATTEMPTS = 4 };

typedef struct {
    const unrelu_unmix_options *options;
    const unrelu_exec *exec;
    unrelu_source *source;
    ur_table x;
    ur_span span;
    ur_attempt attempts[UR_ATTEMPTS];
    size_t attempt_count;
    size_t too_noisy; /* p, where what is beyond it is more noise than can be dealt with */
    unrelu_mixture *model;
} ur_unmix;

/* --- attempts.c --- */
/* EDATA where nothing is worth trying */
unrelu_status ur_attempts_choose(ur_unmix *w, unrelu_error *err);
/* how_p, and warnings about p and the noise */
void ur_attempt_describe(ur_unmix *w, const ur_attempt *t);
double ur_relative_noise(const ur_span *span, double sigma); /* over the size of the samples */
int ur_is_rounding(const ur_span *span, double sigma);
/* whether the singular values tell of more units than p, which was not given */
int ur_is_too_few(const ur_unmix *w, size_t p);

/* --- mixture_rules.c --- */
/* sets the verdict; every rule that is broken is told by a warning */
unrelu_status ur_unmix_judge(ur_unmix *w, const ur_cone *cone, const ur_normals *normals,
                             const ur_units *units, const double *M, unrelu_error *err);

#endif
