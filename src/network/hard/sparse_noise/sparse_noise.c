/* SPDX-License-Identifier: Apache-2.0 */
/* Theorem 14 and Corollary 8: A = f(X V') U' + e + E, E sparse with entries of any size. The paper
 * minimises |Y|_* + |E|_1 over Y + E = A, which lacks the factor lambda of |E|_1: as |E|_1 is at
 * least |E|_*, Y = A is always a minimum of it. With lambda the minimum is within 1e-2 to 1e-10 of
 * L, never exact (--pcp). Here: the column space of L by alternating projections on at most
 * max(5 m, 1000) rows, rows of L by exact consensus, the exact network of those rows, and an audit
 * of all cells, from which E is read. Exact up to 40 % wrong cells of either sign, 30 to 35 % of
 * one sign, from about 20 columns on (m = 20, k = 3; m must exceed 2 k, and k + 3). Refuses labels
 * with noise in every cell: no two of their cells agree exactly. */
#include "network/hard/sparse_noise/sparse_noise.h"
#include "base/error.h"
#include "base/random.h"
#include "dense/linear.h"
#include "network/verdict/verdict.h"

#include <math.h>

enum { LEAST_COLUMNS = 5, ROWS_A_COLUMN = 5, LEAST_ROWS = 1000, LARGEST_RANK = 40 };
/* rows for the exact network: it takes 12 for each input, four times as many where a neuron is
 * rarely on */
enum { EXACT_AN_INPUT = 50, EXACT_A_NEURON = 10 };

/* ---- what is told ---- */

static const char *say_no_space(const ur_problem *given, const ur_sparse_cells *cells,
                                const ur_subspace *s, ur_arena *arena)
{
    if (s->r == 0 && s->left < UR_NEARLY)
        return ur_take_text(
            arena,
            "the labels have noise in every cell, or too few columns (%zu) for their rank: a "
            "column space leaves %.1e of a typical cell, and half of the cells must be met exactly "
            "(to %.0e of their median); `method` any-noise takes noise of any kind",
            given->data.m, s->left, cells->tolerance);
    if (s->r == 0)
        return ur_take_text(
            arena,
            "no column space of up to %zu dimensions meets half of the cells exactly (to %.0e of "
            "their median): the labels have noise in every cell, more than about 40 %% wrong "
            "cells, or more than %zu neurons for their %zu columns; `k` names a rank to search "
            "longer, `method` any-noise takes noise of any kind",
            s->largest, cells->tolerance, s->largest, given->data.m);
    if (s->most > UR_MAJORITY && s->worst <= UR_MAJORITY)
        return ur_take_text(
            arena,
            "the best column space (%zu dimensions) meets most cells of %.0f %% of the rows, but "
            "label column %zu in %.0f %% of them, and more than half is needed: leave that column "
            "out, or give `k`",
            s->r, 100 * s->most, s->worst_column + 1, 100 * s->worst);
    return ur_take_text(
        arena,
        "the best column space (%zu dimensions) meets most cells of %.0f %% of the rows, and more "
        "than half of them is needed (%.0f %% stay undecided after %llu draws each): too many "
        "cells are wrong, or the labels have noise in every cell as well",
        s->r, 100 * s->most, 100 * s->undecided,
        (unsigned long long)ur_consensus_draws(cells, s->r));
}

static const char *say_no_network(const ur_problem *given, const ur_subspace *s,
                                  const ur_clean *clean, double closest, ur_arena *arena)
{
    size_t column = 0, k = given->options.k;
    if (k > 0 && s->r > k + 1)
        return ur_take_text(arena,
                            "the labels are of rank %zu but for %.1f %% of their cells, too many "
                            "for the %zu neurons asked for: leave out `k`",
                            s->r, 100 * s->wrong, k);
    double leverage = 0; /* of a column on the space, whose basis is orthonormal: 1 is all of it */
    for (size_t j = 0; j < given->data.m; j++) {
        double square = ur_short_dot(s->r, s->B + j * s->r, s->B + j * s->r);
        if (square > leverage) {
            leverage = square;
            column = j;
        }
    }
    if (leverage > UR_MAJORITY)
        return ur_take_text(
            arena,
            "the labels are of rank %zu but for %.1f %% of their cells, and no network fits %zu "
            "cleaned rows (best residual %.2g): label column %zu has a dimension nearly to itself "
            "(leverage %.2f, above 0.5), so that errors in it look like labels; leave that column "
            "out",
            s->r, 100 * s->wrong, clean->rows, closest, column + 1, leverage);
    return ur_take_text(
        arena,
        "the labels are of rank %zu but for %.1f %% of their cells, and no network with an exact "
        "fit was found on %zu cleaned rows (best residual %.2g): the map is not a sum of ReLUs of "
        "the inputs, or it needs other biases (`bias`) or more rows",
        s->r, 100 * s->wrong, clean->rows, closest);
}

/* ---- the walk ---- */

/* The network of some cleaned rows, held against all labels: counts of samples are over all rows,
 * the residual over the cells that are met. *over: more rows would not help. */
static unrelu_status attempt(const ur_problem *given, const ur_sparse_cells *cells, size_t rows,
                             ur_subspace *s, int *over, ur_outcome *out, unrelu_error *err)
{
    UR_ARENA(own);
    UR_ARENA(arena);
    UR_ARENA(cleaned); /* rows that the rules will look at */
    ur_outcome found = ur_outcome_in(&arena);
    ur_clean clean;
    ur_audit audit;
    ur_incoherence mu = {0};
    int asked = given->options.k > 0;
    UR_TRY(ur_clean_make(given, cells, rows, s, &cleaned, &clean, err));
    if (clean.rows == 0) {
        *over = 1;
        out->failure = say_no_space(given, cells, s, out->arena);
        return UNRELU_OK;
    }
    found.closest = out->closest;
    UR_TRY(ur_clean_recover(given, &clean, &found, err));
    UR_TRY(ur_arena_status(&arena, err));
    out->closest = found.closest;
    if (found.answer == UR_NONE) {
        out->failure = say_no_network(given, s, &clean, out->closest, out->arena);
        return UNRELU_OK;
    }
    *over = 1;
    UR_TRY(ur_certify(given, &found.weights, NULL, &arena, &found.certificate, err));
    UR_TRY(ur_audit_run(given, &clean, &own, &found, &audit, err));
    found.certificate.residual = audit.residual;
    found.certificate.holdout_residual = audit.held;
    found.certificate.precision = ur_take_copy(&arena, clean.data.precision);
    found.guarantee = out->guarantee;
    found.how_k = "";
    if (!audit.columns_met || audit.worst <= UR_MAJORITY || 2 * audit.rows_met <= audit.rows) {
        found.answer = UR_NONE;
        found.failure = ur_take_text(
            &arena,
            "a network fits the cleaned rows, but over all rows it meets most cells of %zu of %zu "
            "rows and column %zu of the labels in %.0f %% of them (residual %.2g on cells that it "
            "meets): more than half is needed, and too many cells are wrong",
            audit.rows_met, audit.rows, audit.worst_column + 1, 100 * audit.worst, audit.residual);
        ur_outcome_keep(&found, out);
        return UNRELU_OK;
    }
    UR_TRY(ur_structure_test(given, &found, &audit, &found.evidence.doubt, err));
    UR_TRY(ur_incoherence_measure(given, &found.weights, &mu, err));
    found.incoherence = mu.mu;
    found.assumption = ur_take_text(
        &arena,
        "%.3g %% of the cells are wrong; mu = %.3g (rows %.2g, columns %.2g, both %.2g; 1 is "
        "best): the theorem wants k = %zu below a constant times m / (mu log^2 n) = %.2g; whether "
        "wrong cells are at random was tested against the inputs; the inputs' law was not",
        100 * audit.wrong, mu.mu, mu.rows, mu.columns, mu.joint, found.weights.k, mu.bound);
    found.how_k = ur_take_text(
        &arena,
        "%s the labels without their wrong cells have rank %zu, %s at which most cells of most "
        "rows agree (%.1f %% of the rows that were looked at)",
        asked ? "given;" : "found out:", s->r, asked ? "a rank" : "the smallest",
        100 * (1 - s->undecided));
    ur_outcome_note_merged(given, &found);
    ur_arena_give(&cleaned, &arena);
    ur_outcome_keep(&found, out);
    return UNRELU_OK;
}

unrelu_status ur_sparse_noise(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    size_t m = given->data.m, k = given->options.k;
    size_t least = k + 4 > LEAST_COLUMNS ? k + 4 : LEAST_COLUMNS;
    UR_ARENA(arena);
    ur_sparse_cells cells;
    ur_subspace s;
    out->guarantee =
        "Theorem 14 and Corollary 8 (normal inputs, incoherent labels, a small constant share of "
        "wrong cells at random; the printed program lacks lambda and returns E = 0); here the "
        "certificate: most cells of most rows and of every column are met exactly";
    if (m < least) {
        out->failure = ur_take_text(
            out->arena,
            "the labels have %zu column%s, and sparse errors are told from labels by at least %zu: "
            "four more than neurons, and better twice as many; `method` any-noise takes any number",
            m, m == 1 ? "" : "s", least);
        return UNRELU_OK;
    }
    size_t rows = ROWS_A_COLUMN * m > LEAST_ROWS ? ROWS_A_COLUMN * m : LEAST_ROWS;
    size_t most = k + 1 > LARGEST_RANK ? k + 1 : LARGEST_RANK;
    unrelu_biases biases = given->options.biases;
    int constant = biases != UNRELU_BIASES_NONE && biases != UNRELU_BIASES_HIDDEN;
    UR_TRY(ur_sparse_cells_open(given, &arena, &cells, err));
    UR_TRY(ur_subspace_find(&cells, k, constant, rows, most, 1, &arena, &s, err));
    if (!ur_subspace_accepted(&s)) {
        out->failure = say_no_space(given, &cells, &s, out->arena);
        return UNRELU_OK;
    }
    rows = EXACT_AN_INPUT * (given->data.d + 1) + EXACT_A_NEURON * s.r + LEAST_ROWS;
    for (int over = 0; !over; rows = given->data.n) {
        over = rows >= given->data.n;
        UR_TRY(attempt(given, &cells, rows, &s, &over, out, err));
    }
    return UNRELU_OK;
}

/* ---- a look ---- */

/* A submatrix of labels that are low rank plus sparse errors is one as well, so that some rows and
 * columns are enough to tell, for ranks up to 10. A rank that meets most of its cells to rounding
 * is proof; then some cell of all rows must be off. 0.05 to 0.4 s of processor time for any size of
 * labels. Below LOOK_LEAST columns nobody looks: a network that lacks neurons meets most cells of
 * most rows there, and calls the others wrong. */
enum { LOOK_LEAST = 20, LOOK_COLUMNS = 40, LOOK_ROWS = 500, LOOK_RANK = 10, LOOK_DRAWS = 500 };

/* whether some row of all is not in the space */
static int is_off(const ur_sparse_cells *all, const size_t *column, size_t m, const ur_subspace *s)
{
    for (size_t i = 0; i < all->n; i++) {
        double size = 0, inside = 0;
        for (size_t l = 0; l < s->r; l++) {
            double at = 0;
            for (size_t j = 0; j < m; j++)
                at +=
                    s->B[j * s->r + l] * all->a[i * all->m + column[j]] * all->per_unit[column[j]];
            inside += at * at;
        }
        for (size_t j = 0; j < m; j++)
            size += pow(all->a[i * all->m + column[j]] * all->per_unit[column[j]], 2);
        if (size - inside > all->tolerance * size)
            return 1;
    }
    return 0;
}

unrelu_status ur_sparse_noise_looks(const ur_problem *given, int *looks, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_sparse_cells all;
    ur_subspace s;
    size_t m = given->data.m < LOOK_COLUMNS ? given->data.m : LOOK_COLUMNS, kept = 0;
    size_t n = given->data.n < LOOK_ROWS ? given->data.n : LOOK_ROWS;
    *looks = 0;
    if (m < LOOK_LEAST)
        return UNRELU_OK;
    UR_TRY(ur_sparse_cells_open(given, &arena, &all, err));
    size_t *column = ur_take(&arena, m, sizeof *column);
    double *a = ur_take(&arena, n, m * sizeof *a);
    double *random = ur_take(&arena, all.m, sizeof *random);
    ur_sparse_cells few = all;
    few.n = n;
    few.m = m;
    few.a = a;
    few.draws = LOOK_DRAWS;
    few.per_unit = ur_take(&arena, m, sizeof *few.per_unit);
    UR_TRY(ur_arena_status(&arena, err));
    ur_random_uniforms(all.seed, UR_STREAM_SPARSE_COLUMNS, 0, all.m, random);
    for (size_t j = 0; j < all.m; j++) /* columns at random: so many of those that are left */
        if (random[j] * (double)(all.m - j) < (double)(m - kept) && kept < m) {
            few.per_unit[kept] = all.per_unit[j];
            column[kept++] = j;
        }
    for (size_t i = 0; i < n; i++) {
        size_t row = (size_t)((double)i * ((double)all.n / (double)n));
        for (size_t j = 0; j < m; j++)
            a[i * m + j] = all.a[row * all.m + column[j]];
    }
    UR_TRY(ur_subspace_find(&few, 0, 0, n, LOOK_RANK, 0, &arena, &s, err));
    *looks =
        ur_subspace_accepted(&s) && (s.wrong > 0 || s.worst < 1 || is_off(&all, column, m, &s));
    return UNRELU_OK;
}
