/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "escape.h"
#include "flags.h"
#include "model_text.h"
#include "width.h"

enum { FEW_COLUMNS = 20, FEW_UNITS = 8 }; /* up to these A is printed */

double cli_largest_error_of_a(const unrelu_mixture *m)
{
    double largest = -1;
    for (size_t i = 0; m->A_se && i < m->d * m->p; i++) {
        if (isnan(m->A_se[i]))
            return NAN;
        largest = fmax(largest, m->A_se[i]);
    }
    return largest;
}

static void print_verdict(const unrelu_mixture *m)
{
    static const char *const doubts[] = {"ambiguous", "p-unsure", NULL};
    static const char *const rules[] = {"uncertified", NULL};
    char sizes[96], checked[96];
    double error = cli_largest_error_of_a(m);
    snprintf(sizes, sizeof sizes, "%zu unit%s in %zu column%s", m->p, cli_plural(m->p), m->d,
             cli_plural(m->d));
    snprintf(checked, sizeof checked, "nothing below %.2g over %zu sample%s", 0 - m->negative,
             m->samples_checked, cli_plural(m->samples_checked));
    switch (m->verdict) {
    case UNRELU_VERDICT_EXACT:
        cli_print("exact: %s, every facet certified (fewest samples on one: %zu), %s\n", sizes,
                  m->min_off, checked);
        break;
    case UNRELU_VERDICT_UNCERTIFIED:
        cli_print("exact fit, uniqueness not certified: %s, %s\n", sizes, checked);
        cli_print_reason(m->warnings, m->warning_count, rules);
        break;
    case UNRELU_VERDICT_NOISY:
        cli_print("noisy: ");
        cli_print_sigma(m->noise);
        cli_print(" (%.2g %% of the samples), %s", 100 * m->relative_noise, sizes);
        if (error >= 0)
            cli_print(", standard errors of A up to %.2g", error);
        putchar('\n');
        break;
    case UNRELU_VERDICT_AMBIGUOUS:
        cli_print("ambiguous: %s, at least %zu samples on each facet", sizes, m->min_off);
        if (m->noise > 0) {
            cli_print(", with noise of ");
            cli_print_sigma(m->noise);
        }
        putchar('\n');
        cli_print_reason(m->warnings, m->warning_count, doubts);
        break;
    case UNRELU_VERDICT_PLANTED:
    case UNRELU_VERDICT_FAILED: /* of networks only */
    case UNRELU_VERDICT_APPROXIMATE:
    case UNRELU_VERDICT_INCOMPLETE:
        break;
    }
}

/* false: it is too large for that */
static int print_matrix(const unrelu_mixture *m)
{
    cli_table table;
    if (m->d > FEW_COLUMNS || m->p > FEW_UNITS)
        return 0;
    cli_table_start(&table, 1 + m->p);
    cli_table_add(&table, "A");
    for (size_t j = 0; j < m->p; j++)
        cli_add_column_name(&table, m->hidden, j);
    for (size_t i = 0; i < m->d; i++) {
        cli_table_add_name(&table, m->names[i]);
        for (size_t j = 0; j < m->p; j++) {
            double a = m->A[i * m->p + j];
            cli_table_add(&table, "%.4f", fabs(a) < 5e-5 ? 0 : a); /* not "-0.0000" */
        }
    }
    if (cli_table_width(&table) > cli_width())
        return 0;
    cli_table_print(&table, "lrrrrrrrr");
    return 1;
}

void cli_print_mixture(const unrelu_mixture *m, double level)
{
    const cli_coordinates names = {"unit", "units", "off"};
    double z = cli_half_width(level);
    unsigned long long seed = m->seed;
    print_verdict(m);
    if (m->verdict == UNRELU_VERDICT_PLANTED) {
        cli_print("mixture, planted: d = %zu, p = %zu, seed %llu\n", m->d, m->p, seed);
        if (m->noise > 0) {
            cli_print("noise of ");
            cli_print_sigma(m->noise);
            putchar('\n');
        }
    } else {
        cli_print("mixture, learned: n = %zu, d = %zu, p = %zu\n", m->n, m->d, m->p);
        if (m->how_p[0])
            cli_print_wrapped(cli_flagged(m->how_p).text, cli_print("p = %zu: ", m->p), 0);
        cli_print("method %s, %zu tr%s, seed %llu\nresidual %.2g over %zu sample%s\n", m->method,
                  m->tries, m->tries == 1 ? "y" : "ies", seed, m->residual, m->samples_checked,
                  cli_plural(m->samples_checked));
    }
    if (cli_has_errors(m->hidden->b_se, m->p))
        cli_print("+- is the half-width of a %.4g %% interval, given A\n", 100 * level);
    putchar('\n');
    cli_print_coordinates(m->hidden, &names, z);
    cli_print_correlations(m->hidden, z, NULL);
    putchar('\n');
    if (!print_matrix(m))
        cli_print("A (%zu x %zu) is the array A of the model file, which 'unmix -o FILE' writes\n",
                  m->d, m->p);
}
