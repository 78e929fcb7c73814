/* SPDX-License-Identifier: Apache-2.0 */
#include "network/recover/methods.h"

#include "base/error.h"
#include "network/hard/any_noise/any_noise.h"
#include "network/hard/enumerate/enumerate.h"
#include "network/hard/one_sparse/one_sparse.h"
#include "network/hard/sparse_noise/sparse_noise.h"
#include "network/signless/signless.h"
#include "paper/two_layer/two_layer.h"

#include <string.h>

/* ---- ways of one method ---- */

static unrelu_status begin_tensor(const ur_start *start, double *V, double *c, ur_start_note *note,
                                  unrelu_error *err)
{
    (void)c;
    /* order 2 is not printed: 3 unless 4 is asked for */
    UR_TRY(start->literal ? ur_start_algorithm_4(start, start->order == 4 ? 4 : 3, V, note, err)
                          : ur_start_tensor(start, start->order, V, note, err));
    return ur_start_signs(start, start->signs, V, err);
}

static unrelu_status run_one_sparse(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    return ur_one_sparse(given, given->options.literal ? ur_literal : ur_peel_all, out, err);
}

static unrelu_status run_any_noise(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    return given->options.literal ? ur_algorithm_8(given, out, err) : ur_any_noise(given, out, err);
}

static unrelu_status run_sparse_noise(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    return given->options.pcp ? ur_pcp_recover(given, out, err) : ur_sparse_noise(given, out, err);
}

/* ---- the table ---- */

static const ur_method methods[] = {
    {.id = UNRELU_RECOVER_AUTO,
     .name = "auto",
     .wing = "default",
     .needs = "nothing",
     .theorem = NULL,
     .checks = "the labels are met, and the rules of uniqueness; else whether what is left "
               "is noise, and standard errors",
     .run = ur_by_default},
    {.id = UNRELU_RECOVER_EXACT,
     .name = "exact",
     .wing = "default",
     .needs = "labels without noise; any inputs",
     .theorem = &ur_none,
     .checks = "the labels are met, and the rules of uniqueness",
     .run = ur_by_default},
    {.id = UNRELU_RECOVER_MOMENTS,
     .name = "moments",
     .wing = "default",
     .needs = "labels with normal noise; normal inputs for the theorem",
     .theorem = &ur_theorem_10,
     .checks = "how many starts agree; standard errors",
     .run = ur_by_default},
    {.id = UNRELU_RECOVER_ICA,
     .name = "ica",
     .wing = "start",
     .needs = "normal inputs, k at most d, labels of rank k",
     .theorem = &ur_theorem_4,
     .checks = "the labels are met, and the rules of uniqueness",
     .run = ur_by_start,
     .begin = ur_start_ica},
    {.id = UNRELU_RECOVER_TENSOR,
     .name = "tensor",
     .wing = "start",
     .needs = "normal inputs; order 2: k at most d",
     .theorem = &ur_theorem_7,
     .checks = "the labels are met, and the rules of uniqueness",
     .run = ur_by_start,
     .begin = begin_tensor},
    {.id = UNRELU_RECOVER_SYMMETRIC,
     .name = "symmetric",
     .wing = "start",
     .needs = "symmetric inputs, k at most d and m",
     .theorem = &ur_corollary_5,
     .checks = "whether the inputs look symmetric; the labels are met, and the rules of uniqueness",
     .run = ur_by_start,
     .begin = ur_start_symmetric},
    {.id = UNRELU_RECOVER_LIFTED,
     .name = "lifted",
     .wing = "start",
     .needs = "labels without noise, of rank k; any inputs",
     .theorem = &ur_none,
     .checks = "the labels are met, and the rules of uniqueness",
     .run = ur_by_start,
     .begin = ur_start_lifted},
    {.id = UNRELU_RECOVER_FACETS,
     .name = "facets",
     .wing = "start",
     .needs = "labels without noise, of rank k; any inputs",
     .theorem = &ur_none,
     .checks = "the labels are met, and the rules of uniqueness",
     .run = ur_by_start,
     .begin = ur_start_facets},
    {.id = UNRELU_RECOVER_ENUMERATE,
     .name = "enumerate",
     .wing = "hard",
     .needs = "relu; labels without noise, of rank k; any inputs",
     .theorem = &ur_theorem_1,
     .checks = "the labels are met, and the rules of uniqueness; or that no network of k neurons "
               "fits",
     .relu = 1,
     .fallback = 20000,
     .slow_on_noise = 1,
     .any_rows = 1,
     .applies = ur_enumerate_applies,
     .run = ur_enumerate},
    {.id = UNRELU_RECOVER_ONE_SPARSE,
     .name = "one-sparse",
     .wing = "hard",
     .needs =
         "relu or power:C; labels without noise, fewer than neurons too; every neuron on alone "
         "twice",
     .theorem = &ur_theorem_11,
     .checks = "how often directions repeat; the labels are met, and the rules of uniqueness",
     .fallback = 10000000,
     .slow_on_noise = 1,
     .applies = ur_one_sparse_applies,
     .run = run_one_sparse},
    {.id = UNRELU_RECOVER_ANY_NOISE,
     .name = "any-noise",
     .wing = "hard",
     .needs = "noise of any shape that is independent of the inputs",
     .theorem = &ur_theorem_13,
     .checks = "the objective beside its lower bound; whether what is left depends on the inputs",
     .run = run_any_noise},
    {.id = UNRELU_RECOVER_SPARSE_NOISE,
     .name = "sparse-noise",
     .wing = "hard",
     .needs = "some labels wrong by any amount, the others without noise; four more labels than "
              "neurons",
     .theorem = &ur_theorem_14,
     .checks = "most cells of most rows and of every column are met; whether wrong ones are at "
               "random",
     .fallback = 500,
     .applies = ur_sparse_noise_looks,
     .run = run_sparse_noise},
    {.id = UNRELU_RECOVER_SIGNLESS,
     .name = "signless",
     .wing = "default",
     .needs = "relu or leaky:S; labels without noise, fewer than neurons too; any inputs",
     .theorem = &ur_none,
     .checks = "the labels are met, on rows that were kept back too, and the rules of uniqueness",
     .applies = ur_signless_applies,
     .run = ur_signless},
    {.id = UNRELU_RECOVER_START,
     .name = "start",
     .wing = "start",
     .needs = "a network whose weights are close",
     .theorem = &ur_none,
     .checks = "the labels are met, and the rules of uniqueness; else whether what is left is "
               "noise, and standard errors",
     .run = ur_by_start,
     .begin = ur_start_network},
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

const ur_method *ur_method_named(const char *name)
{
    const ur_method *method = methods;
    for (size_t i = 0; (method = ur_method_at(i)) && strcmp(method->name, name) != 0; i++)
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
    const char *promise = method->theorem
                              ? method->theorem->promise
                              : "that of the method which answers: `exact` or `moments`, "
                                "or a fallback";
    *out = (unrelu_method){method->name, method->needs, promise, method->checks};
    return 1;
}

int unrelu_recover_condition_at(size_t method, size_t i, unrelu_condition *out)
{
    const ur_method *row = ur_method_at(method);
    if (!row || !row->theorem || i >= UR_CONDITIONS || !row->theorem->conditions[i])
        return 0;
    const ur_condition *condition = row->theorem->conditions[i];
    *out = (unrelu_condition){row->theorem->name, condition->what, condition->how};
    return 1;
}
