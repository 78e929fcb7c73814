/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "escape.h"
#include "flags.h"
#include "model_text.h"
#include "width.h"
#include "words.h"

enum {
    MANY = 30,  /* columns from which on not all are shown, but */
    FIRST = 20, /* the first of them and */
    FLAGGED = 20,
    ANSWERED = 10, /* columns in each of three tables */
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

const char *cli_plural(size_t count)
{
    return count == 1 ? "" : "s";
}

void cli_print_sigma(double sigma)
{
    double decimals = 1 - floor(log10(sigma));
    if (decimals >= 1 && decimals <= 6)
        cli_print("sigma %.*f", (int)decimals, sigma);
    else
        cli_print("sigma %.2g", sigma);
}

void cli_print_reason(const unrelu_warning *warnings, size_t count, const char *const *codes)
{
    for (; *codes; codes++)
        for (size_t i = 0; i < count; i++)
            if (strcmp(warnings[i].code, *codes) == 0) {
                cli_print_wrapped(cli_flagged(warnings[i].message).text, 0, 0);
                return;
            }
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

void cli_correlation_interval(double rho, double se, double z, double *low, double *high)
{
    double apart = (1 - rho) * (1 + rho);
    *low = *high = se >= 0 ? rho : NAN;
    if (se < 0)
        *high = (*low = 0) - 1;
    else if (se > 0 && apart > 0) {
        *low = tanh(atanh(rho) - z * se / apart);
        *high = tanh(atanh(rho) + z * se / apart);
    }
}

double cli_censored_share(const unrelu_gaussian *m, size_t i)
{
    if (!m->observed || !m->positive || !(m->observed[i] > 0))
        return NAN;
    return 1 - m->positive[i] / m->observed[i];
}

const char *cli_flag_names(uint32_t flags, char *text, size_t size)
{
    text[0] = '\0';
    for (int bit = 0; *unrelu_flag_name(bit); bit++)
        if (flags >> bit & 1)
            cli_append(text, size, "%s%s", *text ? ", " : "", unrelu_flag_name(bit));
    return text;
}

/* ---- coordinates --------------------------------------------------------------------- */

void cli_print_coordinates(const unrelu_gaussian *m, const cli_coordinates *names, double z)
{
    cli_table table;
    char titles[128];
    size_t shown = 0, flagged = 0;
    const char *align = m->limit && m->noise   ? "lrrrrrl"
                        : m->limit || m->noise ? "lrrrrl"
                                               : "lrrrl";
    snprintf(titles, sizeof titles, "%s|%s%s|b|scale%s|%s", names->one,
             m->observed ? names->censored : "", m->limit ? "|limit" : "",
             m->noise ? "|noise sd" : "", m->flags ? "flags" : "");
    cli_table_titles(&table, titles);
    for (size_t i = 0; i < m->d; i++) {
        if (m->d > MANY && i >= FIRST && !(m->flags && m->flags[i] && flagged++ < FLAGGED))
            continue;
        shown++;
        char flags[CLI_TABLE_CELL];
        double share = cli_censored_share(m, i);
        cli_add_column_name(&table, m, i);
        if (isfinite(share))
            cli_table_add(&table, "%.2f %%", 100 * share);
        else
            cli_table_add(&table, "%s", "");
        if (m->limit && isinf(m->limit[i]))
            cli_table_add(&table, "none");
        else if (m->limit) /* in the data's unit */
            cli_table_add(&table, "%.4g", unrelu_gaussian_untransform(m, i, m->limit[i]));
        cli_table_add_estimate(&table, m->b[i], cli_half_of(m->b_se, m->d, i, z));
        cli_table_add_estimate(&table, m->scale[i], cli_half_of(m->scale_se, m->d, i, z));
        if (m->noise)
            cli_table_add(&table, "%.4g", m->noise[i]);
        cli_table_add(&table, "%s",
                      cli_flag_names(m->flags ? m->flags[i] : 0, flags, sizeof flags));
    }
    cli_table_print(&table, align);
    if (shown < m->d)
        cli_print("  ... the first %d and the flagged of %zu %s\n", FIRST, m->d, names->many);
}

/* ---- answers in the data's own unit ---------------------------------------------------- */

/* "3.88 (3.22 to 4.74)" */
static void add_answer(cli_table *table, double value, const double *ci)
{
    if (isnan(value))
        cli_table_add(table, "-");
    else if (isfinite(ci[0]) && isfinite(ci[1]))
        cli_table_add(table, "%.3g (%.3g to %.3g)", value, ci[0], ci[1]);
    else
        cli_table_add(table, "%.3g", value);
}

static void tell_left_out(const unrelu_gaussian *m, size_t shown)
{
    if (shown < m->d)
        cli_print("  ... the first %zu of %zu columns; --json has all\n", shown, m->d);
}

/* two tables, each as wide as a terminal */
static void print_answers(const unrelu_gaussian *m)
{
    cli_table moments, quantiles;
    size_t shown = m->d < ANSWERED ? m->d : ANSWERED;
    cli_print("\nin the data's own unit, before censoring (in brackets %.4g %% intervals)\n",
              100 * m->level);
    cli_table_titles(&moments, "column|mean|UCL95|sd");
    cli_table_titles(&quantiles, m->lambda ? "column|median|5 % quantile|95 % quantile|lambda"
                                           : "column|median|5 % quantile|95 % quantile");
    for (size_t i = 0; i < shown; i++) {
        cli_add_column_name(&moments, m, i);
        add_answer(&moments, m->mean[i], &m->mean_ci[2 * i]);
        cli_table_add_real(&moments, "%.3g", m->ucl95[i]);
        add_answer(&moments, m->sd[i], &m->sd_ci[2 * i]);
        cli_add_column_name(&quantiles, m, i);
        add_answer(&quantiles, m->median[i], &m->median_ci[2 * i]);
        add_answer(&quantiles, m->quantiles[2 * i], &m->quantiles_ci[4 * i]);
        add_answer(&quantiles, m->quantiles[2 * i + 1], &m->quantiles_ci[4 * i + 2]);
        if (m->lambda)
            cli_table_add(&quantiles, "%.3f", m->lambda[i]);
    }
    cli_table_print(&moments, "lrrr");
    putchar('\n');
    cli_table_print(&quantiles, m->lambda ? "lrrrr" : "lrrr");
    tell_left_out(m, shown);
}

/* and what goes with values as they are recorded */
static void print_likelihoods(const unrelu_gaussian *m)
{
    cli_table table;
    size_t shown = m->d < ANSWERED ? m->d : ANSWERED;
    cli_print("\nof values as recorded, those that are censored at their limit\n");
    cli_table_titles(&table, "column|mean as recorded|logLik|AIC|BIC");
    for (size_t i = 0; i < shown; i++) {
        cli_add_column_name(&table, m, i);
        if (m->rectified_mean)
            add_answer(&table, m->rectified_mean[i], &m->rectified_mean_ci[2 * i]);
        else
            cli_table_add(&table, "-");
        cli_table_add_real(&table, "%.2f", m->loglik[i]);
        cli_table_add_real(&table, "%.2f", m->aic[i]);
        cli_table_add_real(&table, "%.2f", m->bic[i]);
    }
    cli_table_print(&table, "lrrrr");
    tell_left_out(m, shown);
    if (m->d > 1 && isfinite(m->joint_loglik) && m->joint_loglik_ci)
        cli_print("  all columns together: logLik %.2f (%.2f to %.2f, as integrals go)\n",
                  m->joint_loglik, m->joint_loglik_ci[0], m->joint_loglik_ci[1]);
    else if (m->d > 1 && isfinite(m->joint_loglik))
        cli_print("  all columns together: logLik %.2f\n", m->joint_loglik);
}

/* ---- correlations -------------------------------------------------------------------- */

size_t cli_strongest_pairs(const unrelu_gaussian *m, const double *se, size_t most, cli_pair *top,
                           size_t *few_joint)
{
    size_t count = 0;
    *few_joint = 0;
    for (size_t i = 0; i < m->d; i++)
        for (size_t j = i + 1; j < m->d; j++) {
            size_t ij = i * m->d + j, at = count;
            cli_pair pair = {i, j, fabs(m->correlation[ij])};
            if (m->pair_flags && m->pair_flags[ij] & UNRELU_FLAG_FEW_JOINT) {
                ++*few_joint;
                continue;
            }
            if (!(pair.strength > CLI_ROUNDING) || /* rounding, in a planted model */
                (se && !isfinite(se[ij])))
                continue;
            if (count < most)
                count++;
            else if (pair.strength <= top[--at].strength)
                continue;
            for (; at > 0 && top[at - 1].strength < pair.strength; at--)
                top[at] = top[at - 1];
            top[at] = pair;
        }
    return count;
}

/* ---- spectrum, and all of it ------------------------------------------------------------- */

static void print_eigenvalues(const unrelu_gaussian *m, double level, double z)
{
    cli_table table;
    size_t shown = m->d < EIGENVALUES ? m->d : EIGENVALUES;
    if (m->how_k[0]) {
        putchar('\n');
        cli_print_wrapped(cli_flagged(m->how_k).text, 0, 0);
    }
    if (m->k)
        cli_print("W (%zu x %zu) is the array W of the model file, which 'fit -o FILE' writes\n",
                  m->d, m->k);
    cli_print("\neigenvalues of Sigma");
    if (cli_has_errors(m->eigenvalues_se, m->d))
        cli_print(" (+- is the half-width of a %.4g %% interval)", 100 * level);
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
        cli_print("  ... the first %d of %zu\n", EIGENVALUES, m->d);
}

/* the worst first; of each word how many columns, and the first few */
static void print_judgement(const unrelu_gaussian *m)
{
    enum { NAMED = 6 };
    static const unrelu_fit_word words[] = {UNRELU_FIT_POOR, UNRELU_FIT_SLIGHT, UNRELU_FIT_GOOD};
    char text[1024] = "fit, by the distance KS of the distributions:";
    size_t judged = 0, few = 0; /* few: so few values that p does not tell */
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        const char *word = unrelu_fit_word_name(words[w]);
        char names[300] = "";
        double most = 0;
        size_t count = 0;
        for (size_t i = 0; i < m->d; i++) {
            if (strcmp(m->fit[i], word) != 0)
                continue;
            most = fmax(most, m->ks[i]);
            if (count++ < NAMED)
                cli_append(names, sizeof names, "%s%.40s", *names ? ", " : "", m->names[i]);
        }
        if (count > 0)
            cli_append(text, sizeof text, "%s %s in %zu column%s, KS at most %.3f (%s%s)",
                       judged ? ";" : "", word, count, cli_plural(count), most, names,
                       count > NAMED ? ", ..." : "");
        judged += count;
    }
    for (size_t i = 0; i < m->d; i++)
        few += !*m->fit[i] && isfinite(m->ks_p[i]);
    if (judged < m->d)
        cli_append(text, sizeof text, "%s %zu could not be judged%s", judged ? ";" : "",
                   m->d - judged, few == m->d - judged ? ": fewer than 10 values were seen" : "");
    putchar('\n');
    cli_print_wrapped(text, 0, 0);
}

void cli_print_gaussian(const unrelu_gaussian *m, double level, const cli_shown_pairs *pairs)
{
    const cli_coordinates names = {"column", "columns", m->limit ? "censored" : "zeros"};
    double z = cli_half_width(level);
    unsigned long long seed = m->seed;
    if (m->method[0])
        cli_print("rectified Gaussian, learned: n = %zu, d = %zu\n"
                  "method %s (norms %s, angles %s), seed %llu\n",
                  m->n, m->d, m->method, m->norms, m->angles, seed);
    else
        cli_print("rectified Gaussian, planted: d = %zu, seed %llu\n", m->d, seed);
    if (*m->activation)
        cli_print("samples went through %s: all below is of values before it\n", m->activation);
    else if (m->transform != UNRELU_TRANSFORM_NONE)
        cli_print("all below is of values transformed by %s\n",
                  unrelu_transform_name(m->transform));
    if (m->rows_dropped > 0)
        cli_print("%zu row%s with gross outliers left out\n", m->rows_dropped,
                  cli_plural(m->rows_dropped));
    if (cli_has_errors(m->b_se, m->d))
        cli_print("+- is the half-width of a %.4g %% interval%s%s%s\n", 100 * level,
                  *m->errors ? ", by " : "", m->errors, *m->errors ? " errors" : "");
    putchar('\n');
    cli_print_coordinates(m, &names, z);
    if (m->fit)
        print_judgement(m);
    /* of one limit a column, untransformed, b and scale say it */
    if (m->mean && (m->transform != UNRELU_TRANSFORM_NONE || strcmp(m->angles, "likelihood") == 0))
        print_answers(m);
    if (m->loglik)
        print_likelihoods(m);
    cli_print_correlations(m, z, pairs);
    if (m->eigenvalues)
        print_eigenvalues(m, level, z);
    if (m->method[0] && isfinite(m->lambda_min) && m->d > 1)
        cli_print("\nsmallest eigenvalue of the correlations %.4g: %s\n", m->lambda_min,
                  m->repaired                     ? "made positive semidefinite"
                  : m->lambda_min < -CLI_ROUNDING ? "not repaired"
                                                  : "no repair was needed");
}
