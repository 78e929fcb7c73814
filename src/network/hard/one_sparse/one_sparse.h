/* SPDX-License-Identifier: Apache-2.0 */
/* Labels where few neurons are on. A row of labels is sum_j u_j max(0, w_j x); where one neuron is
 * on alone the row is a positive multiple of u_j, whatever x is, and two such rows are parallel.
 * With max(0, t)^q for max(0, t) (section 9.1) all holds of q-th roots of the multiples, but for
 * the pair fit. group     classes of parallel rows: the directions u_j planes    directions that no
 * two rows show, from rows of two neurons decode    rows as positive combinations of few
 * directions: equations w_j x = c pair_fit  u, -u: r = max(0, w_1 x) - max(0, w_2 x) along one
 * direction peel      the w_j whose equations are enough and agree; what is found is subtracted,
 * the rest has fewer neurons on, and so on */
#ifndef UR_ONE_SPARSE_H
#define UR_ONE_SPARSE_H

#include "network/data/frame.h"
#include "network/problem/outcome.h"

#include <math.h>

enum { UR_STREAM_GROUP = 110, UR_STREAM_PAIR, UR_STREAM_PLANES };

/* --- group.c --- */
#define UR_ALONE SIZE_MAX
typedef struct {
    size_t count;
    size_t *size;      /* count, decreasing */
    double *direction; /* (count, m), of unit length */
    size_t *of;        /* n: the class, or UR_ALONE */
} ur_groups;

/* Classes of at least two rows (n x m) that are positive multiples of each other: unit rows within
 * `tolerance`. Rows with skip[i] (may be NULL) and rows of zeros are in none; nor are classes whose
 * inputs x (n x p; NULL: not looked at) are all multiples of one: f is homogeneous. */
unrelu_status ur_group(size_t n, size_t m, const double *rows, const unsigned char *skip, size_t p,
                       const double *x, double tolerance, uint64_t seed, ur_arena *arena,
                       ur_groups *groups, unrelu_error *err);

/* --- residual.c --- */
typedef struct {
    const ur_frame *frame;
    const unrelu_exec *exec;
    ur_arena *arena;              /* that holds all this */
    uint64_t seed, budget, spent; /* candidates: see say_exhausted in one_sparse.c */
    double tolerance;             /* of parallel unit rows */
    double degree;                /* f(t) = t^degree for t > 0: rows of W have u's length in them */

    size_t k, capacity;
    double *W,
        *U; /* (capacity, p), (capacity, m): rows of U have unit length, those of W their size */

    double *R;            /* (n, m): a - sum_j u_j max(0, w_j x) */
    double *norm;         /* n: of its rows */
    unsigned char *zero;  /* n: R is zero there */
    unsigned char *faint; /* n: zero, or too small a rest to have a direction */
    size_t left;          /* rows that are not zero */

    /* what was seen, for the sentence where it fails */
    size_t first, rarest;        /* directions of the first round, rows of the rarest of them */
    size_t stuck, most;          /* directions of the last, equations of the best of them */
    size_t contradicting, pairs; /* rows of the largest class of several neurons; starts */
    int opposite, exhausted;
} ur_peel;

unrelu_status ur_peel_open(const ur_frame *frame, double floor, uint64_t seed, uint64_t budget,
                           const unrelu_exec *exec, ur_arena *arena, ur_peel *peel,
                           unrelu_error *err);
/* t > 0 with f(t) = y, and f(t): 1 is the relu */
static inline double ur_peel_root(const ur_peel *peel, double y)
{
    return peel->degree == 1 ? y : pow(y, 1 / peel->degree);
}
static inline double ur_peel_power(const ur_peel *peel, double t)
{
    return peel->degree == 1 ? t : pow(t, peel->degree);
}
/* R, norm, zero, faint, left of the k neurons */
unrelu_status ur_peel_residual(ur_peel *peel, unrelu_error *err);
/* room for `more` neurons beyond k */
unrelu_status ur_peel_reserve(ur_peel *peel, size_t more, unrelu_error *err);
/* a Gauss-Newton step over the k neurons on rows that they explain; undone where it is no better */
unrelu_status ur_peel_refine(ur_peel *peel, unrelu_error *err);

/* --- planes.c --- */
/* adds directions that lie in several planes of rows to the classes, v and -v without rows of
 * their own; m >= 3 */
unrelu_status ur_plane_directions(ur_peel *peel, ur_arena *arena, ur_groups *groups, size_t *lines,
                                  unrelu_error *err);

/* --- decode.c --- */
enum { UR_UNDECODED = 255 };
typedef struct {
    size_t count, r;   /* rows looked at, directions */
    size_t *row;       /* count: of the frame */
    double *C;         /* (count, r): coefficients, >= 0 */
    unsigned char *t;  /* count: how many are above 0; 0 where R is zero; or UR_UNDECODED */
    unsigned char top; /* the largest t */
    double *direction; /* (r, m): those of the groups */
    size_t *opposite;  /* r: the direction that is -u, or UR_ALONE */
} ur_decoded;

unrelu_status ur_decode(ur_peel *peel, const ur_groups *groups, ur_arena *arena,
                        ur_decoded *decoded, unrelu_error *err);

/* --- peel.c --- */
/* peels until nothing is left (left = 0) or no round finds more */
unrelu_status ur_peel_run(ur_peel *peel, unrelu_error *err);
typedef struct {
    size_t rows; /* equations */
    int agree;   /* w meets them all, and is off where the neuron is */
} ur_solved;

/* w (p) of direction j from the rows with at most `top` neurons on */
unrelu_status ur_solve_direction(const ur_peel *peel, const ur_decoded *decoded, size_t j,
                                 unsigned char top, double *w, ur_solved *solved,
                                 unrelu_error *err);

/* --- pair_fit.c --- */
/* w_1, w_2 (p each) with r = max(0, w_1 x) - max(0, w_2 x) in all n rows, to `tolerance` of the
 * size of r; *starts counts those tried, at most `most` */
unrelu_status ur_pair_fit(size_t n, size_t p, const double *x, const double *r, double tolerance,
                          uint64_t seed, size_t most, double *w, size_t *starts, int *met,
                          unrelu_error *err);

/* --- one_sparse.c --- */
/* From the rows of a frame to neurons: *ready = 1 where the labels may be met by those of peel;
 * else out->failure says why not. */
typedef unrelu_status (*ur_one_sparse_way)(const ur_problem *given, ur_peel *peel, int *ready,
                                           ur_outcome *out, unrelu_error *err);
unrelu_status ur_peel_all(const ur_problem *given, ur_peel *peel, int *ready, ur_outcome *out,
                          unrelu_error *err);
unrelu_status ur_one_sparse(const ur_problem *given, ur_one_sparse_way way, ur_outcome *out,
                            unrelu_error *err);
/* rows that give a neuron p of its own in 99 cases of 100, if each row does by itself: of a count
 * the mean is the variance, and 2.3 deviations of a normal leave 1 % */
double ur_pure_rows(size_t p);
/* one label: all are parallel, the joint solver's case; many: k > m neurons are never alone */
unrelu_status ur_one_sparse_applies(const ur_problem *given, int *yes, unrelu_error *err);
/* *yes = 1: of several labels, of which no rows of some thousands are zeros or parallel, as they
 * are where all neurons are off or one is on alone */
unrelu_status ur_one_sparse_looks_noisy(const ur_problem *given, int *yes, unrelu_error *err);

#endif
