/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that a model must keep for its verdict, as a table, the most important first. One loop
 * asks them all: every rule that is broken is told by warnings with its code, and the first of
 * them gives the verdict. Rules look at what was found and change nothing. */
#ifndef UR_RULES_H
#define UR_RULES_H

#include "unrelu/unrelu.h"

/* where the test of a rule tells that it is broken */
typedef struct {
    const char *code;
    unrelu_warning **list;
    size_t *count;
    int broken;
} ur_breach;

typedef struct {
    const char *code;                  /* of its warnings */
    const char *sentence;              /* what is asked, for docs */
    int (*applies)(const void *facts); /* NULL: always */
    unrelu_status (*test)(const void *facts, ur_breach *breach, unrelu_error *err);
    unrelu_verdict worst; /* of a model that breaks it; UNRELU_VERDICT_EXACT: it is told, no more */
} ur_rule;

/* The rule at hand is broken; may be called several times. */
unrelu_status ur_breach_tell(ur_breach *breach, unrelu_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* *verdict: where no rule is broken on entry, the model's on return */
unrelu_status ur_rules_ask(const ur_rule *rules, size_t count, const void *facts,
                           unrelu_warning **list, size_t *warnings, unrelu_verdict *verdict,
                           unrelu_error *err);

#endif
