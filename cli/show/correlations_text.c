/* SPDX-License-Identifier: Apache-2.0 */
/* Correlations for a reader: the strongest, all of them, or as a matrix. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "escape.h"
#include "model_text.h"
#include "scope.h"
#include "width.h"

enum {
    STRONGEST = 10, /* pairs, unless others are asked for */
    MOST = 10000,   /* of the strongest: a search, not a sort */
    BATCH = CLI_TABLE_ROWS - 1,
    BESIDE = CLI_TABLE_COLUMNS - 1, /* columns of a matrix beside one another */
    HEAD = 9,                       /* characters of a name above one */
    DECIMALS = 3,                   /* in it */
};
static const double ROUNDED_TO_0 = 0.5e-3; /* in so many decimals: not "-0.000" */

int cli_parse_pairs(const char *text, cli_shown_pairs *out)
{
    double most;
    *out = (cli_shown_pairs){.most = STRONGEST};
    if (!text)
        return 0;
    out->is_matrix = strcmp(text, "matrix") == 0;
    out->all = out->is_matrix || strcmp(text, "all") == 0;
    if (out->all)
        return 0;
    CLI_TRY(cli_parse_real("--correlations", text, 1, MOST,
                           "all, matrix, or a whole number from 1 to 10000", &most));
    if (most != floor(most))
        return cli_usage("--correlations: '%s' is not all, matrix, or a whole number", text);
    out->most = (size_t)most;
    return 0;
}

/* errors of correlations, where there are any: the upper triangle counts */
static const double *errors_of(const unrelu_gaussian *m)
{
    for (size_t i = 0; m->correlation_se && i + 1 < m->d; i++)
        if (cli_has_errors(m->correlation_se + i * m->d + i + 1, m->d - i - 1))
            return m->correlation_se;
    return NULL;
}

static int is_few_joint(const unrelu_gaussian *m, size_t ij)
{
    return m->pair_flags && m->pair_flags[ij] & UNRELU_FLAG_FEW_JOINT;
}

/* ---- pair by pair ---- */

static void add_pair(cli_table *table, const unrelu_gaussian *m, const double *se, double z,
                     const cli_pair *pair)
{
    size_t ij = pair->i * m->d + pair->j;
    char text[CLI_TABLE_CELL];
    double low, high, rho = m->correlation[ij];
    cli_add_column_name(table, m, pair->i);
    cli_add_column_name(table, m, pair->j);
    cli_correlation_interval(rho, se ? se[ij] : -1, z, &low, &high);
    cli_format_between(text, sizeof text, rho, low, high);
    size_t before = strcspn(text, "["); /* a cell of its own, so that estimates line up */
    cli_table_add(table, "%.*s", (int)(text[before] ? before - 1 : before), text);
    cli_table_add(table, "%s%s", text + before, is_few_joint(m, ij) ? " few-joint" : "");
}

/* Tables of some rows at a time, of the same widths: once to measure, once to print. */
static void print_pairs(const unrelu_gaussian *m, const double *se, double z, const cli_pair *pairs,
                        size_t count)
{
    cli_table table, widest;
    cli_table_start(&widest, 4);
    for (int print = 0; print < 2; print++)
        for (size_t first = 0; first < count; first += BATCH) {
            cli_table_start(&table, 4);
            for (size_t k = first; k < count && k < first + BATCH; k++)
                add_pair(&table, m, se, z, &pairs[k]);
            cli_table_widen(&widest, &table);
            if (print) {
                cli_table_widen(&table, &widest);
                cli_table_print(&table, "llrr");
            }
        }
}

static void print_all(const unrelu_gaussian *m, const double *se, double z)
{
    size_t count = 0;
    CLI_ARRAY cli_pair *pairs = unrelu_alloc(m->d, m->d * sizeof *pairs);
    if (!pairs) {
        cli_print_lose();
        return;
    }
    for (size_t i = 0; i < m->d; i++)
        for (size_t j = i + 1; j < m->d; j++)
            pairs[count++] = (cli_pair){i, j, 0};
    cli_print("\ncorrelations%s\n", se ? " [intervals by Fisher's z]" : "");
    print_pairs(m, se, z, pairs, count);
}

static void print_strongest(const unrelu_gaussian *m, const double *se, double z, size_t most)
{
    size_t pairs = m->d * (m->d - 1) / 2, few_joint;
    most = most < pairs ? most : pairs;
    CLI_ARRAY cli_pair *top = unrelu_alloc(most + 1, sizeof *top);
    if (!top) {
        cli_print_lose();
        return;
    }
    size_t shown = cli_strongest_pairs(m, se, most, top, &few_joint);
    const char *intervals = se ? " [intervals by Fisher's z]" : "";
    if (shown == 0 && few_joint == 0)
        return;
    if (shown == 0 && few_joint == pairs && se && most == pairs)
        print_all(m, se, z);
    else if (shown == 0 && few_joint < pairs)
        cli_print("\ncorrelations: %zu of %zu pairs are few-joint, the others 0\n", few_joint,
                  pairs);
    else if (shown == 0)
        cli_print("\ncorrelations: %s few-joint: too few rows where both are positive\n",
                  pairs == 1 ? "the only pair is" : "every pair is");
    else if (shown == pairs)
        cli_print("\ncorrelations%s\n", intervals);
    else if (few_joint)
        cli_print("\nstrongest correlations%s (%zu of %zu pairs; %zu few-joint left out)\n",
                  intervals, shown, pairs, few_joint);
    else
        cli_print("\nstrongest correlations%s (%zu of %zu pairs)\n", intervals, shown, pairs);
    print_pairs(m, se, z, top, shown);
}

/* ---- a matrix ---- */

static void add_head(cli_table *table, const unrelu_gaussian *m, size_t j)
{
    char name[CLI_TABLE_CELL];
    cli_add_column_name(table, m, j);
    char *cell = table->cell[table->cells - 1];
    snprintf(name, sizeof name, "%s", cell);
    if (name[cli_text_cut(name, HEAD)])
        snprintf(cell, CLI_TABLE_CELL, "%.*s~", (int)cli_text_cut(name, HEAD - 1), name);
}

/* some of its columns, from the diagonal down */
static void print_block(const unrelu_gaussian *m, size_t first, size_t end)
{
    cli_table table, widest;
    cli_table_start(&widest, end - first + 1);
    for (int print = 0; print < 2; print++)
        for (size_t from = first; from < m->d; from += BATCH) {
            cli_table_start(&table, end - first + 1);
            for (size_t j = first; from == first && j <= end; j++) {
                if (j == first)
                    cli_table_add(&table, "%s", "");
                if (j < end)
                    add_head(&table, m, j);
            }
            for (size_t i = from; i < m->d && i < from + BATCH; i++) {
                cli_add_column_name(&table, m, i);
                for (size_t j = first; j < end; j++) {
                    size_t ij = i * m->d + j;
                    double rho = m->correlation[ij];
                    if (j > i)
                        cli_table_add(&table, "%s", "");
                    else
                        cli_table_add(&table, "%.*f%s", i == j ? 0 : DECIMALS,
                                      fabs(rho) < ROUNDED_TO_0 ? 0 : rho,
                                      i != j && is_few_joint(m, ij) ? "?" : "");
                }
            }
            cli_table_widen(&widest, &table);
            if (print) {
                cli_table_widen(&table, &widest);
                cli_table_print(&table, "lrrrrrrrr");
            }
        }
}

static void print_matrix(const unrelu_gaussian *m)
{
    int doubted = 0;
    for (size_t ij = 0; ij < m->d * m->d; ij++)
        doubted |= ij / m->d != ij % m->d && is_few_joint(m, ij);
    cli_print("\ncorrelations%s\n", doubted ? " (?: few-joint)" : "");
    for (size_t first = 0; first < m->d; first += BESIDE) {
        if (first > 0)
            cli_print("\n");
        print_block(m, first, first + BESIDE < m->d ? first + BESIDE : m->d);
    }
}

void cli_print_correlations(const unrelu_gaussian *m, double z, const cli_shown_pairs *pairs)
{
    if (!m->correlation || m->d < 2)
        return;
    if (pairs && pairs->is_matrix)
        print_matrix(m);
    else if (pairs && pairs->all)
        print_all(m, errors_of(m), z);
    else
        print_strongest(m, errors_of(m), z, pairs ? pairs->most : STRONGEST);
}
