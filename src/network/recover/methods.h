/* SPDX-License-Identifier: Apache-2.0 */
/* The methods of a recovery, as a table: what each is called, what it needs, how long it may take,
 * what is promised of it. The only place that knows all of them. */
#ifndef UR_METHODS_H
#define UR_METHODS_H

#include "network/problem/outcome.h"
#include "network/problem/start.h"
#include "network/promise/promise.h"

typedef struct {
    unrelu_recover_method id;
    const char *name;
    const char *wing;          /* where it lives: "default", "start", "hard" */
    const char *needs;         /* of the data, for docs */
    const ur_theorem *theorem; /* what is promised, and its conditions */
    const char *checks;        /* what a run can check beside these, for docs */
    int relu;                  /* only for max(0, t) */
    int any_rows;              /* it takes any number of rows: its theorem asks for none */
    uint64_t fallback;         /* candidates as a fallback of auto; 0: it is none */
    int slow_on_noise;         /* as such, on labels that it does not fit: after what fits these */
    /* whether it may apply where the default found no exact network */
    unrelu_status (*applies)(const ur_problem *given, int *yes, unrelu_error *err);
    unrelu_status (*run)(const ur_problem *given, ur_outcome *out, unrelu_error *err);
    /* of the wing "start": rows of V (k x d), up to what `exactify` repairs, and c (k) where it can
     */
    unrelu_status (*begin)(const ur_start *start, double *V, double *c, ur_start_note *note,
                           unrelu_error *err);
} ur_method;

/* by its number in the table, NULL behind the last; the fallbacks of auto in their order too */
const ur_method *ur_method_at(size_t i);
const ur_method *ur_method_fallback(size_t i);
/* by its name; NULL: there is none */
const ur_method *ur_method_named(const char *name);
/* by what the user asked for; NULL: there is no such method */
const ur_method *ur_method_of(unrelu_recover_method id);

/* --- as_given.c --- */
/* for a network of unrelu_certify: what is said of it as it is; not in the table */
extern const ur_method ur_method_as_given;
/* whether options.start fits the data and the other options */
unrelu_status ur_start_check(const ur_problem *given, unrelu_error *err);
/* which biases are fitted: with `bias` auto those that options.start has */
ur_terms ur_terms_of_start(const unrelu_recover_options *options);

/* --- by_start.c --- */
/* begin of the method asked for, then what options.exactify asks for */
unrelu_status ur_by_start(const ur_problem *given, ur_outcome *out, unrelu_error *err);

/* --- by_default.c --- */
/* auto, exact and moments: an exact network, the fallbacks, the maximum likelihood */
unrelu_status ur_by_default(const ur_problem *given, ur_outcome *out, unrelu_error *err);

#endif
