/* SPDX-License-Identifier: Apache-2.0 */
/* The stations of a recovery. recover.c walks through them:
 *   data      both files in memory, checked; how many digits the labels carry
 *   frame     some or all rows in whitened coordinates, with a basis of the labels
 *   exact     pattern-CCA fixed points, joint Gauss-Newton for what they miss
 *   start     the methods of start.h, made exact
 *   noisy     maximum likelihood from several starts, k by BIC, standard errors
 *   hard      enumerate, one-sparse, any-noise, sparse-noise: what the former do not cover
 *   certify   the residual over all rows, apart from the solver
 *   unique    the rules by which an exact fit is the only one, and the verdict */
#ifndef UR_RECOVER_H
#define UR_RECOVER_H

#include "base/arena.h"
#include "network/exact/pattern.h"
#include "network/newton/newton.h"
#include "network/problem/start.h"

/* --- data.c --- */
typedef struct {
    size_t n, d, m;
    const double *x, *a;  /* (n, d), (n, m), in the arena where the sources do not lend them */
    double *input_rms;    /* d: root mean squares of the inputs */
    double unit;          /* a power of two near the largest label */
    double *column_unit;  /* m: the same of each column */
    double *column_rms;   /* m: root mean squares, in these units */
    double *column_floor; /* m: relative residual at which a column counts as met */
    double floor;         /* the largest of them */
    double tolerance;     /* of the rank of the labels */
    char precision[16];   /* of the coarsest column */
} ur_data;

unrelu_status ur_data_load(unrelu_source *inputs, unrelu_source *labels, const unrelu_exec *exec,
                           ur_arena *arena, ur_data *data, unrelu_error *err);

/* --- digits.c --- */
void ur_data_judge(ur_data *data); /* sets the floors, tolerance and precision */

/* which biases are fitted */
typedef struct {
    int hidden, constant; /* c, e */
} ur_terms;
const char *ur_terms_name(ur_terms terms);
ur_terms ur_terms_of(unrelu_biases biases); /* auto: none */

/* --- kink.c --- */
/* Whether v x + c is above 0, below, or there to within rounding: |v x + c| up to UR_KINK times
 * the size of its terms, in the scales of the inputs' columns. */
#define UR_KINK 1e-9
double ur_kink_row(const ur_data *data, const double *x);    /* size of a row */
double ur_kink_neuron(const ur_data *data, const double *v); /* of a neuron */
static inline double ur_kink(double row, double neuron, double c)
{
    return UR_KINK * (neuron * row + (c < 0 ? -c : c));
}

/* --- frame.c --- */
/* Evenly spread rows in coordinates where x'x = n I: x_raw = x forth, forth (p x q), q = d and one
 * more for the ones where c is fitted; v_raw = back v, of least norm where p < q. */
typedef struct {
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
/* marks of the rows in the frame; NULL where it has all of them, or is NULL, or memory ends */
unsigned char *ur_frame_mark(const ur_frame *frame, size_t n, ur_arena *arena);
/* rows of V (k x q in the data's coordinates: v, and c where it is fitted) <-> rows (k x p) */
void ur_frame_forth(const ur_frame *frame, size_t k, const double *raw, double *V);
void ur_frame_back(const ur_frame *frame, size_t k, const double *V, double *raw);
/* rows v_j (k x d) and c (k) as rows of the frame (k x p), of unit length where f is homogeneous */
unrelu_status ur_frame_enter(const ur_frame *frame, unrelu_activation f, size_t k, const double *V,
                             const double *c, double *inside, unrelu_error *err);
/* y (n x rank) spans the labels (and the constant where e is fitted); room n x (m + 1) */
unrelu_status ur_frame_labels(const ur_frame *frame, double tolerance, size_t *rank, double *y,
                              double *diagonal, unrelu_error *err);
ur_newton ur_frame_problem(const ur_frame *frame, unrelu_activation f, const unrelu_exec *exec);

/* --- recover.c --- */
typedef struct {
    const unrelu_recover_options *options;
    const unrelu_exec *exec;
    ur_data data;
    unrelu_network *model;
    double best;      /* smallest residual of any exact attempt */
    int met;          /* by the last certificate */
    size_t inputs, p; /* columns of the inputs (and ones) of the model's frame, and their rank */
} ur_recover;

const char *ur_recover_method_name(unrelu_recover_method method);
/* frees the weights, and what is known of them */
void ur_recover_clear(unrelu_network *model);
/* the fit in the data's coordinates and units becomes the model (U, V, c, e; no errors) */
unrelu_status ur_recover_adopt(ur_recover *r, const ur_frame *frame, const ur_newton_fit *fit,
                               unrelu_error *err);

/* --- search.c --- */
typedef struct {
    size_t k, found;
    double *V; /* (k, p) unit rows in the frame */
    double *w; /* (k, rank): their coordinates in y */
    size_t starts;
} ur_found;

/* Neurons of rho > 1 - slack among the fixed points of at most `starts` runs; gives up after
 * `patience` runs without any. y (n x rank) as of ur_frame_labels; wanted: how many exist. */
unrelu_status ur_exact_search(const ur_frame *frame, const double *y, size_t rank, size_t wanted,
                              double degree, double slack, size_t starts, size_t patience,
                              uint64_t seed, const unrelu_exec *exec, ur_arena *arena,
                              ur_found *found, unrelu_error *err);

/* --- exact.c --- */
/* *met = 1, the model set and certified, where an exact network with these terms was found */
unrelu_status ur_exact(ur_recover *r, ur_terms terms, int *met, unrelu_error *err);
/* U for the k rows of V (in the frame), a Gauss-Newton step, the certificate over all rows. y
 * (n x rank): the labels' basis, or NULL where they have fewer dimensions than neurons; linear:
 * the last 2 * linear rows are pairs v, -v */
unrelu_status ur_exact_finish(ur_recover *r, const ur_frame *frame, const double *y, size_t rank,
                              size_t k, const double *V, size_t linear, int *met,
                              unrelu_error *err);
double ur_exact_slack(const ur_data *data);

/* --- linear_part.c --- */
/* Whether the labels are U f(V x) plus a map linear in x (affine where e is fitted), V (k x p) in
 * the frame: its rank (0: they are not, or nothing is left), and rows (rank x p) that span it,
 * room p x p */
unrelu_status ur_linear_part(const ur_frame *frame, size_t k, const double *V, unrelu_activation f,
                             double floor, size_t *rank, double *rows, unrelu_error *err);

/* --- methods.c --- */
/* the method by its name, then exactify; sets the model and its verdict */
unrelu_status ur_method(ur_recover *r, unrelu_error *err);

/* --- hard.c --- */
/* one of the four methods below by its name; sets the model and its verdict */
unrelu_status ur_hard_case(ur_recover *r, unrelu_error *err);

/* Those that may apply where the default finds no exact network, until one does: the model is then
 * set with its verdict. tried (size >= 64): ", sparse-noise, one-sparse" */
unrelu_status ur_hard_fallback(ur_recover *r, char *tried, size_t size, int *met,
                               unrelu_error *err);

/* Each: *met = 1 where the model is set, certified and has its verdict; else model->failure says
 * why not, with numbers, and what would help. guarantee and assumption are set in any case. */
/* --- enumerate/enumerate.c --- */
unrelu_status ur_enumerate(ur_recover *r, int *met, unrelu_error *err);
/* --- one_sparse/one_sparse.c --- */
unrelu_status ur_one_sparse(ur_recover *r, int *met, unrelu_error *err);
/* --- any_noise/any_noise.c --- */
unrelu_status ur_any_noise(ur_recover *r, int *met, unrelu_error *err);
/* --- sparse_noise/sparse_noise.c --- */
unrelu_status ur_sparse_noise(ur_recover *r, int *met, unrelu_error *err);

/* --- rational/rational.c, or rational_none.c in a library without GMP --- */
/* UNRELU_EUSAGE where there is no exact arithmetic; asked before any work */
unrelu_status ur_rational_ready(unrelu_error *err);
/* The exact fit of integer or rational data again, in exact arithmetic: sets V_rational and
 * U_rational where it holds, else warns why not. */
unrelu_status ur_rational(ur_recover *r, unrelu_error *err);

/* --- noisy.c --- */
/* maximum likelihood; sets the model, its standard errors and its verdict (exact where the labels
 * are met to the floor) */
unrelu_status ur_noisy(ur_recover *r, unrelu_error *err);

/* --- certify.c --- */
/* Residual, shares of active samples and counts of the model over all rows, in the data's own
 * coordinates; hold-out: the rows not in frame (NULL: the solver saw all). Sets r->met. */
unrelu_status ur_certify(ur_recover *r, const ur_frame *frame, unrelu_error *err);

/* --- unique.c --- */
/* The verdict by the rules of uniqueness where the labels are met, with its warnings. y as in
 * ur_exact_finish; frame: the rows that the solver saw. */
unrelu_status ur_unique(ur_recover *r, const ur_frame *frame, const double *y, size_t rank,
                        unrelu_error *err);

/* --- distinct.c --- */
/* how many rows of x (n x d) differ from each other, from those of `used` (marks, may be NULL:
 * those rows do not count either); stops at `enough` */
unrelu_status ur_distinct(const double *x, size_t n, size_t d, const unsigned char *used,
                          size_t enough, size_t *count, unrelu_error *err);

#endif
