/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of which some cells are wrong by any amount: A = L + E, L = f(X V') U' + e of low rank r
 * (k, or k + 1 with e), E sparse.
 *   wrong_cells  columns of the labels in units of their median cell
 *   altproj      the column space of L by alternating projections on some rows
 *   polish       the same to rounding, by least squares on the cells that are met
 *   consensus    each row of L by itself: r of its cells say what most of the others are; and
 *                columns that are met less than the others
 *   subspace     which rank; the rule by which a column space is accepted
 *   clean        the rows so found without their wrong cells, and their exact network
 *   audit        all cells of all rows against that network, apart from all of the above: E
 *   structure    whether E may hide a neuron: wrong rows, or a support that depends on x
 *   incoherence  the mu of Theorem 14 */
#ifndef UR_SPARSE_NOISE_H
#define UR_SPARSE_NOISE_H

#include "network/data/frame.h"
#include "network/problem/outcome.h"

enum {
    UR_STREAM_SPARSE_ROWS = 130,
    UR_STREAM_SPARSE_START,
    UR_STREAM_SPARSE_DRAWS,
    UR_STREAM_SPARSE_COLUMNS,
    UR_STREAM_SPARSE_REPAIR,
};

/* Of cells, rows or samples: what more than half of them say counts. */
#define UR_MAJORITY 0.5
/* Of a typical cell: a space that leaves less has found the labels, and noise (or a weak neuron)
 * beside them. */
#define UR_NEARLY 0.1

/* --- wrong_cells.c --- */
typedef struct {
    size_t n, m;
    const double *a;  /* (n, m), borrowed */
    double *per_unit; /* m: powers of two; times these the columns have cells of about 1 */
    double tolerance; /* in these units: cells that close are the same */
    uint64_t seed, draws;
    const unrelu_exec *exec;
} ur_sparse_cells;

unrelu_status ur_sparse_cells_open(const ur_problem *given, ur_arena *arena, ur_sparse_cells *cells,
                                   unrelu_error *err);
/* of count numbers, which are shuffled; 0 where there are none */
double ur_median(size_t count, double *numbers);

/* --- altproj.c --- */
typedef struct ur_altproj ur_altproj;
/* M (n x m) is borrowed; for runs of ranks up to r_most */
unrelu_status ur_altproj_new(size_t n, size_t m, const double *M, size_t r_most, uint64_t seed,
                             const unrelu_exec *exec, ur_arena *arena, ur_altproj **out,
                             unrelu_error *err);
/* Sweeps of rank r < min(n, m) with thresholds start g^t, in medians of |M|: a basis B (m x r,
 * orthonormal) of the row space of L, D = M - S (n x m, until the next run), and the share of S.
 * Ends early where that passes 50 %: r or start is wrong. */
unrelu_status ur_altproj_run(ur_altproj *p, size_t r, double start, double g, int sweeps, double *B,
                             const double **D, double *share, unrelu_error *err);

/* --- polish.c --- */
/* B (m x r, orthonormal columns), near the row space of the cells of M that are the same in D, to
 * rounding; cut: about what those cells leave. *miss: the median of what B leaves of a cell. Gives
 * up where that does not fall. */
unrelu_status ur_polish(size_t n, size_t m, const double *M, const double *D, size_t r, double cut,
                        double tolerance, const unrelu_exec *exec, double *B, double *miss,
                        unrelu_error *err);

/* --- consensus.c --- */
typedef struct {
    size_t rows, m, r;
    const size_t *row;    /* rows: of the data */
    const double *B;      /* (m, r): orthonormal, in the cells' units */
    double *at;           /* (rows, r): coordinates */
    size_t width;         /* columns that B reaches; only these count */
    unsigned char *live;  /* m: which */
    size_t *met;          /* rows: cells that agree with them; 0: undecided */
    unsigned char *clean; /* (rows, m): which */
    unsigned char *idle;  /* rows: mostly zeros, which fit any basis */
    double *spread;       /* rows: least pivot of B'B over its clean cells; 1 is best */
} ur_consensus;

/* cells of a row that must agree, and those that count as most of them */
size_t ur_consensus_least(size_t width, size_t r);
size_t ur_consensus_most(size_t width, size_t r);
/* draws for each row, at most those of the cells */
uint64_t ur_consensus_draws(const ur_sparse_cells *cells, size_t r);
unrelu_status ur_consensus_run(const ur_sparse_cells *cells, size_t rows, const size_t *row,
                               size_t r, const double *B, ur_arena *arena, ur_consensus *c,
                               unrelu_error *err);
/* the same once more where columns are met less than the others: their rows of B are replaced, and
 * B is orthonormal again. The arena holds c alone. */
unrelu_status ur_consensus_find(const ur_sparse_cells *cells, size_t rows, const size_t *row,
                                size_t r, double *B, ur_arena *arena, ur_consensus *c,
                                unrelu_error *err);
/* A (r x (r + 1)) holds a system and its right side: solves it, A is destroyed; 0 where it is
 * singular to six digits */
int ur_eliminate(size_t r, double *A, double *x);

/* --- subspace.c --- */
typedef struct {
    size_t r;
    double *B;           /* (m, r) */
    double most;         /* share of the rows with most cells met, of those not idle */
    double undecided;    /* share of them without coordinates */
    double expected;     /* what a support at random makes of that share, at most */
    double wrong;        /* share of wrong cells, by the median row */
    double worst;        /* smallest share of accepted rows in which a column is met, */
    size_t worst_column; /* and where */
    size_t judged;       /* rows that count */
    size_t largest;      /* largest rank that was tried */
    double left;         /* what the best space left of a typical cell, where none was accepted */
} ur_subspace;

/* the rule of acceptance, of rows that were decided */
unrelu_status ur_subspace_judge(const ur_consensus *c, ur_subspace *s, unrelu_error *err);
int ur_subspace_accepted(const ur_subspace *s);
/* k: as asked, or 0. Where none of the ranks is accepted s holds the best that was seen.
 * Cells of at most n_most rows are looked at, ranks up to r_most; thorough: also by schedules
 * for rare cases. */
unrelu_status ur_subspace_find(const ur_sparse_cells *cells, size_t k, int constant, size_t n_most,
                               size_t r_most, int thorough, ur_arena *arena, ur_subspace *s,
                               unrelu_error *err);

/* --- clean.c --- */
typedef struct {
    size_t rows;
    size_t *row;  /* of the data */
    ur_data data; /* of these, wrong cells replaced; floors are those of the cells that are right */
} ur_clean;

/* `rows` of the data, evenly spread; s is judged anew on them: none where it does not hold */
unrelu_status ur_clean_make(const ur_problem *given, const ur_sparse_cells *cells, size_t rows,
                            ur_subspace *s, ur_arena *arena, ur_clean *clean, unrelu_error *err);
/* the exact network of the cleaned rows, which the rules of uniqueness will look at */
unrelu_status ur_clean_recover(const ur_problem *given, const ur_clean *clean, ur_outcome *out,
                               unrelu_error *err);

/* --- audit.c --- */
typedef struct {
    double residual, held; /* relative, over cells that are met: all rows, those not in clean */
    double wrong;          /* share of cells that are not */
    size_t rows, rows_met; /* that are not idle; with more than half of their cells met */
    double worst;          /* smallest share of rows in which a column is met */
    size_t worst_column;
    int columns_met;     /* to their floors, where they are met */
    size_t *missed;      /* n: wrong cells of each row */
    unsigned char *idle; /* n: the network gives 0 there */
} ur_audit;

/* The network of out against all labels; sets its E. The arena holds the audit. */
unrelu_status ur_audit_run(const ur_problem *given, const ur_clean *clean, ur_arena *arena,
                           ur_outcome *out, ur_audit *audit, unrelu_error *err);

/* --- structure.c --- */
/* *why = NULL: the support of E looks like one at random; else what does not, as a sentence in the
 * arena of out */
unrelu_status ur_structure_test(const ur_problem *given, const ur_outcome *out,
                                const ur_audit *audit, const char **why, unrelu_error *err);
/* P(count <= t) of n trials with probability p */
double ur_binomial_below(size_t n, double p, size_t t);

/* --- incoherence.c --- */
typedef struct {
    double mu;            /* the largest of the three */
    double rows, columns; /* (n / r) max leverage of a row of L, (m / r) of a column */
    double joint;         /* n m / r |P Q'|_inf^2 */
    size_t r;             /* rank of L */
    double bound;         /* m / (mu log^2 n): what Theorem 14 wants k to be below, times const */
} ur_incoherence;
/* of the labels that a network gives; scales of columns count as they are */
unrelu_status ur_incoherence_measure(const ur_problem *given, const ur_weights *weights,
                                     ur_incoherence *out, unrelu_error *err);

/* --- sparse_noise.c --- */
/* A cheap test, for --method auto, whether the labels look like low rank plus sparse errors:
 * *looks = 0 for clean labels, for labels with noise in every cell, and below 20 columns. */
unrelu_status ur_sparse_noise_looks(const ur_problem *given, int *looks, unrelu_error *err);
unrelu_status ur_sparse_noise(const ur_problem *given, ur_outcome *out, unrelu_error *err);

#endif
