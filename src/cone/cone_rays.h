/* SPDX-License-Identifier: Apache-2.0 */
/* The rays of a cone that grows by one row at a time, and their neighbours. */
#ifndef UR_CONE_RAYS_H
#define UR_CONE_RAYS_H

#include "cone/cone.h"

typedef struct {
    double h; /* of the row that is inserted; 0: within tolerance */
    double worst;
    size_t head, worst_row; /* rows that wait here, as index + 1; the most violated */
    size_t zeros;
    uint64_t key; /* exclusive or of the marks of its zeros */
} ur_description_ray;

typedef struct {
    size_t slot; /* ray + 1; 0: free */
    uint64_t key;
} ur_description_edge;

typedef struct {
    size_t rows, k, most;
    const double *Y;
    double tolerance;
    const unrelu_exec *exec;
    size_t count, fresh, room; /* rays; those that the row at hand adds, behind them */
    ur_description_ray *ray;   /* room */
    double *z;                 /* (room, k) */
    uint64_t *zero;            /* (room, words): bit i: row order[i] */
    size_t words, inserted;
    size_t *order, *next;        /* rows */
    unsigned char *in;           /* rows: whether inserted */
    size_t *side[2];             /* room: rays below and above h = 0, those with many zeros first */
    size_t sides[2], crowded[2]; /* how many, and with many zeros */
    ur_description_edge *table;
    size_t slots;
    uint64_t *common;     /* words */
    const double **tight; /* rows */
    double *q;            /* k x k */
    int full;             /* most was reached */
    size_t polls;
} ur_description;

/* room for so many rays; bits for twice as many rows */
unrelu_status ur_description_reserve(ur_description *c, size_t rays, unrelu_error *err);
unrelu_status ur_description_widen(ur_description *c, unrelu_error *err);
void ur_description_free(ur_description *c);
/* ray r back onto its zeros, where it has left them */
void ur_description_settle(ur_description *c, size_t r);
/* the fresh rays at h = 0, one between each two neighbours on both sides; c->full where they are
 * too many */
unrelu_status ur_description_join(ur_description *c, unrelu_error *err);
uint64_t ur_description_mark(size_t i);
int ur_description_cancelled(ur_description *c); /* asks once in 4096 calls */
unrelu_status ur_description_fail_cancelled(unrelu_error *err);

static inline double ur_description_dot(size_t k, const double *a, const double *b)
{
    double sum = 0;
    for (size_t j = 0; j < k; j++)
        sum += a[j] * b[j];
    return sum;
}

static inline const double *ur_description_row(const ur_description *c, size_t i)
{
    return c->Y + i * c->k;
}

static inline uint64_t *ur_description_zeros(const ur_description *c, size_t r)
{
    return c->zero + r * c->words;
}

#endif
