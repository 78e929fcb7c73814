/* SPDX-License-Identifier: Apache-2.0 */
/* How far columns are from their normals: what fit, check and report all ask. */
#ifndef UR_JUDGE_H
#define UR_JUDGE_H

#include "gaussian/check/steps.h"

typedef struct {
    size_t d;
    const ur_known *columns;     /* d */
    const double *b, *scale;     /* d; NULL: fitted to the cells here */
    const unsigned char *fitted; /* d: whether b and scale were; NULL: they were */
    size_t runs;                 /* simulated columns behind a p; 0: 999 */
    uint64_t seed;
    void (*look)(void *context, size_t column, const ur_steps *steps); /* at each; NULL: nobody */
    void *context;
} ur_judging;

/* ks, ks_p, ties: d, as of unrelu_goodness; NaN where a column cannot be fitted, or b or scale is
 * not finite */
unrelu_status ur_judge_columns(const ur_judging *how, const unrelu_exec *exec, double *ks,
                               double *ks_p, double *ties, unrelu_error *err);

/* whether a distance matters, and so many values were seen that it cannot be chance: what fits ask
 * cell by cell, where a simulation would take longer than they do */
int ur_judge_is_far(double ks, double seen);
/* of a distance of some rows, where the fit is to more: it must be larger by what a sample's may
 * be, so that a distance below that which matters is not called far */
int ur_judge_is_far_by_some(double ks, double rows);

/* what to do about a poor fit: of warnings */
extern const char ur_judge_remedy[];

#endif
