/* SPDX-License-Identifier: Apache-2.0 */
#include "network/problem/outcome.h"

#include <math.h>

const char *ur_terms_name(ur_terms terms)
{
    return terms.hidden ? terms.constant ? "both" : "hidden" : terms.constant ? "output" : "none";
}

ur_terms ur_terms_of(unrelu_biases biases)
{
    static const ur_terms terms[] = {[UNRELU_BIASES_AUTO] = {0, 0},
                                     [UNRELU_BIASES_NONE] = {0, 0},
                                     [UNRELU_BIASES_HIDDEN] = {1, 0},
                                     [UNRELU_BIASES_BOTH] = {1, 1},
                                     [UNRELU_BIASES_OUTPUT] = {0, 1}};
    return terms[biases];
}

ur_outcome ur_outcome_in(ur_arena *arena)
{
    return (ur_outcome){.arena = arena,
                        .objective = NAN,
                        .objective_bound = NAN,
                        .incoherence = NAN,
                        .how_k = "",
                        .guarantee = "",
                        .assumption = "",
                        .failure = "",
                        .closest = 1};
}

void ur_outcome_note(ur_outcome *out, const char *code, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    ur_warnings_add(&out->notes, out->arena, code, format, values);
    va_end(values);
}

void ur_outcome_note_merged(const ur_problem *given, ur_outcome *out)
{
    if (given->options.k > out->weights.k)
        ur_outcome_note(out, "merged",
                        "%zu neurons were asked for and %zu are enough: the others coincide with "
                        "these, have no output or are never on",
                        given->options.k, out->weights.k);
}

void ur_outcome_keep(ur_outcome *attempt, ur_outcome *out)
{
    ur_arena *arena = out->arena;
    ur_arena_give(attempt->arena, arena);
    *out = *attempt;
    out->arena = arena;
}
