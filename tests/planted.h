/* SPDX-License-Identifier: Apache-2.0 */
/* What most tests begin with: a planted model, samples of it, a fit. */
#ifndef PLANTED_H
#define PLANTED_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "left_out.h"
#include "sanitized.h"
#include "unrelu/unrelu.h"

static inline void must(unrelu_status status, const unrelu_error *err)
{
    if (status == UNRELU_OK)
        return;
    skip_what_is_left_out(err);
    fail_msg("status %d: %s", (int)status, err->text);
}

static inline unrelu_gaussian *plant(unrelu_gaussian_plant_options options)
{
    unrelu_gaussian *truth;
    unrelu_error err = {0};
    must(unrelu_gaussian_plant(&options, &truth, &err), &err);
    return truth;
}

/* n x d samples of the model; the caller frees */
static inline double *draw(const unrelu_gaussian *model, size_t n, uint64_t seed)
{
    unrelu_sampler *sampler = NULL;
    unrelu_error err = {0};
    double *x = malloc(n * model->d * sizeof *x);
    assert_non_null(x);
    must(unrelu_gaussian_sampler(model, seed, &sampler, &err), &err);
    must(unrelu_sampler_draw(sampler, 0, n, NULL, x, &err), &err);
    unrelu_sampler_free(sampler);
    return x;
}

static inline unrelu_status try_fit(const double *x, size_t n, size_t d,
                                    const unrelu_gaussian_options *options, unrelu_gaussian **model,
                                    unrelu_error *err)
{
    unrelu_source *source = NULL;
    *model = NULL;
    unrelu_status status = unrelu_source_memory(x, n, d, NULL, &source, err);
    if (status == UNRELU_OK)
        status = unrelu_gaussian_fit(source, options, NULL, model, err);
    unrelu_source_close(source);
    return status;
}

static inline unrelu_gaussian *fit(const double *x, size_t n, size_t d,
                                   const unrelu_gaussian_options *options)
{
    unrelu_gaussian *model;
    unrelu_error err = {0};
    must(try_fit(x, n, d, options, &model, &err), &err);
    return model;
}

static inline int has_warning(const unrelu_gaussian *model, const char *code)
{
    for (size_t i = 0; i < model->warning_count; i++)
        if (strcmp(model->warnings[i].code, code) == 0)
            return 1;
    return 0;
}

/* |a - b| <= tolerance, with the numbers in the message */
#define assert_near(a, b, tolerance)                                                               \
    do {                                                                                           \
        double a_ = (a), b_ = (b), t_ = (tolerance);                                               \
        if (!(fabs(a_ - b_) <= t_))                                                                \
            fail_msg("%s = %.17g, expected %.17g +- %.3g", #a, a_, b_, t_);                        \
    } while (0)

#endif
