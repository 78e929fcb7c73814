/* SPDX-License-Identifier: Apache-2.0 */
/* Fits of one number of neurons and one set of biases, compared by the criterion of count.c. */
#ifndef UR_CONTEST_H
#define UR_CONTEST_H

#include "network/noisy/noisy.h"

/* what all contests of one search share */
typedef struct {
    const ur_problem *given;
    size_t least; /* rows, where fewer gave networks that others do not meet */
    double *work; /* operations so far */
} ur_quest;

/* the best fit of one k and one set of biases */
typedef struct {
    ur_arena arena; /* of all that follows */
    ur_frame frame;
    ur_best best;
    double *rows; /* (k, q): v, c of the best, in the data's coordinates */
    double gain;  /* of rss: where its fits end */
    double spare; /* by how much the criterion falls with a neuron less, where k is given */
    size_t k;
    int ready, rough; /* rough: on the way to k */
} ur_contest;
void ur_contest_end(ur_contest *c);
void ur_contest_swap(ur_contest *a, ur_contest *b);
#define UR_CONTEST(name) __attribute__((cleanup(ur_contest_end))) ur_contest name = {0}
/* the labels are met to the floor */
int ur_contest_met(const ur_problem *given, const ur_contest *c);

/* k neurons from all starts until `agree` of them do, one of them the rows of `before` (may be
 * NULL); c is empty. rough: no further than the next number of neurons needs. */
unrelu_status ur_contest_run(const ur_quest *q, size_t k, ur_terms terms, size_t agree, int rough,
                             const ur_contest *before, ur_contest *c, unrelu_error *err);
/* From the rows V (k x p) on c's frame; the fit is c's where the criterion falls. */
unrelu_status ur_contest_attempt(const ur_quest *q, size_t k, const double *V, ur_contest *c,
                                 int *won, unrelu_error *err);
/* c's fit led on over so many rows with these biases; other is empty. Below `bic` of these rows, or
 * given up where it will not come there; NaN: to its end */
unrelu_status ur_contest_go_on(const ur_quest *q, size_t rows, ur_terms terms, double bic,
                               const ur_contest *c, ur_contest *other, unrelu_error *err);
/* best becomes that of c; its memory, an arena's, too */
unrelu_status ur_contest_take(const ur_quest *q, const ur_best *best, ur_arena *arena,
                              ur_contest *c, unrelu_error *err);
/* rss of k neurons in c's frame at which the criterion is this */
double ur_contest_rss(const ur_quest *q, const ur_contest *c, size_t k, double bic);
/* operations of a step for k neurons */
double ur_contest_step(const ur_contest *c, size_t k);

/* --- moves.c --- */
/* one neuron more, or several */
unrelu_status ur_try_more(const ur_quest *q, size_t most, ur_contest *c, size_t *tried, int *won,
                          unrelu_error *err);
/* One neuron more and two from all starts, as long as the criterion falls and they do not
 * agree: with few labels a network of more neurons may be none that a birth leads to. */
unrelu_status ur_look_ahead(const ur_quest *q, size_t most, ur_contest *c, size_t *tried,
                            unrelu_error *err);
/* Its cheapest neurons go in turn, and a birth takes their place, as long as that lowers its rss.
 */
unrelu_status ur_exchange(const ur_quest *q, ur_contest *c, unrelu_error *err);
/* *bic: the criterion of a neuron less, from c's rows, where that is below c's; c stays */
unrelu_status ur_bic_of_fewer(const ur_quest *q, const ur_contest *c, double *bic,
                              unrelu_error *err);
/* up, and then down, on the rows of c; *tried: the largest k that was looked at */
unrelu_status ur_move(const ur_quest *q, size_t most, ur_contest *c, size_t *tried,
                      unrelu_error *err);

#endif
