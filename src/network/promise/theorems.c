/* SPDX-License-Identifier: Apache-2.0 */
/* The theorems of the two-layer paper that stand behind a method, each with what it asks of the
 * data. One condition that is broken is enough for "no", one that cannot be tested for "untested";
 * what decides is told. */
#include "base/error.h"
#include "network/promise/promise.h"

#include <math.h>
#include <string.h>

const ur_theorem ur_none = {
    .promise = "none of the paper's theorems: the residual over all samples and the rules of "
               "uniqueness of docs/method-network.md",
};

const ur_theorem ur_theorem_1 = {
    .name = "Theorem 1",
    .promise = "Theorem 1: any inputs, labels of rank k; a network of k neurons is found where one "
               "exists, given time, though not always the only one",
    .conditions = {&ur_is_relu, &ur_has_no_noise, &ur_labels_have_rank},
};

const ur_theorem ur_theorem_4 = {
    .name = "Theorem 4",
    .promise = "Theorem 4 (with Theorem 3 and Corollary 2): exact without noise, for standard "
               "normal inputs and orthonormal rows of V",
    .conditions = {&ur_is_rectified, &ur_has_no_bias, &ur_has_no_noise, &ur_u_has_rank,
                   &ur_inputs_span, &ur_inputs_normal, &ur_inputs_centred, &ur_v_is_orthonormal},
};

const ur_theorem ur_theorem_7 = {
    .name = "Theorem 7",
    .promise = "Theorem 7 (with Theorem 5 and Corollary 4): V up to signs and order from the score "
               "tensor, for normal inputs and U, V of rank k",
    .conditions = {&ur_is_rectified, &ur_has_no_bias, &ur_noise_is_light, &ur_v_has_rank,
                   &ur_u_has_rank, &ur_order_carries, &ur_inputs_span, &ur_inputs_normal,
                   &ur_inputs_centred},
};

const ur_theorem ur_corollary_5 = {
    .name = "Corollary 5",
    .promise = "Corollary 5 with Theorem 8 (Ge, Kuditipudi, Li, Wang): exact for inputs symmetric "
               "about 0 mixed with a normal law, U and V of rank k",
    .conditions = {&ur_is_relu, &ur_has_no_bias, &ur_has_no_noise, &ur_v_has_rank, &ur_u_has_rank,
                   &ur_inputs_symmetric, &ur_distinguishes},
};

const ur_theorem ur_theorem_10 = {
    .name = "Theorem 10",
    .promise = "Theorem 10 (normal inputs, sub-Gaussian noise, U and V of rank k) for the start "
               "from moments; the maximum likelihood is better by a constant factor",
    .conditions = {&ur_is_rectified, &ur_has_no_bias, &ur_v_has_rank, &ur_u_has_rank,
                   &ur_inputs_span, &ur_inputs_normal, &ur_inputs_centred, &ur_noise_is_light},
};

const ur_theorem ur_theorem_11 = {
    .name = "Theorem 11",
    .promise = "Theorem 11 (Algorithm 7): exact for normal inputs, V of rank k and columns of U no "
               "two of which are parallel",
    .conditions = {&ur_is_rectified, &ur_has_no_bias, &ur_has_no_noise, &ur_v_has_rank,
                   &ur_no_parallel_outputs, &ur_inputs_span, &ur_inputs_normal, &ur_inputs_centred,
                   &ur_each_alone},
};

const ur_theorem ur_theorem_13 = {
    .name = "Theorem 13",
    .promise = "Theorem 13 (Algorithm 8): an objective near that of the noise, for normal inputs "
               "and noise of any shape that is independent of them",
    .conditions = {&ur_is_rectified, &ur_has_no_hidden_bias, &ur_v_has_rank, &ur_u_has_rank,
                   &ur_inputs_span, &ur_inputs_normal, &ur_inputs_centred, &ur_noise_is_independent,
                   &ur_epsilon_is_small},
};

const ur_theorem ur_theorem_14 = {
    .name = "Theorem 14",
    .promise = "Theorem 14 and Corollary 8: exact for normal inputs, orthonormal and incoherent U, "
               "and a small constant share of wrong cells at random",
    .conditions = {&ur_is_rectified, &ur_has_no_bias, &ur_v_has_rank, &ur_u_is_orthogonal,
                   &ur_is_incoherent, &ur_wrong_at_random, &ur_inputs_span, &ur_inputs_normal,
                   &ur_inputs_centred},
};

const char *ur_holds_name(ur_holds holds)
{
    return holds == UR_KEPT ? "yes" : holds == UR_BROKEN ? "no" : "untested";
}

/* of several conditions that cannot be asked for one reason the reason is told once */
static int is_told(const ur_finding *found, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (found[j].holds == found[i].holds && strcmp(found[j].figure, found[i].figure) == 0)
            return 1;
    return 0;
}

unrelu_status ur_theorem_ask(const ur_theorem *theorem, const ur_problem *given,
                             const ur_outcome *out, ur_arena *arena, ur_holds *holds,
                             const char **because, unrelu_error *err)
{
    ur_case c = {.given = given,
                 .out = out,
                 .k = out->answer == UR_NONE ? given->options.k : out->weights.k,
                 .arena = arena,
                 .kappa_u = NAN};
    ur_finding found[UR_CONDITIONS];
    size_t count = 0;
    *holds = theorem->conditions[0] ? UR_KEPT : UR_UNTESTED;
    *because = theorem->conditions[0] ? "" : "no theorem is claimed for this method";
    for (; count < UR_CONDITIONS && theorem->conditions[count]; count++) {
        UR_TRY(theorem->conditions[count]->test(&c, &found[count], err));
        if (found[count].holds < *holds)
            *holds = found[count].holds;
    }
    for (size_t i = 0; i < count; i++)
        if (found[i].holds == *holds && !is_told(found, i))
            *because =
                ur_take_text(arena, "%s%s%s", *because, (*because)[0] ? "; " : "", found[i].figure);
    return ur_arena_status(arena, err);
}
