/* SPDX-License-Identifier: Apache-2.0 */
/* Between noisy.c (which k, which biases), starts.c (the best of several starts for given ones)
 * and likelihood.c (the final fit over all rows, with its errors). */
#ifndef UR_NOISY_H
#define UR_NOISY_H

#include "network/data/frame.h"
#include "network/problem/outcome.h"

/* the best of several starts on the rows of a frame */
typedef struct {
    ur_newton_fit fit; /* in the frame */
    double cost;       /* rss; with `robust` that of ur_student_squares */
    double residual;   /* relative */
    double bic;
    size_t starts, agree;
    double work; /* of all steps of all starts: n (k p)^2 operations each */
    int skipped; /* the moment starts could not be had */
} ur_best;

/* Of rss: where a start ends. With noise the kinks of f make it rough below that (newton.h). */
#define UR_START_GAIN 1e-7
/* of rss: starts that differ by less reached one minimum */
#define UR_AGREE 1e-4
/* Ends as soon as `enough` starts agree on the best, each led to where a step gains less than the
 * share `gain` of rss. before (may be NULL): rows v, c (smaller x q)
 * of a fit: of k neurons it is a start, of fewer random rows complete it to one. */
unrelu_status ur_starts(const ur_problem *given, const ur_frame *frame, size_t k, size_t enough,
                        double gain, const double *before, size_t smaller, ur_arena *arena,
                        ur_best *best, unrelu_error *err);
/* from the rows V (k x p, in the frame) alone; goal: as in newton.h, 0: none */
unrelu_status ur_start_once(const ur_problem *given, const ur_frame *frame, size_t k,
                            const double *V, double goal, double gain, ur_arena *arena,
                            ur_best *best, unrelu_error *err);
/* free parameters of a network with these terms */
double ur_parameters(const ur_problem *given, size_t k, ur_terms terms);

/* The labels are met by a fit of all neurons at once: those that they do without are dropped from
 * it, then as ur_exact_finish. */
unrelu_status ur_joint_finish(const ur_problem *given, const ur_frame *frame, ur_newton_fit *fit,
                              ur_outcome *out, unrelu_error *err);

/* --- fewer.c --- */
/* A fit that meets the labels with neurons that it can do without loses them. */
unrelu_status ur_fewer(const ur_problem *given, const ur_frame *frame, ur_newton_fit *fit,
                       unrelu_error *err);

/* Where Gauss-Newton ends from a start that is close, and steps are quadratic: relative gain of
 * rss. Larger: the likelihood is lower by up to it. Smaller: with noise there is no more to be had
 * (newton.h), it only takes longer. */
#define UR_LIKELIHOOD_GAIN 1e-8
enum { UR_LIKELIHOOD_STEPS = 100 };
/* of Huber's objective, and steps in each: 5 to 12 rounds are the usual */
enum { UR_HUBER_ROUNDS = 60, UR_HUBER_STEPS = 6 };

/* From a fit on the rows of a frame to the maximum likelihood over all rows (with `robust` to the
 * least of Huber's objective), its noise and its standard errors; exact where there turns out to be
 * no noise. */
unrelu_status ur_likelihood(const ur_problem *given, const ur_frame *frame,
                            const ur_newton_fit *start, ur_outcome *out, unrelu_error *err);

/* --- noisy.c --- */
/* maximum likelihood, k and biases as asked or found; exact where the labels are met to the floor
 */
unrelu_status ur_noisy(const ur_problem *given, ur_outcome *out, unrelu_error *err);
/* Whether it is noise that the likelihood leaves: else the outcome is approximate, without standard
 * errors and without sigma, and says what rows that were kept back leave. */
unrelu_status ur_noisy_judge(const ur_problem *given, ur_outcome *out, unrelu_error *err);

#endif
