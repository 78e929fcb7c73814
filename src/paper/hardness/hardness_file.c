/* SPDX-License-Identifier: Apache-2.0 */
/* An instance as a .npz file: kind "hardness", X (n x d), A (n x m) and alpha, which is (1, 1), a
 * matrix (m x k) where it is padded, and not there where it is variable. The number of variables
 * follows from d. */
#include "base/error.h"
#include "model/fields.h"
#include "paper/hardness/hardness.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

unrelu_status unrelu_hardness_save(const unrelu_hardness *h, const char *path, unrelu_error *err)
{
    const size_t x[] = {h->n, h->d}, a[] = {h->n, h->m}, alpha[] = {h->m, h->k};
    int padded = h->k > 2 || h->m > 1;
    ur_npz_writer *w = NULL;
    if (!h->X || !h->A)
        return ur_fail(err, UNRELU_EUSAGE, "the instance has no X or no A to save");
    UR_TRY(ur_model_create(&(ur_npz_target){.path = path}, "hardness", &w, err));
    ur_npz_add(w, "X", h->X, 2, x);
    ur_npz_add(w, "A", h->A, 2, a);
    if (!h->variable_alpha)
        ur_npz_add(w, "alpha", h->alpha, padded ? 2 : 1, padded ? alpha : alpha + 1);
    return ur_npz_commit(w, err);
}

/* (1, 1), or that with zeros around it */
static unrelu_status load_alpha(ur_npz *npz, const char *path, unrelu_hardness *h,
                                unrelu_error *err)
{
    size_t ndim = 0, shape[4] = {0};
    h->k = 2;
    h->m = 1;
    h->variable_alpha = !ur_npz_has(npz, "alpha");
    if (h->variable_alpha)
        return UNRELU_OK;
    UR_TRY(ur_npz_shape(npz, "alpha", &ndim, shape, err));
    if (ndim == 2) {
        h->m = shape[0];
        h->k = shape[1];
    } else {
        shape[0] = h->k;
    }
    if (h->k < 2 || h->m < 1)
        return ur_fail(err, UNRELU_EFORMAT, "%s: alpha is %zu x %zu, where two neurons are needed",
                       path, h->m, h->k);
    UR_TRY(ur_array_load(npz, path, "alpha", ndim == 2 ? 2 : 1, shape, ur_model_arena(h), &h->alpha,
                         err));
    for (size_t i = 0; i < h->m * h->k; i++)
        if (h->alpha[i] != (i < 2 ? 1 : 0))
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: alpha has %g in row %zu, column %zu, where (1, 1) is needed, with "
                           "zeros around it, or no alpha where it is variable",
                           path, h->alpha[i], i / h->k + 1, i % h->k + 1);
    return UNRELU_OK;
}

static unrelu_status load(const char *path, unrelu_hardness *h, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_npz *npz;
    const char *is = "";
    size_t ndim = 0, shape[4] = {0};
    UR_TRY(ur_npz_open(path, &arena, &npz, err));
    if (ur_npz_has(npz, "kind"))
        UR_TRY(ur_npz_string(npz, "kind", &arena, &is, err));
    if (strcmp(is, "hardness") != 0)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s is of %s%s%s, where an instance is needed that 'unrelu hardness encode' "
                       "wrote",
                       path, *is ? "kind '" : "no kind", is, *is ? "'" : "");
    UR_TRY(ur_format_check(npz, path, NULL, err));
    UR_TRY(load_alpha(npz, path, h, err));
    size_t extra = ur_hardness_extra(h->variable_alpha);
    UR_TRY(ur_npz_shape(npz, "X", &ndim, shape, err));
    if (ndim != 2 || shape[0] == 0 || shape[1] < extra || shape[1] - extra > INT_MAX)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: X has %zu dimensions, %zu rows and %zu columns, where a matrix of at "
                       "least %zu columns is needed",
                       path, ndim, shape[0], shape[1], extra);
    h->n = shape[0];
    h->d = shape[1];
    h->variables = h->d - extra;
    const size_t x[] = {h->n, h->d}, a[] = {h->n, h->m};
    UR_TRY(ur_array_load(npz, path, "X", 2, x, ur_model_arena(h), &h->X, err));
    UR_TRY(ur_array_load(npz, path, "A", 2, a, ur_model_arena(h), &h->A, err));
    UR_TRY(ur_finite_check(path, "X", h->X, h->n, h->d, err));
    return ur_finite_check(path, "A", h->A, h->n, h->m, err);
}

unrelu_status unrelu_hardness_load(const char *path, unrelu_hardness **instance, unrelu_error *err)
{
    unrelu_hardness *h = ur_model_new(&ur_hardness_kind, err);
    return ur_model_hand(h, h ? load(path, h, err) : UNRELU_ENOMEM, instance, err);
}
