/* SPDX-License-Identifier: Apache-2.0 */
/* One face of the cone of the labels after another, in the same memory. */
#ifndef UR_ENUMERATE_FACE_H
#define UR_ENUMERATE_FACE_H

#include "network/hard/enumerate/enumerate.h"

typedef struct {
    ur_neurons *hunt;
    size_t wide;     /* k + p: unknowns z and v */
    double *M, *Q;   /* (max(n, 2 wide), wide) */
    double *R, *U;   /* wide x wide */
    double *s, *Vt;  /* wide, wide x wide */
    double *span;    /* (k, k): rows that span the face */
    double *W, *N;   /* (wide, wide): rows that span solutions of the equations */
    double *B;       /* (wide, k) */
    double *t, *z;   /* wide, k */
    double *v;       /* p */
    double *project; /* wide x wide */
    size_t *on;      /* n: rows of S */
    size_t count;    /* of them */
    /* of one face at a time: */
    double *G; /* (inequalities, e): G t >= 0, rows of unit length */
    const double **tight;
    size_t inequalities;
} ur_face;

typedef struct {
    size_t grew;
    int closed; /* no face that contains this one has neurons independent of those found */
    int unsure; /* the linear programme, or the neuron that it led to, does not hold to tolerance */
} ur_face_end;

unrelu_status ur_face_open(ur_neurons *neurons, ur_arena *arena, ur_face *face, unrelu_error *err);
/* K of the face with these zeros, as ur_face_try does it */
unrelu_status ur_face_look(ur_face *face, const unsigned char *zero, ur_face_end *end,
                           unrelu_error *err);

#endif
