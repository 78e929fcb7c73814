/* SPDX-License-Identifier: Apache-2.0 */
/* What a method gives back: a value. Its numbers and texts lie in its arena; an outcome that is
 * not wanted is dropped with that. Methods say what they found and what they know of it; the
 * verdict is the business of verdict/, the public model that of recover/recover.c. */
#ifndef UR_OUTCOME_H
#define UR_OUTCOME_H

#include "model/warnings.h"
#include "network/problem/problem.h"

/* one pass over all rows, from the weights alone: verdict/certify.c */
typedef struct {
    int met;                 /* every column to its floor, and no cell far off */
    double residual;         /* relative, over all rows */
    double holdout_residual; /* over rows that the solver did not see; NaN: none */
    double roundings;        /* residual of a column of few digits over their rounding, at most */
    double *active;          /* k: share of the rows where the neuron is on */
    size_t min_active, min_inactive;
    const char *precision;
} ur_certificate;

/* What the rules of uniqueness look at, where the labels are met. */
typedef struct {
    const ur_data *data;          /* which the network meets */
    const struct ur_frame *frame; /* the rows that the solver saw */
    const double *y;              /* basis of their labels; NULL: fewer dimensions than neurons */
    size_t rank;                  /* columns of y */
    size_t linear_rank;           /* of the part that is linear in x: the last pairs v, -v */
    size_t open_signs;            /* of rows of V, that the labels do not decide */
    ur_certificate certificate;   /* over these data */
    size_t loose;                 /* rows of V that the samples are known not to determine */
    const char *doubt;            /* of the method, a sentence; NULL: none */
} ur_evidence;

typedef enum {
    UR_NONE,  /* no network: `failure` says why */
    UR_EXACT, /* it meets the labels: the rules decide on the verdict */
    UR_NOISY,
    UR_APPROXIMATE, /* it does not, and what it leaves is no noise */
    UR_INCOMPLETE,  /* the closest when the run was stopped */
} ur_answer;

typedef struct {
    ur_arena *arena; /* of all that follows */
    ur_answer answer;
    ur_weights weights;
    ur_terms terms;
    size_t inputs, p; /* columns of the inputs (and ones), and their rank */
    ur_certificate certificate;
    ur_evidence evidence; /* UR_EXACT */
    double noise;         /* UR_NOISY: standard deviation */
    const char *tails;    /* of what is left: a sentence where they are heavy; else NULL */
    double *U_se, *V_se, *c_se, *e_se; /* NULL: none */
    size_t starts, starts_agree;
    double objective, objective_bound, incoherence; /* NaN: not measured */
    size_t corrupted;                               /* labels that are wrong: */
    double *E_row, *E_column, *E_value;
    const char *method; /* that answered, where another was asked for; NULL: that one */
    const char *how_k, *guarantee, *assumption, *failure;
    int proof;         /* the failure is one */
    double closest;    /* smallest residual of any exact attempt, at most 1 */
    ur_warnings notes; /* warnings, where the outcome is kept */
} ur_outcome;

ur_outcome ur_outcome_in(ur_arena *arena);
void ur_outcome_note(ur_outcome *out, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "merged", where fewer neurons are enough than were asked for */
void ur_outcome_note_merged(const ur_problem *given, ur_outcome *out);
/* an attempt in an arena of its own becomes `out`, and its memory that of out's arena */
void ur_outcome_keep(ur_outcome *attempt, ur_outcome *out);

#endif
