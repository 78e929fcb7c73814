/* SPDX-License-Identifier: Apache-2.0 */
/* The coordinates in which the solvers work, and the way back to those of the data. */
#ifndef UR_FRAME_H
#define UR_FRAME_H

#include "network/data/data.h"
#include "network/newton/newton.h"

/* Evenly spread rows in coordinates where x'x = n I: x_raw = x forth, forth (p x q), q = d and one
 * more for the ones where c is fitted; v_raw = back v, of least norm where p < q. */
typedef struct ur_frame {
    size_t n, p, q, d, m;
    ur_terms terms;
    double *x;            /* (n, p) */
    double *a;            /* (n, m), in units of `unit` */
    double *unit;         /* m */
    double size;          /* sum of squares of a */
    double *forth, *back; /* p x q, q x p */
    size_t *row;          /* n: which rows of the data */
} ur_frame;

/* each: every column of labels in its own unit, for labels without noise; else one for all */
unrelu_status ur_frame_make(const ur_data *data, size_t rows, ur_terms terms, int each,
                            ur_arena *arena, ur_frame *frame, unrelu_error *err);
/* Rows that k neurons may be fitted to: with fewer labels than neurons only rows that were kept
 * back can certify a fit. All of them where too few would be left. */
size_t ur_frame_rows(const ur_data *data, size_t k);
/* marks of the rows in the frame; NULL where it has all of them, or is NULL, or memory ends */
unsigned char *ur_frame_mark(const ur_frame *frame, size_t n, ur_arena *arena);
/* rows of V (k x q in the data's coordinates: v, and c where it is fitted) <-> rows (k x p) */
void ur_frame_forth(const ur_frame *frame, size_t k, const double *raw, double *V);
void ur_frame_back(const ur_frame *frame, size_t k, const double *V, double *raw);
/* rows (k x q): v_j (d), and c_j where q > d */
void ur_rows_join(size_t k, size_t d, size_t q, const double *V, const double *c, double *rows);
/* rows v_j (k x d) and c (k) as rows of the frame (k x p), of unit length where f is homogeneous */
unrelu_status ur_frame_enter(const ur_frame *frame, unrelu_activation f, size_t k, const double *V,
                             const double *c, double *inside, unrelu_error *err);
/* y (n x rank) spans the labels (and the constant where e is fitted); room n x (m + 1) */
unrelu_status ur_frame_labels(const ur_frame *frame, double tolerance, size_t *rank, double *y,
                              double *diagonal, unrelu_error *err);
ur_newton ur_frame_problem(const ur_frame *frame, unrelu_activation f, const unrelu_exec *exec);
/* a fit in the data's own coordinates and units, in the form of ur_network_normalise */
unrelu_status ur_frame_weights(const ur_frame *frame, unrelu_activation f, const ur_newton_fit *fit,
                               ur_arena *arena, ur_weights *weights, unrelu_error *err);

#endif
