/* SPDX-License-Identifier: Apache-2.0 */
/* The stations of --method any-noise, A = f(X V') U' + E with E independent of X (rows are
 * samples; the paper's matrices are transposed):
 *   rows        some rows of a frame, heavy tails of their labels cut
 *   count       how many neurons the labels show
 *   choose      which of many half-spaces, or which signs, explain the labels best
 *   halfspaces  the singular spaces of A'X / n; step 3c of Algorithm 8 in closed form
 *   race        starts of all kinds, Gauss-Newton from each, the best of them
 *   promise     the objective, its lower bound, and what Theorem 13 says */
#ifndef UR_ANY_NOISE_H
#define UR_ANY_NOISE_H

#include "network/data/frame.h"
#include "network/problem/outcome.h"
#include "network/problem/start.h"

enum {
    UR_STREAM_ANY_SHUFFLE = 120,
    UR_STREAM_ANY_DIRECTION,
    UR_STREAM_ANY_RANDOM,
    UR_STREAM_ANY_DITHER
};

/* --- rows.c --- */
typedef struct {
    size_t n, p, d, m;
    const ur_frame *frame;
    double *x;   /* (n, p), as in the frame */
    double *raw; /* (n, d): the data's own inputs where c is fitted, else NULL */
    double *a;   /* (n, m): the frame's labels */
    double *b;   /* (n, m): every column cut at both ends where heavy, else as a */
    int heavy;   /* cutting 1 % takes more than a third off the squares about the mean */
} ur_any_rows;

/* at most so many, evenly spread */
unrelu_status ur_any_rows_make(const ur_data *data, const ur_frame *frame, size_t most,
                               ur_arena *arena, ur_any_rows *out, unrelu_error *err);
/* out (n, m): a about its column means */
void ur_any_centre(size_t n, size_t m, const double *a, double *out);

/* --- shuffles.c --- */
/* Dimensions of a (n, m) that depend on x, beside shuffles of its rows: the neurons that labels
 * show, 0 for noise. cut: a has cut tails. */
unrelu_status ur_any_shown(const ur_any_rows *rows, const double *a, int cut, uint64_t seed,
                           size_t *k, unrelu_error *err);
/* of the labels as they are, or cut where that shows more; at least 1 */
unrelu_status ur_any_count(const ur_any_rows *rows, uint64_t seed, size_t *k, unrelu_error *err);

/* --- choose.c --- */
/* V (k x p): those of c candidate rows W whose features f(w x) explain the labels b best, one by
 * one (orthogonal matching pursuit) */
unrelu_status ur_any_choose(const ur_any_rows *rows, size_t c, const double *W, size_t k, double *V,
                            unrelu_error *err);
/* rows of V (k x p) up to sign get the signs that explain most: all are tried */
unrelu_status ur_any_choose_signs(const ur_any_rows *rows, size_t k, double *V, unrelu_error *err);

/* --- halfspaces.c --- */
/* A'X / n, A (labels b) centred, = P diag(s) Q': r = min(m, p) */
typedef struct {
    size_t r;
    double *P, *s, *Q; /* (m, r), r, (r, p) */
} ur_any_spaces;

unrelu_status ur_any_spaces_make(const ur_any_rows *rows, ur_arena *arena, ur_any_spaces *out,
                                 unrelu_error *err);
/* w (p) = mean of (2 Phi((row b - shift) / eta) - 1) x about the means, to unit length: the
 * expectation over the dither g of argmax_{|w| <= 1} sum sign(row b - shift + eta g) w x */
void ur_any_halfspace(const ur_any_rows *rows, const double *row, double shift, double eta,
                      double *w);
/* V (k x p): the choice among the half-spaces of random rows, of both signs */
unrelu_status ur_any_halfspaces(const ur_any_rows *rows, const ur_any_spaces *spaces, size_t k,
                                uint64_t seed, const unrelu_exec *exec, double *V,
                                unrelu_error *err);

/* --- race.c --- */
typedef struct {
    ur_newton_fit fit; /* in the frame */
    double cost;       /* rss; robust: that of ur_student_squares */
    ur_huber huber;    /* robust: of what is left */
} ur_any_fit;

typedef struct {
    ur_any_fit now;
    size_t starts, agree;
    int skipped; /* no start from moments */
} ur_any_best;

/* the best of at most `budget` starts (0: 8, fewer where three agree) on the rows of a frame, by
 * least squares or, robust, by Huber's objective */
unrelu_status ur_any_race(const ur_problem *given, const ur_any_rows *rows, size_t k, int robust,
                          ur_arena *arena, ur_any_best *best, unrelu_error *err);
/* V (k x p) from moments, signed */
unrelu_status ur_any_moments(const ur_problem *given, const ur_any_rows *rows, size_t k,
                             ur_moments_kind kind, double *V, unrelu_error *err);
/* From U, V and e down to where a step gains 1e-6 or less of the cost, or 1e-7 at the last;
 * steady: V stays. */
typedef enum { UR_ANY_STEADY, UR_ANY_DOWN, UR_ANY_LAST } ur_any_stage;
unrelu_status ur_any_descend(const ur_problem *given, const ur_newton *problem, ur_any_stage stage,
                             int robust, ur_any_fit *fit, unrelu_error *err);
/* whether a fit leaves rounding of the labels of a frame */
static inline int ur_any_is_met(const ur_problem *given, const ur_frame *frame,
                                const ur_newton_fit *fit)
{
    return fit->rss <= given->data.floor * given->data.floor * frame->size;
}

/* --- promise.c --- */
typedef struct {
    double objective; /* |A - U f(V X) - e|_F, data's units */
    double bound;     /* the least of any matrix of rank k (about a mean where e is fitted) */
    double spectral;  /* largest singular value of what is left */
    double kappa_u, kappa_v; /* inputs white; infinite where the rank is below k */
    double sigma;            /* largest singular value of U, inputs white */
    double kurtosis;         /* largest excess of a column of the inputs */
} ur_any_measures;

/* of a network, over all rows; fit: the same in white coordinates */
unrelu_status ur_any_measure(const ur_problem *given, const ur_weights *weights,
                             const ur_frame *frame, const ur_newton_fit *fit, ur_any_measures *out,
                             unrelu_error *err);
/* with all constants of the paper taken as 1 */
double ur_any_epsilon(size_t n, size_t d, size_t k, double kappa); /* that n rows allow */
double ur_any_needed(double epsilon, size_t d, size_t k, double kappa);
double ur_any_guesses(double epsilon, size_t k, double kappa); /* decimal logarithm */

/* --- any_noise.c --- */
unrelu_status ur_any_noise(const ur_problem *given, ur_outcome *out, unrelu_error *err);

#endif
