/* SPDX-License-Identifier: Apache-2.0 */
/* The one rule by which a fit is judged: p says whether a distance is there, its size whether it
 * matters. Of many samples far smaller distances are found than do harm. */
#include "unrelu/unrelu.h"

#include <math.h>

/* how often one of all columns may be called other than good by chance */
static const double LEVEL = 0.05;
/* The least level of one column: p of 999 runs is a multiple of 0.001, and below 0.002 where no
 * simulated column was as far. */
static const double LEAST_LEVEL = 0.002;
/* A share of all cells: at some value one cell in twenty lies on the wrong side. A normal of
 * skewness 0.75 is that far from its fit. */
static const double MATTERS = 0.05;

unrelu_fit_word unrelu_fit_judge(double ks, double ks_p, size_t columns)
{
    double level = fmax(LEVEL / (double)(columns ? columns : 1), LEAST_LEVEL);
    if (!isfinite(ks) || !isfinite(ks_p))
        return UNRELU_FIT_UNKNOWN;
    return !(ks_p < level) ? UNRELU_FIT_GOOD : ks < MATTERS ? UNRELU_FIT_SLIGHT : UNRELU_FIT_POOR;
}

const char *unrelu_fit_word_name(unrelu_fit_word word)
{
    static const char *const names[] = {"", "good", "slight", "poor"};
    return (size_t)word < sizeof names / sizeof *names ? names[word] : "";
}
