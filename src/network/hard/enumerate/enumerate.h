/* SPDX-License-Identifier: Apache-2.0 */
/* Theorem 1 without its n^k sign patterns. A neuron of a network for labels of rank k, with basis
 * y (n x k), is a pair (z, v) with f(X v) = Y z; so z lies in the cone C = {z : Y z >= 0}, and its
 * zeros are a face of C. For the face with zeros T, S the other rows,
 *   K = {(z, v) : Y_T z = 0, X_S v = Y_S z, Y_S z >= 0, X_T v <= 0}
 * is a convex cone each point of which is a valid neuron, and every neuron lies in one of them:
 * a network exists just where the z of all K span R^k, and whatever was found first is safe to
 * keep. Where e is fitted the constant is among the columns of y, and its z counts as found.
 *   neurons   what was found: independent z, each with its v
 *   sample    null planes of k - 2 random rows, and rows that are parallel there
 *   nested    the same on the rows where known neurons are off; from k = 16 on
 *   rays      extreme rays of C that are not spanned yet, by linear programmes
 *   faces     all extreme rays (cone/cone.h) and faces of C; K of each by elimination and linear
 *             programmes
 *   lemma4    whether labels of rank k are to be expected */
#ifndef UR_ENUMERATE_H
#define UR_ENUMERATE_H

#include "dense/basis.h"
#include "network/data/frame.h"
#include "network/problem/outcome.h"

enum {
    UR_STREAM_ENUMERATE_DRAWS = 100,
    UR_STREAM_ENUMERATE_NESTED,
    UR_STREAM_ENUMERATE_FACES,
    UR_STREAM_ENUMERATE_ORDER,
    UR_STREAM_ENUMERATE_RAYS,
};

/* In tolerances of Y z = 0: what follows from a z is known to LOOSE, a z that lines of a plane or a
 * programme give to ROUGH of them. */
#define UR_LOOSE 10
#define UR_ROUGH 100

/* --- neurons.c --- */
typedef struct {
    size_t n, p, k; /* k: columns of y, the constant among them where e is fitted */
    const double *x, *y;
    size_t rows;      /* of Y */
    double *Y;        /* (rows, k): y without rows of zeros and repeated directions, unit length,
                         in random order */
    size_t *of;       /* rows: which row of y */
    double tolerance; /* of Y z = 0 and of x v = y z, relative */
    uint64_t budget;  /* candidates left: null planes, rays and faces */
    uint64_t tried;   /* candidates so far */
    uint64_t seed;
    const unrelu_exec *exec;
    size_t found;            /* k of them make a network */
    double *z;               /* (k, k): independent, unit length */
    double *v;               /* (k, p) */
    int *unique;             /* k: the face and the inputs leave no other v for this pattern */
    size_t constant;         /* 1: the first of z is the constant, no neuron; else 0 */
    ur_basis basis;          /* of z */
    double *y_size, *x_size; /* n: lengths of rows */
    double y_small, x_small; /* rows that are no longer are zeros */
} ur_neurons;

unrelu_status ur_neurons_open(const ur_frame *frame, const double *y, size_t rank, double tolerance,
                              uint64_t budget, uint64_t seed, const unrelu_exec *exec,
                              ur_arena *arena, ur_neurons *neurons, unrelu_error *err);
/* z with Y z >= 0 (within tolerance): if it is independent of those found and has a v, it becomes
 * one of them and *grew = 1. Rows of S that do not span the inputs: by ur_face_look. */
unrelu_status ur_neurons_try(ur_neurons *neurons, const double *z, int *grew, unrelu_error *err);
/* the same for a z known to a few digits: again with a tolerance 100 times as large */
unrelu_status ur_neurons_try_rough(ur_neurons *neurons, const double *z, int *grew,
                                   unrelu_error *err);
/* appends a neuron that the caller has verified; 0 where z is not independent of those found */
int ur_neurons_add(ur_neurons *neurons, const double *z, const double *v, int unique);

/* part of a unit z outside the span of those found that makes it another neuron */
double ur_neurons_least(const ur_neurons *neurons);

/* --- sample.c --- */
/* Unit rows Y (rows x k) in random order; `known` (count x k, unit length) are of no interest. */
typedef struct {
    size_t rows, k;
    const double *Y;
    double tolerance;
    const double *known;
    size_t count;
    uint64_t seed;
    size_t stride; /* random numbers of a plane: at least k */
} ur_planes;

enum { UR_PLANES_HITS = 32 };
/* Planes first, first + 1, ...: at most `most` of them, until some give z (hits x k, unit length)
 * with Y z >= 0 and at least k rows of zeros; *used: how many planes were looked at. */
unrelu_status ur_planes_search(const ur_planes *planes, uint64_t first, uint64_t most,
                               const unrelu_exec *exec, double *z, size_t *hits, uint64_t *used,
                               unrelu_error *err);

/* Until all are found, or so many planes or the budget are used. */
unrelu_status ur_sample_neurons(ur_neurons *neurons, uint64_t trials, unrelu_error *err);
/* 256 and 4 2^(k-2) H_k planes, four times what neurons that are off on every second row need */
uint64_t ur_sample_trials(size_t k);
/* --- nested.c --- */
unrelu_status ur_nested_neurons(ur_neurons *neurons, uint64_t trials, unrelu_error *err);
/* --- rays.c --- */
/* By linear programmes, until all are found or three in a row are no neurons. *spanned = 1: every z
 * with Y z >= 0 lies in the span of those found, and there is no network. */
unrelu_status ur_ray_neurons(ur_neurons *neurons, int *spanned, unrelu_error *err);

/* --- face.c --- */
typedef struct {
    size_t grew; /* neurons that were added */
    int closed;  /* no face that contains this one has neurons independent of those found */
    int unsure; /* the linear programme, or the neuron that it led to, does not hold to tolerance */
} ur_face_end;

/* K of the face whose zeros among the rows of Y are `zero` (marks): adds neurons whose z are
 * independent of those found for as long as K has any */
unrelu_status ur_face_look(ur_neurons *neurons, const unsigned char *zero, ur_face_end *end,
                           unrelu_error *err);

/* --- faces.c --- */
/* Rays first, then all faces, the largest sets of zeros first. *finished = 1: every face was
 * looked at, or all neurons are found; 0: the budget ran out (rays, faces: how far it came). */
unrelu_status ur_faces_walk(ur_neurons *neurons, int *finished, size_t *rays, size_t *faces,
                            unrelu_error *err);

/* --- lemma4.c --- */
/* delta with which labels of n rows have rank k by Lemma 4, 1 where it says nothing */
double ur_rank_delta(double share, size_t n, size_t k);
/* least share of the samples with v x > 0, over the rows of V (k x d) and some other directions */
unrelu_status ur_least_share(const ur_data *data, size_t k, const double *V, double *share,
                             unrelu_error *err);

/* --- enumerate.c --- */
unrelu_status ur_enumerate(const ur_problem *given, ur_outcome *out, unrelu_error *err);
/* whether the labels are of few dimensions: of full rank they are noisy, or too many */
unrelu_status ur_enumerate_applies(const ur_problem *given, int *yes, unrelu_error *err);

#endif
