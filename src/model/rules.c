/* SPDX-License-Identifier: Apache-2.0 */
#include "model/rules.h"

#include "base/error.h"
#include "model/warnings.h"

unrelu_status ur_breach_tell(ur_breach *breach, unrelu_error *err, const char *format, ...)
{
    va_list values;
    breach->broken = 1;
    va_start(values, format);
    unrelu_status status =
        ur_warnings_add(breach->list, breach->count, breach->code, err, format, values);
    va_end(values);
    return status;
}

unrelu_status ur_rules_ask(const ur_rule *rules, size_t count, const void *facts,
                           unrelu_warning **list, size_t *warnings, unrelu_verdict *verdict,
                           unrelu_error *err)
{
    int lost = 0; /* a rule has given the verdict */
    for (const ur_rule *rule = rules; rule < rules + count; rule++) {
        ur_breach breach = {rule->code, list, warnings, 0};
        if (rule->applies && !rule->applies(facts))
            continue;
        UR_TRY(rule->test(facts, &breach, err));
        if (breach.broken && !lost && rule->worst != UNRELU_VERDICT_EXACT) {
            *verdict = rule->worst;
            lost = 1;
        }
    }
    return UNRELU_OK;
}
