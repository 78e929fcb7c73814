/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that a model must keep for its verdict, as a table, the most important first. One loop
 * asks them all: every rule that is broken is told by notes with its code, and the first of them
 * gives the verdict. Rules look at what was found and change nothing. */
#ifndef UR_RULES_H
#define UR_RULES_H

#include "model/warnings.h"

/* where the test of a rule tells that it is broken */
typedef struct {
    const char *code;
    ur_arena *arena;
    ur_warnings *notes;
    int broken;
    unrelu_error *err; /* of a test that cannot be made */
} ur_breach;

typedef struct {
    const char *code;                  /* of its notes */
    const char *sentence;              /* what is asked, for docs */
    int (*applies)(const void *facts); /* NULL: always */
    unrelu_status (*test)(const void *facts, ur_breach *breach);
    unrelu_verdict worst; /* of a model that breaks it; UNRELU_VERDICT_EXACT: it is told, no more */
} ur_rule;

#define UR_LAST_VERDICT UNRELU_VERDICT_INCOMPLETE
extern const char *const ur_verdict_words[]; /* in the order of unrelu_verdict */

/* The rule at hand is broken; may be called several times. */
void ur_breach_tell(ur_breach *breach, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* whether a rule of the same code was told already */
int ur_breach_is_told(const ur_breach *breach);

/* notes lie in the arena. *verdict: where no rule is broken on entry, the model's on return */
unrelu_status ur_rules_ask(const ur_rule *rules, size_t count, const void *facts, ur_arena *arena,
                           ur_warnings *notes, unrelu_verdict *verdict, unrelu_error *err);
/* rule i for tables of docs: 1, or 0 after the last */
int ur_rules_show(const ur_rule *rules, size_t count, size_t i, unrelu_rule *out);

#endif
