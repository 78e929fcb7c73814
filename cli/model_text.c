/* SPDX-License-Identifier: Apache-2.0 */
#include "model_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "table.h"
#include "talk.h"

enum {
    MANY = 30,  /* columns from which on not all are shown, but */
    FIRST = 20, /* the first of them and */
    FLAGGED = 20,
    STRONGEST = 10,
    EIGENVALUES = 20,
};

/* P(|Z| < z) = level for a standard normal Z, by bisection: z is below 9 for level < 1 - 1e-16 */
static double half_width(double level)
{
    double low = 0, high = 9;
    for (int i = 0; i < 60; i++) {
        double z = (low + high) / 2;
        *(erfc(z / sqrt(2)) > 1 - level ? &low : &high) = z;
    }
    return (low + high) / 2;
}

/* The standard errors, or NULL where the method has none at all; of a matrix its upper triangle
 * counts. */
static const double *errors_of(const double *se, size_t count)
{
    for (size_t i = 0; se && i < count; i++)
        if (isfinite(se[i]))
            return se;
    return NULL;
}

static const double *pair_errors_of(const double *se, size_t d)
{
    for (size_t i = 0; se && i + 1 < d; i++)
        if (errors_of(se + i * d + i + 1, d - i - 1))
            return se;
    return NULL;
}

static const char *name_of(const unrelu_gaussian *m, size_t i, char *buffer, size_t size)
{
    snprintf(buffer, size, "x%zu", i + 1);
    return m->names ? m->names[i] : buffer;
}

static void add_name(cli_table *table, const unrelu_gaussian *m, size_t i)
{
    char buffer[32];
    cli_table_add(table, "%.60s", name_of(m, i, buffer, sizeof buffer));
}

static void add_estimate(cli_table *table, const double *values, const double *se, size_t i,
                         double z)
{
    char text[CLI_TABLE_CELL];
    if (!se) {
        cli_table_add(table, "%.6g", values[i]);
        return;
    }
    cli_format_estimate(text, sizeof text, values[i], z * se[i]);
    cli_table_add(table, "%s", text);
}

static void add_zeros(cli_table *table, const unrelu_gaussian *m, size_t i)
{
    if (m->observed && m->positive && m->observed[i] > 0)
        cli_table_add(table, "%.2f %%", 100 * (1 - m->positive[i] / m->observed[i]));
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

static void add_coordinate(cli_table *table, const unrelu_gaussian *m, size_t i, double z)
{
    add_name(table, m, i);
    add_zeros(table, m, i);
    add_estimate(table, m->b, errors_of(m->b_se, m->d), i, z);
    add_estimate(table, m->scale, errors_of(m->scale_se, m->d), i, z);
    if (m->noise)
        cli_table_add(table, "%.4g", m->noise[i]);
    add_flags(table, m->flags ? m->flags[i] : 0);
}

static void print_coordinates(const unrelu_gaussian *m, double z)
{
    const char *const titles[] = {"column",   m->observed ? "zeros" : "", "b", "scale",
                                  "noise sd", m->flags ? "flags" : ""};
    cli_table table;
    size_t shown = 0, flagged = 0;
    cli_table_start(&table, m->noise ? 6 : 5);
    for (size_t j = 0; j < 6; j++)
        if (j != 4 || m->noise)
            cli_table_add(&table, "%s", titles[j]);
    for (size_t i = 0; i < m->d; i++) {
        if (!is_shown(m, i, &flagged))
            continue;
        shown++;
        add_coordinate(&table, m, i, z);
    }
    cli_table_print(&table, m->noise ? "lrrrrl" : "lrrrl");
    if (shown < m->d)
        printf("  ... the first %d and the flagged of %zu columns\n", FIRST, m->d);
}

/* ---- correlations ------------------------------------------------------------------ */

typedef struct {
    size_t i, j;
    double strength;
} pair;

static void insert_pair(pair *top, size_t *count, pair new)
{
    size_t at = *count;
    if (*count < STRONGEST)
        (*count)++;
    else if (new.strength <= top[--at].strength)
        return;
    for (; at > 0 && top[at - 1].strength < new.strength; at--)
        top[at] = top[at - 1];
    top[at] = new;
}

/* The pairs of largest |correlation|, without those that the data do not determine (NaN too). */
static size_t find_strongest(const unrelu_gaussian *m, const double *se, pair *top)
{
    size_t count = 0;
    for (size_t i = 0; i < m->d; i++) {
        for (size_t j = i + 1; j < m->d; j++) {
            size_t ij = i * m->d + j;
            double strength = fabs(m->correlation[ij]);
            int known = strength > 1e-12 && /* rounding, in a planted model */
                        (!se || isfinite(se[ij])) &&
                        !(m->pair_flags && m->pair_flags[ij] & UNRELU_FLAG_FEW_JOINT);
            if (known)
                insert_pair(top, &count, (pair){i, j, strength});
        }
    }
    return count;
}

static void print_correlations(const unrelu_gaussian *m, double z)
{
    cli_table table;
    pair top[STRONGEST];
    const double *se = pair_errors_of(m->correlation_se, m->d);
    size_t count = m->correlation ? find_strongest(m, se, top) : 0;
    if (count == 0)
        return;
    printf("\nstrongest correlations (of %zu pairs)\n", m->d * (m->d - 1) / 2);
    cli_table_start(&table, 3);
    for (size_t r = 0; r < count; r++) {
        add_name(&table, m, top[r].i);
        add_name(&table, m, top[r].j);
        add_estimate(&table, m->correlation, se, top[r].i * m->d + top[r].j, z);
    }
    cli_table_print(&table, "llr");
}

/* ---- spectrum and head ------------------------------------------------------------- */

static void print_eigenvalues(const unrelu_gaussian *m, double z)
{
    cli_table table;
    size_t shown = m->d < EIGENVALUES ? m->d : EIGENVALUES;
    if (!m->eigenvalues)
        return;
    printf("\neigenvalues of Sigma%s%s\n", m->how_k[0] ? ": " : "", m->how_k);
    cli_table_start(&table, 3);
    for (size_t i = 0; i < shown; i++) {
        cli_table_add(&table, "%zu", i + 1);
        add_estimate(&table, m->eigenvalues, errors_of(m->eigenvalues_se, m->d), i, z);
        cli_table_add(&table, "%s", i < m->k ? "in W" : "");
    }
    cli_table_print(&table, "rrl");
    if (shown < m->d)
        printf("  ... the first %d of %zu\n", EIGENVALUES, m->d);
}

static void print_head(const unrelu_gaussian *m, double level)
{
    if (m->method[0])
        printf("rectified Gaussian, learned: method %s (norms %s, angles %s), n = %zu, d = %zu, "
               "seed %llu\n",
               m->method, m->norms, m->angles, m->n, m->d, (unsigned long long)m->seed);
    else
        printf("rectified Gaussian, planted: d = %zu, seed %llu\n", m->d,
               (unsigned long long)m->seed);
    if (m->rows_dropped > 0)
        printf("%zu rows with gross outliers left out\n", m->rows_dropped);
    if (errors_of(m->b_se, m->d))
        printf("+- is the half-width of a %.4g %% interval\n", 100 * level);
    putchar('\n');
}

void cli_print_model(const unrelu_gaussian *m, double level)
{
    double z = half_width(level);
    print_head(m, level);
    print_coordinates(m, z);
    print_correlations(m, z);
    print_eigenvalues(m, z);
    if (m->method[0] && isfinite(m->lambda_min))
        printf("\nsmallest eigenvalue of the correlations %.4g: %s\n", m->lambda_min,
               m->repaired              ? "repaired to a positive semidefinite matrix"
               : m->lambda_min < -1e-12 ? "not repaired"
                                        : "no repair was needed");
}

void cli_tell_warnings(const unrelu_gaussian *m)
{
    for (size_t i = 0; i < m->warning_count; i++)
        cli_warning("%s", m->warnings[i].message);
}
