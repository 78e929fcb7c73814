/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "escape.h"
#include "flags.h"
#include "model_text.h"
#include "width.h"

enum { MANY = 30, FIRST = 20 }; /* rows from which on not all are shown, but the first of them */

double cli_norm_of_u(const unrelu_network *m, size_t j)
{
    double norm = 0;
    for (size_t i = 0; i < m->m; i++)
        norm = hypot(norm, m->U[i * m->k + j]);
    return norm;
}

double cli_error_of_v(const unrelu_network *m, size_t j)
{
    double largest = 0;
    for (size_t i = 0; i < m->d; i++) {
        double se = m->V_se[j * m->d + i];
        if (isnan(se))
            return se;
        largest = fmax(largest, se);
    }
    return largest;
}

static int has_output_bias(const unrelu_network *m)
{
    for (size_t i = 0; m->e && i < m->m; i++)
        if (m->e[i] != 0)
            return 1;
    return 0;
}

/* ---- verdict ----------------------------------------------------------------------- */

/* of labels some of which are not the network's; rounded down, so that 100 % is all of them */
static void print_met(const unrelu_network *m)
{
    double cells = (double)m->n * (double)m->m;
    double tenths = floor(1000 * (cells - (double)m->corrupted) / cells);
    if (m->corrupted)
        cli_print(", meets %.3g %% of the labels", tenths / 10);
}

/* a neuron that is on in no row cannot be known */
static void print_region(void)
{
    cli_print(", in the region of these inputs");
}

static void print_holdout(const unrelu_network *m)
{
    if (isfinite(m->holdout_residual))
        cli_print(" (%.2g on rows that the solver did not see)", m->holdout_residual);
}

static void print_fit(const unrelu_network *m, const char *what, const char *then)
{
    static const char digits[] = "digits:";
    cli_print("%s", what);
    if (strcmp(m->precision, "single") == 0)
        cli_print(", to single precision");
    else if (strncmp(m->precision, digits, sizeof digits - 1) == 0)
        cli_print(", to %s digits", m->precision + sizeof digits - 1);
    cli_print("%s: %zu neuron%s", then, m->k, cli_plural(m->k));
    print_met(m);
    cli_print(", residual %.2g%s over %zu sample%s", m->residual, m->corrupted ? " on these" : "",
              m->samples_checked, cli_plural(m->samples_checked));
    if (m->verdict != UNRELU_VERDICT_EXACT)
        print_holdout(m);
}

/* "exact fit, uniqueness not certified", or where it holds */
static void print_uncertified(const unrelu_network *m)
{
    char span[96];
    snprintf(span, sizeof span, "exact on the span of the inputs (rank %zu of %zu)", m->inputs_rank,
             m->d);
    if (m->inputs_rank > 0 && m->inputs_rank < m->d)
        print_fit(m, span, "");
    else
        print_fit(m, "exact fit", ", uniqueness not certified");
}

static void print_verdict(const unrelu_network *m)
{
    static const char *const codes[] = {"not-identifiable", "uncertified", "joint-solver",
                                        "near-duplicate",   "linear-part", NULL};
    static const char *const reasons[] = {"approximate", NULL}, *const stopped[] = {"stopped",
                                                                                    NULL};
    switch (m->verdict) {
    case UNRELU_VERDICT_EXACT:
        print_fit(m, "exact", "");
        if (m->linear_rank)
            cli_print(", a linear part of rank %zu", m->linear_rank);
        if (m->k && m->min_active && m->min_inactive)
            cli_print(", %s on both sides of its kink", m->k == 1 ? "seen" : "every neuron seen");
        print_region();
        putchar('\n');
        break;
    case UNRELU_VERDICT_UNCERTIFIED:
        print_uncertified(m);
        print_region();
        putchar('\n');
        cli_print_reason(m->warnings, m->warning_count, codes);
        break;
    case UNRELU_VERDICT_NOISY:
        cli_print("noisy: ");
        cli_print_sigma(m->noise);
        cli_print(", %zu neuron%s", m->k, cli_plural(m->k));
        print_met(m);
        cli_print(", residual %.2g", m->residual);
        print_holdout(m);
        if (m->starts > 1)
            cli_print(", %zu of %zu starts agree", m->starts_agree, m->starts);
        putchar('\n');
        break;
    case UNRELU_VERDICT_APPROXIMATE:
        print_fit(m, "approximate", "");
        putchar('\n');
        cli_print_reason(m->warnings, m->warning_count, reasons);
        break;
    case UNRELU_VERDICT_INCOMPLETE:
        print_fit(m, "incomplete", "");
        putchar('\n');
        cli_print_reason(m->warnings, m->warning_count, stopped);
        break;
    case UNRELU_VERDICT_FAILED:
        cli_print("failed\n");
        break;
    case UNRELU_VERDICT_PLANTED:
    case UNRELU_VERDICT_AMBIGUOUS: /* of mixtures only */
        break;
    }
}

/* ---- how it was learned -------------------------------------------------------------- */

static void print_learned(const unrelu_network *m, const char *activation)
{
    double cells = (double)m->n * (double)m->m;
    const char *from = strcmp(m->method, "as-given") == 0 ? "as given" : "learned";
    cli_print("network, %s: n = %zu, d = %zu, k = %zu, m = %zu\n", from, m->n, m->d, m->k, m->m);
    if (m->how_k[0])
        cli_print_wrapped(cli_flagged(m->how_k).text, cli_print("k = %zu: ", m->k), 0);
    cli_print("method %s, activation %s, biases %s, seed %llu\n", m->method, activation, m->biases,
              (unsigned long long)m->seed);
    if (m->k && m->verdict != UNRELU_VERDICT_NOISY)
        cli_print("rarest sides of a kink: %zu sample%s on, %zu off\n", m->min_active,
                  cli_plural(m->min_active), m->min_inactive);
    if (m->verdict == UNRELU_VERDICT_EXACT && isfinite(m->holdout_residual))
        cli_print("residual %.2g on rows that the solver did not see\n", m->holdout_residual);
    if (m->V_rational)
        cli_print("verified in exact arithmetic: the labels are met with residual 0\n");
    if (isfinite(m->objective)) {
        cli_print("objective |A - U f(V X)%s|_F = %.6g", has_output_bias(m) ? " - e" : "",
                  m->objective);
        if (m->objective_bound > 0)
            cli_print(", %.4g times a lower bound of it", m->objective / m->objective_bound);
        putchar('\n');
    }
    if (isfinite(m->incoherence))
        cli_print("%zu of %.0f labels (%.3g %%) are not the network's; incoherence %.3g\n",
                  m->corrupted, cells, 100 * (double)m->corrupted / cells, m->incoherence);
}

/* ---- neurons and outputs -------------------------------------------------------------- */

static void print_neurons(const unrelu_network *m, double z)
{
    cli_table table;
    char titles[64];
    size_t shown = m->k <= MANY ? m->k : FIRST;
    int scaled = m->activation.kind == UNRELU_EXPM1 || m->activation.kind == UNRELU_EXPM1SQ ||
                 m->activation.kind == UNRELU_TANH_POS; /* rows of V have a scale of their own */
    putchar('\n');
    snprintf(titles, sizeof titles, "neuron|norm of U%s|bias%s%s", scaled ? "|norm of V" : "",
             m->active ? "|active" : "", m->V_se ? "|se of V" : "");
    cli_table_titles(&table, titles);
    for (size_t j = 0; j < shown; j++) {
        cli_table_add(&table, "%zu", j + 1);
        cli_table_add(&table, "%.6g", cli_norm_of_u(m, j));
        double norm = 0;
        for (size_t i = 0; i < m->d; i++)
            norm = hypot(norm, m->V[j * m->d + i]);
        if (scaled)
            cli_table_add(&table, "%.6g", norm);
        cli_table_add_estimate(&table, m->c[j], cli_half_of(m->c_se, m->k, j, z));
        if (m->active && isfinite(m->active[j]))
            cli_table_add(&table, "%.2f %%", 100 * m->active[j]);
        else if (m->active)
            cli_table_add(&table, "?");
        if (m->V_se)
            cli_table_add(&table, "%.2g", cli_error_of_v(m, j));
    }
    cli_table_print(&table, "rrrrrrr");
    if (shown < m->k)
        cli_print("  ... the first %zu of %zu neurons\n", shown, m->k);
}

static void print_outputs(const unrelu_network *m, double z)
{
    cli_table table;
    char name[32];
    size_t shown = m->m <= MANY ? m->m : FIRST;
    putchar('\n');
    cli_table_titles(&table, "output|bias e");
    for (size_t i = 0; i < shown; i++) {
        snprintf(name, sizeof name, "a%zu", i + 1);
        cli_table_add_name(&table, m->label_names ? m->label_names[i] : name);
        cli_table_add_estimate(&table, m->e[i], cli_half_of(m->e_se, m->m, i, z));
    }
    cli_table_print(&table, "lr");
    if (shown < m->m)
        cli_print("  ... the first %zu of %zu outputs\n", shown, m->m);
}

/* the weights as fractions */
static void print_rational(const unrelu_network *m)
{
    cli_table table;
    cli_print("\nweights of an exact solution: rows of V, then columns of U\n");
    cli_table_start(&table, m->d + m->m);
    for (size_t i = 0; i < m->d; i++)
        cli_table_add_name(&table, m->input_names ? m->input_names[i] : "");
    for (size_t i = 0; i < m->m; i++)
        cli_table_add_name(&table, m->label_names ? m->label_names[i] : "");
    for (size_t j = 0; j < m->k && j < FIRST; j++) {
        for (size_t i = 0; i < m->d; i++)
            cli_table_add(&table, "%s", m->V_rational[j * m->d + i]);
        for (size_t i = 0; i < m->m; i++)
            cli_table_add(&table, "%s", m->U_rational[i * m->k + j]);
    }
    cli_table_print(&table, "rrrrrrrrr");
}

/* "holds: no" and the like, before what decides */
static const char *label_of_holds(const unrelu_network *m)
{
    return strcmp(m->guarantee_holds, "yes") == 0  ? "it holds"
           : strcmp(m->guarantee_holds, "no") == 0 ? "it does not hold"
                                                   : "untested";
}

static void print_theory(const char *what, const char *text)
{
    if (!text[0])
        return;
    int column = cli_print("\n%s: ", what); /* line feeds are not counted */
    cli_print_wrapped(cli_flagged(text).text, column, column);
}

void cli_print_network(const unrelu_network *m, double level)
{
    double z = cli_half_width(level);
    char activation[32];
    unrelu_activation_name(m->activation, activation, sizeof activation);
    print_verdict(m);
    if (m->verdict == UNRELU_VERDICT_PLANTED && strcmp(m->method, "state-dict") == 0)
        cli_print("network, from weights of PyTorch: d = %zu, k = %zu, m = %zu\n", m->d, m->k,
                  m->m);
    else if (m->verdict == UNRELU_VERDICT_PLANTED)
        cli_print("network, planted: d = %zu, k = %zu, m = %zu\nactivation %s, seed %llu\n", m->d,
                  m->k, m->m, activation, (unsigned long long)m->seed);
    else
        print_learned(m, activation);
    if (cli_has_errors(m->c_se, m->k) || cli_has_errors(m->e_se, m->m))
        cli_print("+- is the half-width of a %.4g %% interval\n", 100 * level);
    if (m->k > 0)
        print_neurons(m, z);
    if (has_output_bias(m))
        print_outputs(m, z);
    if (m->V_rational && m->d + m->m <= CLI_TABLE_COLUMNS)
        print_rational(m);
    if (strcmp(m->method, "auto") != 0) { /* the default claims no theorem */
        print_theory("guarantee", m->guarantee);
        print_theory(label_of_holds(m), m->guarantee_because);
    }
    print_theory("assumption", m->assumption);
}
