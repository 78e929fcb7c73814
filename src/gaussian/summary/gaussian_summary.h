/* SPDX-License-Identifier: Apache-2.0 */
/* What one pass of moments leaves behind: all that the default fit needs. */
#ifndef UR_GAUSSIAN_SUMMARY_H
#define UR_GAUSSIAN_SUMMARY_H

#include "base/arena.h"
#include "gaussian/summary/undone.h"
#include "summary/moments.h"

struct unrelu_summary {
    ur_moments_plan plan;
    ur_arena arena;     /* of all that follows, and of the plan's head */
    double *limit;      /* d: values at or below are censored */
    const char **names; /* d */
    ur_activation_undone undone;
    char activation[UR_ACTIVATION_NAME]; /* its name; "": the ReLU, and nothing was undone */
    double *s;                           /* ur_moments.len(&plan) */
};

/* what a pass over samples is to collect */
typedef struct {
    int pairs, single, negatives;
    size_t groups;
    const double *limit; /* d */
    const double *cut;   /* d or NULL; borrowed during the pass only */
} ur_collect_rules;

unrelu_status ur_summary_collect_rules(unrelu_source *source, const ur_collect_rules *rules,
                                       const unrelu_exec *exec, unrelu_summary **out,
                                       unrelu_error *err);

/* the limits that options ask for: d doubles, 0 by default */
unrelu_status ur_limits(const unrelu_gaussian_options *options, size_t d, double *limit,
                        unrelu_error *err);

#endif
