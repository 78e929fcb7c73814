/* SPDX-License-Identifier: Apache-2.0 */
#include "model_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "flags.h"
#include "model_pairs.h"
#include "table.h"
#include "width.h"

enum {
    MANY = 30,  /* columns from which on not all are shown, but */
    FIRST = 20, /* the first of them and */
    FLAGGED = 20,
    EIGENVALUES = 20,
};

double cli_half_width(double level)
{
    return -unrelu_normal_quantile((1 - level) / 2);
}

int cli_has_errors(const double *se, size_t count)
{
    for (size_t i = 0; se && i < count; i++)
        if (isfinite(se[i]))
            return 1;
    return 0;
}

void cli_add_column_name(cli_table *table, const unrelu_gaussian *m, size_t i)
{
    char name[32];
    snprintf(name, sizeof name, "x%zu", i + 1);
    cli_table_add_name(table, m->names ? m->names[i] : name);
}

double cli_half_of(const double *se, size_t count, size_t i, double z)
{
    return cli_has_errors(se, count) ? z * se[i] : -1;
}

double cli_censored_share(const unrelu_gaussian *m, size_t i)
{
    if (!m->observed || !m->positive || !(m->observed[i] > 0))
        return NAN;
    return 1 - m->positive[i] / m->observed[i];
}

static void add_censored(cli_table *table, const unrelu_gaussian *m, size_t i)
{
    double share = cli_censored_share(m, i);
    if (isfinite(share))
        cli_table_add(table, "%.2f %%", 100 * share);
    else
        cli_table_add(table, "%s", "");
}

static void add_flags(cli_table *table, uint32_t flags)
{
    char text[CLI_TABLE_CELL] = "";
    for (int bit = 0; bit < UNRELU_FLAG_COUNT; bit++) {
        size_t used = strlen(text);
        if (flags >> bit & 1)
            snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "",
                     unrelu_flag_name(bit));
    }
    cli_table_add(table, "%s", text);
}

static int is_shown(const unrelu_gaussian *m, size_t i, size_t *flagged)
{
    if (m->d <= MANY || i < FIRST)
        return 1;
    return m->flags && m->flags[i] && (*flagged)++ < FLAGGED;
}

static void add_titles(cli_table *table, const unrelu_gaussian *m, const cli_coordinates *names)
{
    cli_table_add(table, "%s", names->one);
    cli_table_add(table, "%s", m->observed ? names->censored : "");
    if (m->limit)
        cli_table_add(table, "limit");
    cli_table_add(table, "b");
    cli_table_add(table, "scale");
    if (m->noise)
        cli_table_add(table, "noise sd");
    cli_table_add(table, "%s", m->flags ? "flags" : "");
}

static void add_coordinate(cli_table *table, const unrelu_gaussian *m, size_t i, double z)
{
    cli_add_column_name(table, m, i);
    add_censored(table, m, i);
    if (m->limit && isinf(m->limit[i]))
        cli_table_add(table, "none");
    else if (m->limit)
        cli_table_add(table, "%.4g", m->limit[i]);
    cli_table_add_estimate(table, m->b[i], cli_half_of(m->b_se, m->d, i, z));
    cli_table_add_estimate(table, m->scale[i], cli_half_of(m->scale_se, m->d, i, z));
    if (m->noise)
        cli_table_add(table, "%.4g", m->noise[i]);
    add_flags(table, m->flags ? m->flags[i] : 0);
}

void cli_print_coordinates(const unrelu_gaussian *m, const cli_coordinates *names, double z)
{
    cli_table table;
    size_t shown = 0, flagged = 0;
    const char *align = m->limit && m->noise   ? "lrrrrrl"
                        : m->limit || m->noise ? "lrrrrl"
                                               : "lrrrl";
    cli_table_start(&table, strlen(align));
    add_titles(&table, m, names);
    for (size_t i = 0; i < m->d; i++) {
        if (!is_shown(m, i, &flagged))
            continue;
        shown++;
        add_coordinate(&table, m, i, z);
    }
    cli_table_print(&table, align);
    if (shown < m->d)
        printf("  ... the first %d and the flagged of %zu %s\n", FIRST, m->d, names->many);
}

/* medians and quantiles of transformed columns, in the data's own scale */
static void print_quantiles(const unrelu_gaussian *m, double level)
{
    cli_table table;
    double z = cli_half_width(level);
    size_t shown = m->d < MANY ? m->d : MANY;
    if (m->transform == UNRELU_TRANSFORM_NONE)
        return;
    printf("\nin the data's own scale: median and the middle %.4g %% of values, censored ones "
           "included\n",
           100 * level);
    cli_table_start(&table, m->lambda ? 5 : 4);
    cli_table_add(&table, "column");
    if (m->lambda)
        cli_table_add(&table, "lambda");
    cli_table_add(&table, "median");
    cli_table_add(&table, "from");
    cli_table_add(&table, "to");
    for (size_t i = 0; i < shown; i++) {
        cli_add_column_name(&table, m, i);
        if (m->lambda)
            cli_table_add(&table, "%.3f", m->lambda[i]);
        for (int side = 0; side < 3; side++)
            cli_table_add(&table, "%.4g",
                          unrelu_gaussian_back(m, i,
                                               m->b[i] + (side == 0   ? 0
                                                          : side == 1 ? -z
                                                                      : z) *
                                                             m->scale[i]));
    }
    cli_table_print(&table, m->lambda ? "lrrrr" : "lrrr");
    if (shown < m->d)
        printf("  ... the first %zu of %zu columns\n", shown, m->d);
}

/* ---- spectrum and head ------------------------------------------------------------- */

static void print_how_k(const unrelu_gaussian *m)
{
    if (m->how_k[0]) {
        putchar('\n');
        cli_print_wrapped(cli_flagged(m->how_k).text, 0, 0);
    }
    if (m->k)
        printf("W (%zu x %zu) is the array W of the model file, which 'fit -o FILE' writes\n", m->d,
               m->k);
}

static void print_eigenvalues(const unrelu_gaussian *m, double level, double z)
{
    cli_table table;
    size_t shown = m->d < EIGENVALUES ? m->d : EIGENVALUES;
    if (!m->eigenvalues)
        return;
    print_how_k(m);
    printf("\neigenvalues of Sigma");
    if (cli_has_errors(m->eigenvalues_se, m->d))
        printf(" (+- is the half-width of a %.4g %% interval)", 100 * level);
    putchar('\n');
    cli_table_start(&table, 3);
    for (size_t i = 0; i < shown; i++) {
        cli_table_add(&table, "%zu", i + 1);
        cli_table_add_estimate(&table, m->eigenvalues[i],
                               cli_half_of(m->eigenvalues_se, m->d, i, z));
        cli_table_add(&table, "%s", i < m->k ? "in W" : "");
    }
    cli_table_print(&table, "rrl");
    if (shown < m->d)
        printf("  ... the first %d of %zu\n", EIGENVALUES, m->d);
}

static void print_head(const unrelu_gaussian *m, double level)
{
    unsigned long long seed = m->seed;
    if (m->method[0])
        printf("rectified Gaussian, learned: n = %zu, d = %zu\n"
               "method %s (norms %s, angles %s), seed %llu\n",
               m->n, m->d, m->method, m->norms, m->angles, seed);
    else
        printf("rectified Gaussian, planted: d = %zu, seed %llu\n", m->d, seed);
    if (m->transform != UNRELU_TRANSFORM_NONE)
        printf("all below is of values transformed by %s\n", unrelu_transform_name(m->transform));
    if (m->rows_dropped > 0)
        printf("%zu row%s with gross outliers left out\n", m->rows_dropped,
               m->rows_dropped == 1 ? "" : "s");
    if (cli_has_errors(m->b_se, m->d))
        printf("+- is the half-width of a %.4g %% interval\n", 100 * level);
    putchar('\n');
}

static void print_repair(const unrelu_gaussian *m)
{
    if (!m->method[0] || !isfinite(m->lambda_min) || m->d == 1)
        return;
    printf("\nsmallest eigenvalue of the correlations %.4g: %s\n", m->lambda_min,
           m->repaired              ? "made positive semidefinite"
           : m->lambda_min < -1e-12 ? "not repaired"
                                    : "no repair was needed");
}

void cli_print_gaussian(const unrelu_gaussian *m, double level)
{
    const cli_coordinates names = {"column", "columns", m->limit ? "censored" : "zeros"};
    double z = cli_half_width(level);
    print_head(m, level);
    cli_print_coordinates(m, &names, z);
    print_quantiles(m, level);
    cli_print_correlations(m, z);
    print_eigenvalues(m, level, z);
    print_repair(m);
}
