/* SPDX-License-Identifier: Apache-2.0 */
/* A fit in exact arithmetic: cells are fractions, equations are rows of integers, and everything
 * is a null space that shrinks row by row. The only calls of GMP. */
#ifndef UR_RATIONAL_H
#define UR_RATIONAL_H

#include "network/verdict/verdict.h"

#include <gmp.h>

/* --- fraction.c --- */
/* p / q in lowest terms, q > 0; both are whole and below 2^53 */
typedef struct {
    double p, q;
} ur_fraction;

/* The fraction of least denominator whose quotient, rounded, is in [low, high]; 0 where that is
 * above `most` (at most 2^26). |low| and |high| are below 2^26, or there is a whole number between
 * them. */
int ur_fraction_between(double low, double high, double most, ur_fraction *out);
/* The one that x stands for: 0.1 is 1/10. 0 where x is none; *most: the denominators looked at. */
int ur_fraction_of(double x, ur_fraction *out, double *most);

/* --- gmp_memory.c --- */
/* work(context, err) where it may call GMP: ENOMEM with how much was wanted where memory is short.
 * work is then left from within, wherever it is, so that what it holds is not its own but the
 * context's; end(context), in either case, ends that. No integer is left afterwards. */
unrelu_status ur_gmp_run(unrelu_status (*work)(void *context, unrelu_error *err),
                         void (*end)(void *context), void *context, unrelu_error *err);
/* theirs, for use in there: their functions run as if outside. It lives as long as theirs. */
unrelu_exec ur_gmp_exec(unrelu_exec *theirs);

/* --- integers.c --- */
/* All of these run inside of ur_gmp_run. */
/* count zeros; NULL where memory is short */
mpz_t *ur_integers(ur_arena *arena, size_t count);
/* greatest common divisor 1; zeros stay */
void ur_integers_reduce(mpz_t *x, size_t count);
void ur_integers_dot(size_t count, mpz_t *x, mpz_t *y, mpz_t out);
/* as doubles over a power of two, the largest between 1/2 and 1 in size */
void ur_integers_scale(size_t count, mpz_t *x, double *out);

/* Integer vectors that span {w : row w = 0 for all rows so far}. Vector i has a coordinate own[i],
 * where the others are 0. */
typedef struct {
    size_t size, left; /* coordinates, vectors */
    size_t *own;
    mpz_t **vector; /* left of size integers */
    mpz_t *value;   /* of a row at each */
    mpz_t *divisor, *part;
} ur_null;

#define UR_NULL_HOLDS SIZE_MAX

unrelu_status ur_null_make(size_t size, ur_arena *arena, ur_null *null, unrelu_error *err);
/* UR_NULL_HOLDS, or the coordinate that no vector has any more: the first whose vector does not
 * meet the row */
size_t ur_null_add(ur_null *null, mpz_t *row);
/* vectors without common factors */
void ur_null_reduce(ur_null *null);

/* Inputs and labels as fractions: what is kept of them is their denominators. */
typedef struct {
    const ur_data *data;
    uint32_t *x, *a; /* (n, d), (n, m) */
    mpz_t *scale, *part;
} ur_quotients;

/* why (size UR_WHY) is set where a cell is no fraction */
#define UR_WHY 400
unrelu_status ur_quotients_make(const ur_data *data, const unrelu_exec *exec, ur_arena *arena,
                                ur_quotients *all, char *why, unrelu_error *err);
/* row i times the common denominator of its inputs and labels: x (d), a (m) */
void ur_quotients_row(ur_quotients *all, size_t i, mpz_t *x, mpz_t *a);

/* --- neuron.c --- */
typedef struct {
    const ur_problem *given;
    const ur_weights *weights;
    ur_quotients data;
    size_t *basis;    /* k columns of labels, independent */
    mpz_t *x, *a, *V; /* d, m: a row; (k, d): neurons */
    char why[UR_WHY]; /* what is not exact */
    ur_arena arena;   /* what ends with the verification */
    ur_arena step;    /* what ends with the labels' basis, or with one neuron */
} ur_verification;

/* v (d integers without common factor) of neuron j, by the signs of the network's own; what it
 * takes from e->step is the caller's to end */
unrelu_status ur_verify_neuron(ur_verification *e, size_t j, unrelu_error *err);

#endif
