/* SPDX-License-Identifier: Apache-2.0 */
/* What a recovery is given: rows in memory and options, which nobody changes. A method that wants
 * another k, other biases or another budget for a part of its work makes a changed copy. */
#ifndef UR_PROBLEM_H
#define UR_PROBLEM_H

#include "network/model/network.h"

typedef struct {
    size_t n, d, m;
    const double *x, *a;     /* (n, d), (n, m), in the arena where the sources do not lend them */
    double *input_rms;       /* d: root mean squares of the inputs */
    double unit;             /* a power of two near the largest label */
    double *column_unit;     /* m: the same of each column */
    double *column_rms;      /* m: root mean squares, in these units */
    double *column_floor;    /* m: relative residual at which a column counts as met */
    double *column_rounding; /* m: of few digits, root mean square, relative; 0: full precision */
    double floor;            /* the largest of column_floor */
    double tolerance;        /* of the rank of the labels */
    char precision[16];      /* of the coarsest column */
} ur_data;

typedef struct {
    ur_data data;
    unrelu_recover_options options;
    const unrelu_exec *exec;
    struct ur_watch *watch; /* of what is found so far; NULL: nobody wants that */
} ur_problem;

/* which biases are fitted */
typedef struct {
    int hidden, constant; /* c, e */
} ur_terms;
const char *ur_terms_name(ur_terms terms);
ur_terms ur_terms_of(unrelu_biases biases); /* auto: none */

#endif
