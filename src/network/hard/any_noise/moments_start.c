/* SPDX-License-Identifier: Apache-2.0 */
/* The start from second moments: E independent of x adds nothing to E[a (xx' - I)] whatever its
 * law, so that rows of V up to sign are those of start.h. Signs: all 2^k of them for k <= 6, on
 * the products of the 2k features f(v x), f(-v x); beyond, and with hidden biases, those of
 * start.h. */
#include "base/error.h"
#include "network/hard/any_noise/any_noise.h"

enum { TRY_ALL = 6 }; /* neurons: 64 regressions of at most six features */

/* the signs that explain most */
static unrelu_status try_signs(const ur_any_rows *rows, size_t k, double *V, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t p = rows->p, which[TRY_ALL], best = 0;
    double most = -1, explained;
    ur_any_features features;
    double *both = ur_take(&arena, 2 * k, p * sizeof *both);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < k * p; i++) {
        both[i] = V[i];
        both[k * p + i] = -V[i];
    }
    UR_TRY(ur_any_features_make(rows->n, p, rows->m, rows->x, rows->b, 2 * k, both,
                                rows->frame->terms.constant, &arena, &features, err));
    for (size_t signs = 0; signs < (size_t)1 << k; signs++) {
        for (size_t j = 0; j < k; j++)
            which[j] = j + (signs >> j & 1 ? k : 0);
        UR_TRY(ur_any_explained(&features, k, which, &explained, err));
        if (explained > most) {
            most = explained;
            best = signs;
        }
    }
    for (size_t i = 0; i < k * p; i++)
        if (best >> (i / p) & 1)
            V[i] = -V[i];
    return UNRELU_OK;
}

/* rows in white coordinates; hidden biases are found in the data's own, with c */
static unrelu_status find(const ur_start *start, const ur_any_rows *rows, ur_moments_kind kind,
                          double *V, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t weak = 0, k = start->k;
    if (!start->hidden) {
        UR_TRY(ur_start_moments(start, kind, V, NULL, err));
        return k <= TRY_ALL ? try_signs(rows, k, V, err)
                            : ur_start_signs(start, UNRELU_SIGNS_REGRESSION, V, err);
    }
    double *raw = ur_take(&arena, k, rows->d * sizeof *raw), *c = ur_take(&arena, k, sizeof *c);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_start_moments(start, kind, raw, NULL, err));
    UR_TRY(ur_start_biases(start, raw, c, &weak, err));
    return ur_frame_enter(rows->frame, start->f, k, raw, c, V, err);
}

unrelu_status ur_any_moments(const ur_problem *given, const ur_any_rows *rows, size_t k,
                             ur_moments_kind kind, double *V, int *exists, unrelu_error *err)
{
    const ur_frame *frame = rows->frame;
    int hidden = frame->terms.hidden;
    unrelu_error why = {0};
    ur_start start = {.sample = {rows->n, hidden ? rows->d : rows->p, rows->m,
                                 hidden ? rows->raw : rows->x, rows->b},
                      .k = k,
                      .f = given->options.activation,
                      .hidden = hidden,
                      .constant = frame->terms.constant,
                      .seed = given->options.seed,
                      .exec = given->exec};
    unrelu_status status = find(&start, rows, kind, V, &why);
    *exists = status == UNRELU_OK;
    if (status == UNRELU_EDATA) /* the others remain */
        return UNRELU_OK;
    if (status != UNRELU_OK && err)
        *err = why;
    return status;
}
