/* SPDX-License-Identifier: Apache-2.0 */
#include "dense/linear.h"
#include "gaussian/model/gaussian_model.h"
#include "gaussian/problem/fit.h"
#include "model/kind.h"

#include <stdio.h>

static const char *const flag_names[] = {
    "few-positives", "constant",         "no-zeros",    "duplicate", "few-joint",
    "negative-bias", "no-truncated-mle", "sigma-range", "misfit",    "heavy-tails",
    "top-coded",     "repeated-value",   "few-values",  "rounded"};

const char *unrelu_flag_name(int bit)
{
    return bit >= 0 && bit < (int)(sizeof flag_names / sizeof *flag_names) ? flag_names[bit] : "";
}

/* names of the first few columns that carry the flag, or that do not; how many there are */
static size_t list_columns(const unrelu_gaussian *m, uint32_t flag, int carried, size_t most,
                           int width, char list[256])
{
    size_t count = 0, used = 0, size = 256;
    list[0] = 0;
    for (size_t j = 0; j < m->d; j++)
        if (((m->flags[j] & flag) != 0) == carried && count++ < most && used < size) {
            int wrote =
                snprintf(list + used, size - used, "%s%.*s", used ? ", " : "", width, m->names[j]);
            used += wrote > 0 ? (size_t)wrote : 0;
        }
    return count;
}

/* one warning for all columns that carry the flag */
static void warn_flagged(unrelu_gaussian *model, uint32_t flag, const char *meaning)
{
    enum { NAMED = 5, WIDTH = 40 };
    char list[256];
    size_t count = list_columns(model, flag, 1, NAMED, WIDTH, list);
    if (count > 0)
        ur_model_warn(model, unrelu_flag_name(__builtin_ctz(flag)), "%zu column%s (%s%s): %s",
                      count, count == 1 ? "" : "s", list, count > NAMED ? ", ..." : "", meaning);
}

/* the set Omega of the author response: where the theorem holds although some b < 0 */
static void warn_guarantee(unrelu_gaussian *m)
{
    enum { LISTED = 8, WIDTH = 25 };
    char omega[256], meaning[400];
    size_t listed = list_columns(m, UNRELU_FLAG_NEGATIVE_BIAS, 0, LISTED, WIDTH, omega);
    snprintf(meaning, sizeof meaning,
             "more than half censored, so that b lies below the limit: the paper's guarantee holds "
             "for %s%s%s; the default method has no such limit",
             listed ? "Omega = " : "no column", omega, listed > LISTED ? ", ..." : "");
    warn_flagged(m, UNRELU_FLAG_NEGATIVE_BIAS, meaning);
}

void ur_warn_missing(unrelu_gaussian *m, double missing, double cells)
{
    size_t rows = m->n;
    if (m->complete) { /* their cells are all missing, and those of the others none */
        m->n = (size_t)m->observed[0];
        ur_model_warn(m, "incomplete", "of %zu rows %zu have a missing cell and were left out",
                      rows, rows - m->n);
        return;
    }
    ur_model_warn(m, "missing",
                  "%.0f of %.0f cells are missing: pairs use the rows where both are observed",
                  missing, cells);
}

static const struct {
    uint32_t flag;
    const char *meaning;
} meanings[] = {
    {UNRELU_FLAG_CONSTANT,
     "no change at all: scale 0, b is the constant, correlations are set to 0"},
    {UNRELU_FLAG_NO_ZEROS, "no zeros: nothing was censored, plain mean and deviation"},
    {UNRELU_FLAG_FEW_POSITIVES, "too few positive values for a reliable fit"},
    {UNRELU_FLAG_DUPLICATE,
     "a copy of another column up to scale: correlation 1 or -1 to within 1e-5"},
    {UNRELU_FLAG_MISFIT,
     "the share of zeros, or the spread of the values, is far from what the fitted normal has, so "
     "that it is no rectified Gaussian: look for outliers (`robust`), a header read as data, "
     "another scale"},
    {UNRELU_FLAG_HEAVY_TAILS,
     "heavy tails: a few rows make up most of the robust error of the scale, so that it is "
     "not to be relied on; look at the largest values (`robust` leaves gross outliers out), or "
     "take "
     "another scale (`transform`)"},
    {UNRELU_FLAG_NO_TRUNCATED,
     "no truncated maximum likelihood (mean of squares >= 2 mean^2): NaN"},
    {UNRELU_FLAG_SIGMA_RANGE,
     "a variance outside the range of a double: sigma holds inf or 0 there, scale and "
     "correlation are right"},
};

/* of a fit cell by cell, which judges the whole distribution */
static const char misfit_of_cells[] =
    "the distribution of the values that were seen is far from the fitted normal: compare "
    "transforms, and look for outliers, codes such as -999 and rounding";

/* by_cells: pairs have an error with few joint positives too */
static void warn_few_joint(unrelu_gaussian *m, int by_cells)
{
    size_t weak = 0, first = 0;
    for (size_t i = 0; i < m->d; i++)
        for (size_t j = i + 1; j < m->d; j++)
            if (m->pair_flags[i * m->d + j] & UNRELU_FLAG_FEW_JOINT && weak++ == 0)
                first = i * m->d + j;
    if (weak > 0)
        ur_model_warn(
            m, "few-joint", "%zu pair%s (the first: %.40s, %.40s): %s", weak, weak == 1 ? "" : "s",
            m->names[first / m->d], m->names[first % m->d],
            by_cells ? "fewer than 10 joint positives, or a standard error above 0.2: read the "
                       "interval, not the correlation; at one or two joint positives 95 % "
                       "intervals hold 84 to 89 % of the time, and a correlation without one is a "
                       "bound"
                     : "too few joint positives, or a standard error above 0.2: the correlation is "
                       "a bound or a sign at most");
}

void ur_fit_warn(const ur_estimate *e, const ur_repair *moved)
{
    unrelu_gaussian *m = e->model;
    const ur_fit *fit = e->moments;
    const unrelu_gaussian_options *o = e->options;
    if (fit && *fit->v.missing_cells > 0)
        ur_warn_missing(m, *fit->v.missing_cells, *fit->v.rows * (double)fit->summary->plan.d);
    if (m->n < m->d)
        ur_model_warn(m, "n-below-d",
                      "%zu rows for %zu columns: Sigma cannot have full "
                      "rank, and few of its entries are known well",
                      m->n, m->d);
    if (m->rows_dropped > 0)
        ur_model_warn(m, "outliers", "%zu rows with gross outliers were dropped, %zu kept",
                      m->rows_dropped, m->n);
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        warn_flagged(m, meanings[i].flag,
                     meanings[i].flag == UNRELU_FLAG_MISFIT && !fit ? misfit_of_cells
                                                                    : meanings[i].meaning);
    warn_few_joint(m, !fit);
    warn_guarantee(m);
    const char *why = NULL;
    if (o->norms == UNRELU_NORMS_SGD)
        why = "projected SGD has no standard errors: its iterates' spread is not the estimate's; "
              "the default method gives them";
    else if (o->angles == UNRELU_ANGLES_SIGNS && (o->literal || o->norms != UNRELU_NORMS_CENSORED))
        why = "correlations have no standard errors: `angles` signs has them with `norms` censored "
              "only";
    else if (o->angles == UNRELU_ANGLES_SIGNS && fit && *fit->v.missing_cells > 0)
        why = "correlations of columns with missing cells have no standard errors: `angles` h6 has "
              "them";
    else if (o->norms != UNRELU_NORMS_CENSORED)
        why = "covariances have no standard errors (scales and correlations do): `norms` censored "
              "has them";
    if (why && o->errors != UNRELU_ERRORS_BOOTSTRAP)
        ur_model_warn(m, "no-se", "%s", why);
    if (m->repaired)
        ur_model_warn(m, "repaired",
                      "the correlations were indefinite (smallest eigenvalue %.3g) and were "
                      "moved to the nearest positive semidefinite ones, in units of their standard "
                      "errors",
                      m->lambda_min);
    if (moved->pairs > 0)
        ur_model_warn(m, "repair-moved",
                      "the repair moved %zu correlation%s by more than the standard error, that of "
                      "%.40s and %.40s by most: %.2g of them, from %.5g to %.5g",
                      moved->pairs, moved->pairs == 1 ? "" : "s", m->names[moved->worst / m->d],
                      m->names[moved->worst % m->d], moved->errors, moved->from,
                      m->correlation[moved->worst]);
    if (!m->repaired && m->lambda_min < -UR_INDEFINITE * (double)m->d)
        ur_model_warn(m, "indefinite",
                      "the correlations are indefinite (smallest eigenvalue %.3g): the paper's "
                      "algorithm does not repair them",
                      m->lambda_min);
}
