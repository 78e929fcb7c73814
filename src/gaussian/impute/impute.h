/* SPDX-License-Identifier: Apache-2.0 */
/* What a row hides, given what it shows. Everything below is in deviations, t = (y - b) / scale,
 * with the correlation R of the model. */
#ifndef UR_IMPUTE_H
#define UR_IMPUTE_H

#include "base/arena.h"
#include "gaussian/cells/cells.h"
#include "read/source.h"
#include "unrelu/unrelu.h"

#include <stdint.h>

/* Of cells in deviations: one whose variance given others falls below the first follows from them,
 * and is known to the second, its root. 10 times larger would call columns of correlation
 * 1 - 5e-10 one; smaller ones have less than 6 digits left of 16. */
#define UR_NO_VARIANCE  1e-10
#define UR_NO_DEVIATION 1e-5

/* --- impute.c --- */
/* a model that can fill samples */
unrelu_status ur_impute_check(const unrelu_gaussian *m, unrelu_error *err);

/* --- impute_cells.c --- */
/* place (d): of the samples' columns in the model */
unrelu_status ur_impute_match(const unrelu_gaussian *m, const unrelu_source *samples, size_t *place,
                              unrelu_error *err);
/* x and upper: the cells on the model's scale, column by column: those of cells, or copies */
typedef struct {
    ur_cells cells;
    const double *x, *upper;
} ur_model_cells;
/* limit (d) and limits as of unrelu_impute_options; all of it lies in the arena */
unrelu_status ur_model_cells_load(const unrelu_gaussian *m, unrelu_source *samples,
                                  const size_t *place, const double *limit, unrelu_source *limits,
                                  const unrelu_exec *exec, ur_arena *arena, ur_model_cells *out,
                                  unrelu_error *err);

/* --- impute_table.c: the file that completed tables go to, draw after draw. CSV and TSV keep the
 * columns of the samples' file that the model does not have, as they are written, and of draws have
 * two columns before all others: .imp, the number of the draw, and .id, the row, both from 1. ---
 */
typedef struct {
    size_t n, d;              /* of one completed table */
    const char *const *names; /* d */
    size_t draws;             /* 0: one table of means or medians */
    int safe;                 /* names and texts are safe for spreadsheets */
} ur_table_shape;
typedef struct ur_filled_table ur_filled_table;
/* samples: of d columns; their file is read once more where others are kept */
unrelu_status ur_filled_open(const char *path, const ur_table_shape *shape, unrelu_source *samples,
                             ur_arena *arena, ur_filled_table **out, unrelu_error *err);
/* x: tables of n x d, of the draws from number `first` on */
unrelu_status ur_filled_write(ur_filled_table *table, const double *x, size_t first, size_t count,
                              unrelu_error *err);
unrelu_status ur_filled_commit(ur_filled_table *table, unrelu_error *err);

/* --- impute_parameters.c --- */
typedef struct {
    const unrelu_gaussian *model;
    double *for_b, *for_scale; /* d x d: factors of the correlations of their errors */
} ur_parameters;
unrelu_status ur_parameters_begin(const unrelu_gaussian *m, ur_parameters *p, ur_arena *arena,
                                  unrelu_error *err);
/* Of imputation number `draw`: b and scale (d), correlation R (d x d), drawn from their errors. */
unrelu_status ur_parameters_draw(const ur_parameters *p, uint64_t seed, size_t draw, double *b,
                                 double *scale, double *R, unrelu_error *err);

/* --- impute_law.c: rows in which the same cells are seen, limited (below a limit, above one, or
 * between two), and missing --- */
/* t_H given t_S is normal with mean V' w, w = G^-1 t_S, and covariance C = R_HH - V' V, where
 * R_SS = G G' over those seen cells that do not follow from others. */
typedef struct {
    size_t d;
    size_t seen, limited, missing;
    size_t *index; /* d: columns of the seen cells that count, of those limited, of those missing */
    double *G;     /* seen x seen, stride d */
    double *V;     /* hidden x seen, stride d: the rows are the columns of V above */
    double *C;     /* hidden x hidden, stride d */
} ur_impute_pattern;

/* varies: d, where the scale is above 0; other cells are left out */
void ur_impute_pattern_set(ur_impute_pattern *p, const double *R, const unsigned char *state,
                           const unsigned char *varies);
/* t (d); w has room for d; mu for the hidden cells */
void ur_impute_pattern_mean(const ur_impute_pattern *p, const double *t, double *w, double *mu);

/* of a normal between two ends, which rounding may have made one */
double ur_cut_mean(double lower, double upper);

/* one row */
/* t_H = mu + L z, z standard normal, with l <= L z <= u in the first `limited` rows. The first
 * `rank` columns of L are those that move these rows. */
typedef struct {
    size_t limited, hidden, rank, columns, stride;
    double *L;      /* hidden x columns */
    double *l, *u;  /* limited: -inf and inf where there is none */
    size_t *order;  /* hidden: row i of L is hidden cell order[i] */
    size_t *last;   /* limited: the last column that moves the row; `rank`: none does */
    double *rest;   /* hidden: variance that is left while L is built */
    double *shift;  /* hidden: what earlier columns are expected to add */
    double *along;  /* rank x rank: directions that move one limited row alone, */
    double *effect; /* rank x limited: and what they do to these rows */
    int directed;   /* the two are set */
} ur_law;

/* lower, upper: of the limited cells (-inf, inf: none) */
void ur_law_set(ur_law *law, const ur_impute_pattern *pattern, const double *mu,
                const double *lower, const double *upper);

/* --- impute_points.c --- */
/* uniforms of one stream, some at a time */
typedef struct {
    uint64_t seed, stream, next;
    size_t at; /* in block; UR_UNIFORMS: empty */
    double block[256];
} ur_uniforms;
enum { UR_UNIFORMS = 256 };

enum { UR_POINTS_MOST = 512 };
typedef struct {
    const double *lattice;           /* d: generators */
    double *z;                       /* UR_POINTS_MOST x d */
    double *weight;                  /* UR_POINTS_MOST */
    double *start, *tilt, *y, *mode; /* d */
    double log_mass;                 /* of the limits, as the last points have it */
} ur_points;
/* generators: fractions of the roots of the primes */
void ur_lattice_set(double *lattice, size_t d);
/* The logarithm of the probability of the limits, by `count` points of a lattice, for each of some
 * random shifts of it; rank above 0. */
void ur_law_log_masses(const ur_law *law, ur_points *points, size_t count, ur_uniforms *random,
                       size_t shifts, double *log_mass);

/* E z in z (rank), or a draw of it. sweeps: 0 for a default */
void ur_law_mean(ur_law *law, ur_points *points, size_t sweeps, ur_uniforms *random, double *z);
void ur_law_draw(ur_law *law, ur_points *points, size_t sweeps, ur_uniforms *random, double *z);

/* z and weight of points: a sample of the law, whose size is returned */
size_t ur_law_points(ur_law *law, ur_points *points, size_t sweeps, ur_uniforms *random);

/* y (limited) = L z */
void ur_law_multiply(const ur_law *law, const double *z, double *y);
/* Row i of L z given all that z says of the others: mean + deviation e, e standard normal between
 * lower and upper. y = L z. */
typedef struct {
    double mean, deviation, lower, upper;
} ur_cut_normal;
ur_cut_normal ur_law_cell(ur_law *law, size_t i, const double *z, const double *y);

/* z (rank) is moved by `sweeps` sweeps; mean (rank, or NULL) gets the average of the conditional
 * means on the way. y is room for `limited`. */
void ur_law_sweep(ur_law *law, size_t sweeps, ur_uniforms *random, double *z, double *y,
                  double *mean);
/* the z of largest density; dual is room for `limited` */
void ur_law_mode(const ur_law *law, double *dual, double *z);

/* --- impute_unit.c --- */
/* a column in deviations, and the way back to its unit: g(b + scale t) */
typedef struct {
    unrelu_transform transform;
    double lambda, b, scale;
} ur_unit;
/* E g(b + scale t), and its median, of a t that has with each weight the law of a cell (count). */
double ur_unit_mean(const ur_unit *unit, const double *weight, const ur_cut_normal *cells,
                    size_t count);
double ur_unit_median(const ur_unit *unit, const double *weight, const ur_cut_normal *cells,
                      size_t count);

#endif
