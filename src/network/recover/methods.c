/* SPDX-License-Identifier: Apache-2.0 */
#include "network/recover/methods.h"

#include "base/error.h"
#include "network/hard/any_noise/any_noise.h"
#include "network/hard/enumerate/enumerate.h"
#include "network/hard/one_sparse/one_sparse.h"
#include "network/hard/sparse_noise/sparse_noise.h"
#include "paper/two_layer/two_layer.h"

/* ---- ways of one method ---- */

static unrelu_status begin_tensor(const ur_start *start, double *V, double *c, ur_start_note *note,
                                  unrelu_error *err)
{
    (void)c;
    UR_TRY(ur_start_tensor(start, start->order, V, note, err));
    return ur_start_signs(start, start->signs, V, err);
}

static unrelu_status run_one_sparse(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    return ur_one_sparse(given, given->options.literal ? ur_literal : ur_peel_all, out, err);
}

static unrelu_status run_sparse_noise(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    return given->options.pcp ? ur_pcp_recover(given, out, err) : ur_sparse_noise(given, out, err);
}

/* ---- the table ---- */

#define BY_RULES                                                                                   \
    "the residual over all samples and the rules of uniqueness; no theorem of the paper"

static const ur_method methods[] = {
    {.id = UNRELU_RECOVER_AUTO,
     .name = "auto",
     .wing = "default",
     .needs = "nothing",
     .theorem = "that of the method which answers",
     .checks = "the labels are met, and the rules of uniqueness; else standard errors",
     .run = ur_by_default},
    {.id = UNRELU_RECOVER_EXACT,
     .name = "exact",
     .wing = "default",
     .needs = "labels without noise; any inputs",
     .theorem = BY_RULES,
     .checks = "the labels are met, and the rules of uniqueness",
     .run = ur_by_default},
    {.id = UNRELU_RECOVER_MOMENTS,
     .name = "moments",
     .wing = "default",
     .needs = "labels with normal noise; normal inputs for the theorem",
     .theorem = "Theorem 10 for the start; the maximum likelihood is better by a constant factor",
     .checks = "how many starts agree; standard errors",
     .run = ur_by_default},
    {.id = UNRELU_RECOVER_ICA,
     .name = "ica",
     .wing = "start",
     .needs = "normal inputs, k at most d, labels of rank k",
     .theorem = "Algorithm 3",
     .checks = "the labels are met, and the rules of uniqueness",
     .run = ur_by_start,
     .begin = ur_start_ica},
    {.id = UNRELU_RECOVER_TENSOR,
     .name = "tensor",
     .wing = "start",
     .needs = "normal inputs; order 2: k at most d",
     .theorem = "Algorithm 4",
     .checks = "the labels are met, and the rules of uniqueness",
     .run = ur_by_start,
     .begin = begin_tensor},
    {.id = UNRELU_RECOVER_SYMMETRIC,
     .name = "symmetric",
     .wing = "start",
     .needs = "symmetric inputs, k at most d and m",
     .theorem = "section 4.3 (Ge, Kuditipudi, Li and Wang)",
     .checks = "whether the inputs look symmetric; the labels are met, and the rules of uniqueness",
     .run = ur_by_start,
     .begin = ur_start_symmetric},
    {.id = UNRELU_RECOVER_LIFTED,
     .name = "lifted",
     .wing = "start",
     .needs = "labels without noise, of rank k; any inputs",
     .theorem = "none: the null space of the lifted complementarity",
     .checks = "the labels are met, and the rules of uniqueness",
     .run = ur_by_start,
     .begin = ur_start_lifted},
    {.id = UNRELU_RECOVER_FACETS,
     .name = "facets",
     .wing = "start",
     .needs = "labels without noise, of rank k; any inputs",
     .theorem = "none: facets of the cone of the labels",
     .checks = "the labels are met, and the rules of uniqueness",
     .run = ur_by_start,
     .begin = ur_start_facets},
    {.id = UNRELU_RECOVER_ENUMERATE,
     .name = "enumerate",
     .wing = "hard",
     .needs = "relu; labels without noise, of rank k; any inputs",
     .theorem = "Theorem 1",
     .checks = "the labels are met, and the rules of uniqueness; or that no network of k neurons "
               "fits",
     .relu = 1,
     .fallback = 20000,
     .applies = ur_enumerate_applies,
     .run = ur_enumerate},
    {.id = UNRELU_RECOVER_ONE_SPARSE,
     .name = "one-sparse",
     .wing = "hard",
     .needs = "relu; labels without noise, fewer than neurons too; every neuron on alone twice",
     .theorem = "Theorem 11, Algorithm 7",
     .checks = "how often directions repeat; the labels are met, and the rules of uniqueness",
     .relu = 1,
     .fallback = 10000000,
     .applies = ur_one_sparse_applies,
     .run = run_one_sparse},
    {.id = UNRELU_RECOVER_ANY_NOISE,
     .name = "any-noise",
     .wing = "hard",
     .needs = "relu; noise of any shape that is independent of the inputs",
     .theorem = "Theorem 13, Algorithm 8",
     .checks = "the objective beside its lower bound; whether what is left depends on the inputs",
     .relu = 1,
     .run = ur_any_noise},
    {.id = UNRELU_RECOVER_SPARSE_NOISE,
     .name = "sparse-noise",
     .wing = "hard",
     .needs = "relu; some labels wrong by any amount, the others without noise; four more labels "
              "than neurons",
     .theorem = "Theorem 14, Corollary 8",
     .checks = "most cells of most rows and of every column are met; whether wrong ones are at "
               "random",
     .relu = 1,
     .fallback = 500,
     .applies = ur_sparse_noise_looks,
     .run = run_sparse_noise},
};

static const unrelu_recover_method fallbacks[] = {
    UNRELU_RECOVER_SPARSE_NOISE, UNRELU_RECOVER_ONE_SPARSE, UNRELU_RECOVER_ENUMERATE};

const ur_method *ur_method_at(size_t i)
{
    return i < sizeof methods / sizeof *methods ? &methods[i] : NULL;
}

const ur_method *ur_method_of(unrelu_recover_method id)
{
    const ur_method *method = methods;
    for (size_t i = 0; (method = ur_method_at(i)) && method->id != id; i++)
        continue;
    return method;
}

const ur_method *ur_method_fallback(size_t i)
{
    return i < sizeof fallbacks / sizeof *fallbacks ? ur_method_of(fallbacks[i]) : NULL;
}

int unrelu_recover_method_at(size_t i, unrelu_method *out)
{
    const ur_method *method = ur_method_at(i);
    if (!method)
        return 0;
    *out = (unrelu_method){method->name, method->needs, method->theorem, method->checks};
    return 1;
}
