/* SPDX-License-Identifier: Apache-2.0 */
#include "model_pairs.h"

#include <math.h>
#include <stdio.h>

#include "model_text.h"
#include "table.h"

enum { STRONGEST = 10 };

typedef struct {
    size_t i, j;
    double strength;
} pair;

typedef struct {
    pair top[STRONGEST]; /* strongest first */
    size_t shown, few_joint;
} selection;

static const double *errors_of_pairs(const double *se, size_t d)
{
    for (size_t i = 0; se && i + 1 < d; i++) /* the upper triangle counts */
        if (cli_has_errors(se + i * d + i + 1, d - i - 1))
            return se;
    return NULL;
}

static void insert_pair(selection *s, pair new)
{
    size_t at = s->shown;
    if (s->shown < STRONGEST)
        s->shown++;
    else if (new.strength <= s->top[--at].strength)
        return;
    for (; at > 0 && s->top[at - 1].strength < new.strength; at--)
        s->top[at] = s->top[at - 1];
    s->top[at] = new;
}

/* The pairs of largest |correlation|, without those that the data do not determine (NaN too). */
static void select_pairs(const unrelu_gaussian *m, const double *se, selection *s)
{
    for (size_t i = 0; i < m->d; i++) {
        for (size_t j = i + 1; j < m->d; j++) {
            size_t ij = i * m->d + j;
            double strength = fabs(m->correlation[ij]);
            if (m->pair_flags && m->pair_flags[ij] & UNRELU_FLAG_FEW_JOINT)
                s->few_joint++;
            else if (strength > 1e-12 && /* rounding, in a planted model */
                     (!se || isfinite(se[ij])))
                insert_pair(s, (pair){i, j, strength});
        }
    }
}

static void print_heading(const selection *s, size_t pairs)
{
    if (s->shown == pairs) {
        printf("\ncorrelations\n");
        return;
    }
    printf("\nstrongest correlations (%zu of %zu pairs", s->shown, pairs);
    if (s->few_joint)
        printf("; %zu few-joint left out", s->few_joint);
    printf(")\n");
}

static void print_no_pairs(const selection *s, size_t pairs)
{
    if (s->few_joint < pairs)
        printf("\ncorrelations: %zu of %zu pairs are few-joint, the others 0\n", s->few_joint,
               pairs);
    else
        printf("\ncorrelations: %s few-joint: too few rows where both are positive\n",
               pairs == 1 ? "the only pair is" : "every pair is");
}

void cli_print_correlations(const unrelu_gaussian *m, double z)
{
    cli_table table;
    selection s = {0};
    size_t pairs = m->d * (m->d - 1) / 2;
    if (!m->correlation)
        return;
    const double *se = errors_of_pairs(m->correlation_se, m->d);
    select_pairs(m, se, &s);
    if (s.shown == 0) {
        if (s.few_joint)
            print_no_pairs(&s, pairs);
        return;
    }
    print_heading(&s, pairs);
    cli_table_start(&table, 3);
    for (size_t r = 0; r < s.shown; r++) {
        size_t ij = s.top[r].i * m->d + s.top[r].j;
        cli_add_column_name(&table, m, s.top[r].i);
        cli_add_column_name(&table, m, s.top[r].j);
        cli_table_add_estimate(&table, m->correlation[ij], se ? z * se[ij] : -1);
    }
    cli_table_print(&table, "llr");
}
