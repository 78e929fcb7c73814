/* SPDX-License-Identifier: Apache-2.0 */
/* Extreme rays of C = {z : Y z >= 0} that are not spanned by those known, one by one: for random r
 * orthogonal to the known z, the vertex z of least 1'Y z with Y z >= 0 and r'z = 1. Of many samples
 * C has no other rays than the k neurons, and k programmes find them all, in time that grows as a
 * power of k; of few samples most rays are no neurons, and after TRIES in vain it ends. A programme
 * takes few rows of Y, and rows that its solution violates, until there are none. Where neither r
 * nor -r has a solution, every z of C lies in the span of those known (with probability 1; asked
 * for TRIES times): then there is no network, as with noisy labels, whose C is {0}. */
#include "network/hard/enumerate/enumerate.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/lp.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 3, ROUNDS = 60 };

typedef struct {
    double t;
    size_t row;
} value;

typedef struct {
    const ur_neurons *q;
    size_t count;      /* rows of the programme */
    unsigned char *in; /* rows: marks of them */
    double *R;         /* (rows, k) */
    double *c, *r, *z; /* k */
    double *t;         /* rows: Y z */
    value *below;      /* rows */
} programme;

static void programme_free(programme *p)
{
    free(p->in);
    free(p->R);
    free(p->c);
    free(p->r);
    free(p->z);
    free(p->t);
    free(p->below);
}

static unrelu_status programme_open(const ur_neurons *q, programme *p, unrelu_error *err)
{
    size_t k = q->k, rows = q->rows;
    *p = (programme){.q = q,
                     .in = ur_alloc(rows, 1),
                     .R = ur_alloc(rows, k * sizeof *p->R),
                     .c = ur_doubles(k),
                     .r = ur_doubles(k),
                     .z = ur_doubles(k),
                     .t = ur_doubles(rows),
                     .below = ur_alloc(rows, sizeof *p->below)};
    if (!p->in || !p->R || !p->c || !p->r || !p->z || !p->t || !p->below)
        return ur_fail_memory(err, rows * k, "labels");
    for (size_t i = 0; i < rows; i++)
        ur_add(k, 1 / (double)rows, q->Y + i * k, p->c);
    return UNRELU_OK;
}

static void take(programme *p, size_t row)
{
    size_t k = p->q->k;
    if (p->in[row])
        return;
    p->in[row] = 1;
    memcpy(p->R + p->count++ * k, p->q->Y + row * k, k * sizeof *p->R);
}

static int by_value(const void *a, const void *b)
{
    const value *x = a, *y = b;
    return x->t != y->t ? (x->t > y->t) - (x->t < y->t) : (x->row > y->row) - (x->row < y->row);
}

/* the rows that z violates most; count of all */
static size_t take_violated(programme *p)
{
    const ur_neurons *q = p->q;
    size_t k = q->k, count = 0;
    double size = ur_norm(k, p->z);
    ur_gemv(UR_PLAIN, q->rows, k, 1 / size, q->Y, k, p->z, 0, p->t);
    for (size_t i = 0; i < q->rows; i++)
        if (p->t[i] < -q->tolerance && !p->in[i])
            p->below[count++] = (value){p->t[i], i};
    qsort(p->below, count, sizeof *p->below, by_value);
    for (size_t i = 0; i < count && i < 4 * k; i++)
        take(p, p->below[i].row);
    return count;
}

/* r: a random direction orthogonal to what is known, or its opposite */
static void aim(programme *p, uint64_t number)
{
    const ur_neurons *q = p->q;
    size_t k = q->k;
    ur_random_normals(q->seed, UR_STREAM_ENUMERATE_RAYS, number * q->k, q->k, p->r);
    for (int twice = 0; twice < 2; twice++)
        for (size_t j = 0; j < q->found; j++) {
            const double *b = q->basis + j * q->k;
            ur_add(k, -ur_dot(k, b, p->r), b, p->r);
        }
    ur_scale(k, 1 / ur_norm(k, p->r), p->r);
}

/* rows of earlier programmes stay */
static unrelu_status solve(programme *p, ur_lp_outcome *outcome, unrelu_error *err)
{
    const ur_neurons *q = p->q;
    size_t violated = 1;
    unrelu_status status = UNRELU_OK;
    for (int round = 0; round < ROUNDS && violated > 0 && status == UNRELU_OK; round++) {
        status = ur_lp_ray(p->count, q->k, p->R, p->c, p->r, p->z, outcome, err);
        if (status != UNRELU_OK || *outcome != UR_LP_OPTIMAL)
            break;
        violated = take_violated(p);
        if (ur_cancelled(q->exec))
            status = ur_fail_cancelled(err);
    }
    if (*outcome == UR_LP_OPTIMAL && violated > 0)
        *outcome = UR_LP_STALLED;
    return status;
}

/* a z that is not spanned by those known; infeasible: there is none */
static unrelu_status find_ray(programme *p, uint64_t number, ur_lp_outcome *outcome,
                              unrelu_error *err)
{
    ur_lp_outcome first = UR_LP_STALLED;
    aim(p, number);
    unrelu_status status = solve(p, &first, err);
    *outcome = first;
    if (status != UNRELU_OK || first == UR_LP_OPTIMAL)
        return status;
    ur_scale(p->q->k, -1, p->r);
    status = solve(p, outcome, err);
    if (status == UNRELU_OK && *outcome == UR_LP_INFEASIBLE)
        *outcome = first;
    return status;
}

unrelu_status ur_ray_neurons(ur_neurons *q, int *spanned, unrelu_error *err)
{
    programme p;
    size_t idle = 0, empty = 0, first = 8 * q->k < q->rows ? 8 * q->k : q->rows;
    unrelu_status status = programme_open(q, &p, err);
    *spanned = 0;
    for (size_t i = 0; i < first && status == UNRELU_OK; i++)
        take(&p, i);
    for (uint64_t number = 0; status == UNRELU_OK && q->found < q->wanted && idle < TRIES &&
                              empty < TRIES && q->budget > 0;
         number++) {
        ur_lp_outcome outcome = UR_LP_STALLED;
        int grew = 0;
        ur_progress(q->exec, "rays", (double)q->found / (double)q->wanted);
        status = find_ray(&p, number, &outcome, err);
        if (status == UNRELU_OK && outcome == UR_LP_OPTIMAL)
            status = ur_neurons_try_rough(q, p.z, &grew, err);
        empty = outcome == UR_LP_INFEASIBLE ? empty + 1 : 0;
        idle = grew ? 0 : idle + 1;
        q->tried++;
        q->budget--;
    }
    *spanned = empty == TRIES;
    programme_free(&p);
    return status;
}
