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
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEAST_COLUMNS = 5, ROWS_A_COLUMN = 5, LEAST_ROWS = 1000, LARGEST_RANK = 40 };

/* ---- what is told ---- */

static void tell_guarantee(unrelu_network *model)
{
    snprintf(model->guarantee, sizeof model->guarantee,
             "Theorem 14 and Corollary 8 (normal inputs, incoherent labels, a small constant share "
             "of wrong cells at random; the printed program lacks lambda and returns E = 0); here "
             "the certificate: most cells of most rows and of every column are met exactly");
}

static void tell_assumption(ur_recover *r, const ur_audit *audit, const ur_incoherence *mu)
{
    snprintf(r->model->assumption, sizeof r->model->assumption,
             "%.3g %% of the cells are wrong; mu = %.3g (rows %.2g, columns %.2g, both %.2g; 1 is "
             "best): the theorem wants k = %zu below a constant times m / (mu log^2 n) = %.2g; "
             "whether wrong cells are at random was tested against the inputs; the inputs' law was "
             "not",
             100 * audit->wrong, mu->mu, mu->rows, mu->columns, mu->joint, r->model->k, mu->bound);
}

static void fail_space(ur_recover *r, const ur_sparse_cells *cells, const ur_subspace *s)
{
    unrelu_network *model = r->model;
    if (s->r == 0 && s->left < 0.1)
        snprintf(model->failure, sizeof model->failure,
                 "the labels have noise in every cell, or too few columns (%zu) for their rank: a "
                 "column space leaves %.1e of a typical cell, and half of the cells must be met "
                 "exactly (to %.0e of their median); --method any-noise takes noise of any kind",
                 r->data.m, s->left, cells->tolerance);
    else if (s->r == 0)
        snprintf(model->failure, sizeof model->failure,
                 "no column space of up to %zu dimensions meets half of the cells exactly (to "
                 "%.0e of their median): the labels have noise in every cell, more than about 40 "
                 "%% wrong cells, or more than %zu neurons for their %zu columns; -k names a rank "
                 "to search longer, --method any-noise takes noise of any kind",
                 s->largest, cells->tolerance, s->largest, r->data.m);
    else if (s->most > 0.5 && s->worst <= 0.5)
        snprintf(model->failure, sizeof model->failure,
                 "the best column space (%zu dimensions) meets most cells of %.0f %% of the rows, "
                 "but label column %zu in %.0f %% of them, and more than half is needed: leave "
                 "that column out, or give -k",
                 s->r, 100 * s->most, s->worst_column + 1, 100 * s->worst);
    else
        snprintf(model->failure, sizeof model->failure,
                 "the best column space (%zu dimensions) meets most cells of %.0f %% of the rows, "
                 "and more than half of them is needed (%.0f %% stay undecided after %llu draws "
                 "each): too many cells are wrong, or the labels have noise in every cell as well",
                 s->r, 100 * s->most, 100 * s->undecided,
                 (unsigned long long)ur_consensus_draws(cells, s->r));
}

/* of the columns on the space, which has orthonormal coordinates: 1 is a column by itself */
static double largest_leverage(const ur_subspace *s, size_t m, size_t *column)
{
    double largest = 0;
    for (size_t j = 0; j < m; j++) {
        double square = 0;
        for (size_t l = 0; l < s->r; l++)
            square += s->B[j * s->r + l] * s->B[j * s->r + l];
        if (square > largest) {
            largest = square;
            *column = j;
        }
    }
    return largest;
}

static void fail_network(ur_recover *r, const ur_subspace *s, const ur_clean *clean)
{
    if (r->options->k > 0 && s->r > r->options->k + 1) {
        snprintf(r->model->failure, sizeof r->model->failure,
                 "the labels are of rank %zu but for %.1f %% of their cells, too many for the %zu "
                 "neurons asked for: leave out -k",
                 s->r, 100 * s->wrong, r->options->k);
        return;
    }
    size_t column = 0;
    double leverage = largest_leverage(s, r->data.m, &column);
    if (leverage > 0.5)
        snprintf(
            r->model->failure, sizeof r->model->failure,
            "the labels are of rank %zu but for %.1f %% of their cells, and no network fits %zu "
            "cleaned rows (best residual %.2g): label column %zu has a dimension nearly to "
            "itself (leverage %.2f, above 0.5), so that errors in it look like labels; leave "
            "that column out",
            s->r, 100 * s->wrong, clean->rows, r->best, column + 1, leverage);
    else
        snprintf(
            r->model->failure, sizeof r->model->failure,
            "the labels are of rank %zu but for %.1f %% of their cells, and no network with an "
            "exact fit was found on %zu cleaned rows (best residual %.2g): the map is not a "
            "sum of ReLUs of the inputs, or it needs other biases (--bias) or more rows",
            s->r, 100 * s->wrong, clean->rows, r->best);
}

static void fail_audit(ur_recover *r, const ur_audit *audit)
{
    snprintf(r->model->failure, sizeof r->model->failure,
             "a network fits the cleaned rows, but over all rows it meets most cells of %zu of %zu "
             "rows and column %zu of the labels in %.0f %% of them (residual %.2g on cells that it "
             "meets): more than half is needed, and too many cells are wrong",
             audit->rows_met, audit->rows, audit->worst_column + 1, 100 * audit->worst,
             audit->residual);
}

static void tell_k(ur_recover *r, const ur_subspace *s)
{
    unrelu_network *model = r->model;
    snprintf(model->how_k, sizeof model->how_k,
             "%s the labels without their wrong cells have rank %zu, %s at which most cells of "
             "most rows agree (%.1f %% of the rows that were looked at)",
             r->options->k ? "given;" : "found out:", s->r,
             r->options->k ? "a rank" : "the smallest", 100 * (1 - s->undecided));
}

/* ---- the certificate ---- */

static int holds(const ur_audit *audit)
{
    return audit->columns_met && audit->worst > 0.5 && 2 * audit->rows_met > audit->rows;
}

/* counts of samples and the residual over all rows; the verdict of the cleaned rows stays, or is
 * lowered */
static unrelu_status certify(ur_recover *r, const ur_clean *clean, int *met, unrelu_error *err)
{
    unrelu_network *model = r->model;
    ur_audit audit = {0};
    ur_incoherence mu = {0};
    char why[320];
    unrelu_status status = ur_certify(r, NULL, err);
    if (status == UNRELU_OK)
        status = ur_audit_run(r, clean, &audit, err);
    if (status != UNRELU_OK)
        goto done;
    model->residual = audit.residual;
    model->holdout_residual = audit.held;
    snprintf(model->precision, sizeof model->precision, "%s", clean->data.precision);
    if (!holds(&audit)) {
        fail_audit(r, &audit);
        goto done;
    }
    if ((status = ur_structure_test(r, &audit, why, sizeof why, err)) != UNRELU_OK ||
        (status = ur_incoherence_measure(r, &mu, err)) != UNRELU_OK)
        goto done;
    *met = 1;
    model->incoherence = mu.mu;
    tell_assumption(r, &audit, &mu);
    if (why[0]) {
        model->verdict = UNRELU_VERDICT_UNCERTIFIED;
        status = ur_network_warn(model, "uncertified", err, "%s", why);
    }
done:
    ur_audit_free(&audit);
    return status;
}

/* ---- the walk ---- */

/* rows for the exact network: it takes 12 for each input, four times as many where a neuron is
 * rarely on */
static size_t rows_wanted(const ur_recover *r, size_t rank)
{
    return 50 * (r->data.d + 1) + 10 * rank + LEAST_ROWS;
}

static unrelu_status warn_merged(ur_recover *r, unrelu_error *err)
{
    if (r->options->k <= r->model->k)
        return UNRELU_OK;
    return ur_network_warn(r->model, "merged", err,
                           "%zu neurons were asked for and %zu are enough: the others coincide "
                           "with these, have no output or are never on",
                           r->options->k, r->model->k);
}

static unrelu_status finish(ur_recover *r, const ur_sparse_cells *cells, ur_subspace *s, int *met,
                            unrelu_error *err)
{
    size_t rows = rows_wanted(r, s->r);
    unrelu_status status = UNRELU_OK;
    for (int exact = 0, last = 0; status == UNRELU_OK && !exact && !last; rows = r->data.n) {
        ur_clean clean = {0};
        int accepted = 0;
        last = rows >= r->data.n;
        status = ur_clean_make(r, cells, rows, s, &clean, &accepted, err);
        if (status == UNRELU_OK && !accepted) {
            fail_space(r, cells, s);
            last = 1;
        } else if (status == UNRELU_OK) {
            status = ur_clean_recover(r, &clean, &exact, err);
        }
        if (status == UNRELU_OK && exact)
            status = certify(r, &clean, met, err);
        else if (status == UNRELU_OK && accepted)
            fail_network(r, s, &clean);
        ur_clean_free(&clean);
    }
    if (status == UNRELU_OK && *met) {
        tell_k(r, s);
        status = warn_merged(r, err);
    }
    return status;
}

unrelu_status ur_sparse_noise(ur_recover *r, int *met, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_sparse_cells cells = {0};
    ur_subspace s = {0};
    size_t m = r->data.m, rows = ROWS_A_COLUMN * m > LEAST_ROWS ? ROWS_A_COLUMN * m : LEAST_ROWS;
    int found = 0, constant = r->options->biases != UNRELU_BIASES_NONE &&
                              r->options->biases != UNRELU_BIASES_HIDDEN;
    *met = 0;
    if (r->options->pcp)
        return ur_pcp_recover(r, met, err);
    tell_guarantee(r->model);
    size_t wanted = r->options->k, least = wanted + 4 > LEAST_COLUMNS ? wanted + 4 : LEAST_COLUMNS;
    if (m < least) {
        snprintf(r->model->failure, sizeof r->model->failure,
                 "the labels have %zu column%s, and sparse errors are told from labels by at least "
                 "%zu: four more than neurons, and better twice as many; --method any-noise takes "
                 "any number",
                 m, m == 1 ? "" : "s", least);
        return UNRELU_OK;
    }
    size_t most = wanted + 1 > LARGEST_RANK ? wanted + 1 : LARGEST_RANK;
    unrelu_status status = ur_sparse_cells_open(r, &arena, &cells, err);
    if (status == UNRELU_OK)
        status = ur_subspace_find(&cells, wanted, constant, rows, most, 1, &arena, &s, &found, err);
    if (status == UNRELU_OK && found)
        status = finish(r, &cells, &s, met, err);
    else if (status == UNRELU_OK)
        fail_space(r, &cells, &s);
    return status;
}
