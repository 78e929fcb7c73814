/* SPDX-License-Identifier: Apache-2.0 */
/* One neuron in exact arithmetic. With B the labels of k independent columns, f(X v) = B z for
 * some z; the signs of X v by the network's own v say which equations that is:
 *   B z = 0 where the neuron is off,   B z - X v = 0 where it is on,
 * k + d unknowns, added row by row until one solution is left; rows on the kink to within rounding
 * add B z = X v = 0 where more than one is left. Of several, that with simple fractions next to
 * the network's v (its own coordinates rounded, scaled such that the largest is 1) whose signs are
 * right. Nothing is taken on trust: rational.c verifies the result by itself.
 * Cost: (k + d)^3 products of (k + d) (bits of a cell) bits, then n (k + d) of small ones. */
#include "base/error.h"
#include "dense/linear.h"
#include "network/verdict/rational/rational.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdio.h>

/* Entries of v and of the network's, both of unit length: the network's are right to 1e-13 times
 * the condition of the data, and two neurons of one network are not this near. */
static const double AGREE = 1e-6;
/* Distances within which the simplest fractions are taken, the widest first: simple weights are
 * found by the first, weights of many digits by the last. */
static const double NEAR[] = {1e-7, 1e-9, 1e-11, 1e-13};
static const double MOST = 0x1p26; /* denominators: what ur_fraction_between takes */
enum { LOOK_UP = 256 };            /* rows between looks whether to go on */

typedef struct {
    ur_verification *e;
    size_t j, k, d, n;
    const double *v; /* the network's */
    double length;   /* ur_kink_neuron */
    ur_null null;
    mpz_t *row;           /* k + d */
    mpz_t *part, *common; /* scratch */
    double *N, *t;        /* (d, left), left */
    double *all;          /* k + d */
} job;

static int side_of(const job *b, size_t i)
{
    const ur_data *data = b->e->data.data;
    const double *x = data->x + i * b->d;
    double sum = 0, kink = ur_kink(ur_kink_row(data, x), b->length, 0);
    for (size_t l = 0; l < b->d; l++)
        sum += b->v[l] * x[l];
    return (sum > kink) - (sum < -kink);
}

/* ---- equations ---- */

/* the equation with_z B z = with_v X v of row i */
static void set_row(job *b, size_t i, int with_z, int with_v)
{
    const ur_verification *e = b->e;
    ur_quotients_row(&b->e->data, i, e->x, e->a);
    for (size_t l = 0; l < b->k; l++)
        mpz_mul_si(b->row[l], e->a[e->basis[l]], with_z);
    for (size_t l = 0; l < b->d; l++)
        mpz_mul_si(b->row[b->k + l], e->x[l], -with_v);
}

static void add(job *b)
{
    if (ur_null_add(&b->null, b->row) != UR_NULL_HOLDS && b->null.left == 1)
        ur_null_reduce(&b->null);
}

static unrelu_status add_sides(job *b, unrelu_error *err)
{
    for (size_t i = 0; i < b->n; i++) {
        int side = side_of(b, i);
        if (i % LOOK_UP == 0 && ur_cancelled(b->e->given->exec))
            return ur_fail_cancelled(err);
        if (side == 0)
            continue;
        set_row(b, i, 1, side > 0);
        add(b);
        if (b->null.left == 0) {
            snprintf(b->e->why, UR_WHY,
                     "the fit is near but not exact: for neuron %zu row %zu contradicts the rows "
                     "before it",
                     b->j + 1, i + 1);
            break;
        }
    }
    return UNRELU_OK;
}

static void add_kinks(job *b)
{
    for (size_t i = 0; i < b->n && b->null.left > 1; i++) {
        if (side_of(b, i) != 0)
            continue;
        set_row(b, i, 1, 0);
        add(b);
        set_row(b, i, 0, 1);
        if (b->null.left > 1)
            add(b);
    }
}

/* ---- the solution ---- */

/* t: the own coordinates of the solution next to the network's v, the largest 1 in size */
static unrelu_status find_nearest(job *b, unrelu_error *err)
{
    const ur_null *null = &b->null;
    size_t left = null->left;
    double largest = 0;
    for (size_t f = 0; f < left; f++) {
        ur_integers_scale(null->size, null->vector[f], b->all);
        for (size_t l = 0; l < b->d; l++)
            b->N[l * left + f] = b->all[b->k + l];
    }
    UR_TRY(ur_least_squares(b->d, left, 1, b->N, b->v, UR_ROUNDING, b->t, NULL, err));
    for (size_t f = 0; f < left; f++) {
        ur_integers_scale(null->size, null->vector[f], b->all);
        b->t[f] *= b->all[null->own[f]];
        largest = fmax(largest, fabs(b->t[f]));
    }
    for (size_t f = 0; f < left; f++)
        b->t[f] = largest > 0 ? b->t[f] / largest : 0;
    return UNRELU_OK;
}

/* v = sum of p_f / q_f vector_f, p_f / q_f simple and within the tolerance of t_f */
static void combine(job *b, double tolerance, mpz_t *v)
{
    const ur_null *null = &b->null;
    ur_fraction f = {0, 1};
    for (size_t l = 0; l < b->d; l++)
        mpz_set_ui(v[l], 0);
    mpz_set_ui(*b->common, 1);
    for (int sum = 0; sum < 2; sum++)
        for (size_t i = 0; i < null->left; i++) {
            if (!ur_fraction_between(b->t[i] - tolerance, b->t[i] + tolerance, MOST, &f))
                f = (ur_fraction){0, 1};
            if (!sum) {
                mpz_lcm_ui(*b->common, *b->common, (unsigned long)f.q);
                continue;
            }
            /* own coordinates are all the same number */
            mpz_divexact_ui(*b->part, *b->common, (unsigned long)f.q);
            mpz_set_d(b->row[0], f.p * mpz_sgn(null->vector[i][null->own[i]]));
            mpz_mul(*b->part, *b->part, b->row[0]);
            for (size_t l = 0; l < b->d; l++)
                mpz_addmul(v[l], *b->part, null->vector[i][b->k + l]);
        }
    ur_integers_reduce(v, b->d);
}

static int agrees(job *b, mpz_t *v)
{
    double square = 0;
    ur_integers_scale(b->d, v, b->all);
    for (size_t l = 0; l < b->d; l++)
        square += b->all[l] * b->all[l];
    for (size_t l = 0; l < b->d; l++)
        if (!(fabs(b->all[l] / sqrt(square) - b->v[l]) <= AGREE))
            return 0;
    return 1;
}

/* the first row whose sign is not the network's; n: none */
static size_t wrong_sign(job *b, mpz_t *v)
{
    for (size_t i = 0; i < b->n; i++) {
        int side = side_of(b, i);
        ur_quotients_row(&b->e->data, i, b->e->x, b->e->a);
        ur_integers_dot(b->d, b->e->x, v, *b->part);
        if (side * mpz_sgn(*b->part) < 0)
            return i;
    }
    return b->n;
}

static unrelu_status solve(job *b, mpz_t *v, unrelu_error *err)
{
    char *why = b->e->why;
    UR_TRY(find_nearest(b, err));
    for (size_t i = 0; i < sizeof NEAR / sizeof *NEAR; i++) {
        if (ur_cancelled(b->e->given->exec))
            return ur_fail_cancelled(err);
        combine(b, NEAR[i], v);
        why[0] = '\0';
        size_t wrong = b->n;
        if (!agrees(b, v))
            snprintf(why, UR_WHY,
                     "the fit is near but not exact: neuron %zu is another one in exact arithmetic",
                     b->j + 1);
        else if (b->null.left == 1 || (wrong = wrong_sign(b, v)) == b->n)
            return UNRELU_OK;
        else
            snprintf(why, UR_WHY,
                     "neuron %zu is not unique, and none of simple fractions was found: row %zu is "
                     "on the wrong side of its kink",
                     b->j + 1, wrong + 1);
        if (b->null.left == 1)
            break;
    }
    return UNRELU_OK;
}

unrelu_status ur_verify_neuron(ur_verification *e, size_t j, unrelu_error *err)
{
    ur_arena *arena = &e->step;
    size_t d = e->weights->d, k = e->weights->k, size = k + d;
    const double *v = e->weights->V + j * d;
    job b = {.e = e,
             .j = j,
             .k = k,
             .d = d,
             .n = e->given->data.n,
             .v = v,
             .length = ur_kink_neuron(&e->given->data, v),
             .row = ur_integers(arena, size),
             .part = ur_integers(arena, 1),
             .common = ur_integers(arena, 1),
             .N = ur_take(arena, d, size * sizeof *b.N),
             .t = ur_take(arena, size, sizeof *b.t),
             .all = ur_take(arena, size, sizeof *b.all)};
    UR_TRY(ur_null_make(size, arena, &b.null, err));
    UR_TRY(add_sides(&b, err));
    if (e->why[0])
        return UNRELU_OK;
    add_kinks(&b);
    return solve(&b, e->V + j * d, err);
}
