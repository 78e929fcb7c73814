/* SPDX-License-Identifier: Apache-2.0 */
#include "model/rules.h"

#include "base/error.h"

#include <string.h>

const char *const ur_verdict_words[] = {"planted", "exact",     "exact-uncertified", "noisy",
                                        "failed",  "ambiguous", "approximate",       "incomplete"};

const char *unrelu_verdict_name(unrelu_verdict verdict)
{
    return (size_t)verdict <= UR_LAST_VERDICT ? ur_verdict_words[verdict] : "";
}

void ur_breach_tell(ur_breach *breach, const char *format, ...)
{
    va_list values;
    breach->broken = 1;
    va_start(values, format);
    ur_warnings_add(breach->notes, breach->arena, breach->code, format, values);
    va_end(values);
}

int ur_breach_is_told(const ur_breach *breach)
{
    for (size_t i = 0; i < breach->notes->count; i++)
        if (strcmp(breach->notes->list[i].code, breach->code) == 0)
            return 1;
    return 0;
}

unrelu_status ur_rules_ask(const ur_rule *rules, size_t count, const void *facts, ur_arena *arena,
                           ur_warnings *notes, unrelu_verdict *verdict, unrelu_error *err)
{
    int lost = 0; /* a rule has given the verdict */
    for (const ur_rule *rule = rules; rule < rules + count; rule++) {
        ur_breach breach = {.code = rule->code, .arena = arena, .notes = notes, .err = err};
        if (rule->applies && !rule->applies(facts))
            continue;
        UR_TRY(rule->test(facts, &breach));
        if (breach.broken && !lost && rule->worst != UNRELU_VERDICT_EXACT) {
            *verdict = rule->worst;
            lost = 1;
        }
    }
    return ur_arena_status(arena, err);
}

int ur_rules_show(const ur_rule *rules, size_t count, size_t i, unrelu_rule *out)
{
    if (i >= count)
        return 0;
    *out = (unrelu_rule){rules[i].code, rules[i].sentence, rules[i].worst};
    return 1;
}
