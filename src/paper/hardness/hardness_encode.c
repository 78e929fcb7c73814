/* SPDX-License-Identifier: Apache-2.0 */
/* Two neurons x and y that say +-1 for every variable of a formula, y the opposite of x (Theorem 2
 * and Proposition 2 of Bakshi, Jayaram and Woodruff, with constants for any length).
 *
 * Since y obeys every clause that x obeys, clauses must come with their complements. With one
 * fresh variable s they do: C becomes (C or s) and (not C's literals, or not s), which x and its
 * complement satisfy together; where s is false, x satisfies C, else its complement does.
 *
 * Rows with label 1, of e_i for s and each variable, and of the last two coordinates g and h:
 *     e_i, -e_i          x_i = 1, y_i = -1 or the reverse
 *     e_g, -2 e_g, e_h, -2 e_h    1 and -1/2, or the reverse
 *     e_g + e_h          x_g + x_h = y_g + y_h = 1/2
 * Row with label 0 for a clause of M literals: -1 for a literal, 1 for a negated one (repeated ones
 * add up), -2 (M - 1) at g and h: the sum of its literals is at least -(M - 1), so not all are
 * false. An empty clause is (s) and (not s), which nothing satisfies.
 *
 * With variable alpha, e_l and -e_l of one more coordinate have label 1: alpha is positive then,
 * and the rows (alpha_1 x, alpha_2 y) solve the rest with (1, 1).
 *
 * Padding to k neurons and m labels adds zeros to alpha and A: neurons without weight are free, and
 * labels without neurons are 0.
 *
 * X has 2 C + 2 (variables + 1) + 5 rows (2 more); over 2^30 numbers are refused before any memory
 * is asked for. */
#include "base/error.h"
#include "base/memory.h"
#include "paper/hardness/hardness.h"

#include <stdlib.h>
#include <string.h>

static const size_t most_numbers = (size_t)1 << 30;

typedef struct {
    unrelu_hardness *h;
    size_t row;
} filler;

static double *next_row(filler *f, double label)
{
    f->h->A[f->row * f->h->m] = label;
    return f->h->X + f->row++ * f->h->d;
}

static void add_unit(filler *f, size_t coordinate, double value)
{
    next_row(f, 1)[coordinate] = value;
}

/* (C or s) for sign 1, its complement for sign -1; returns where the next clause starts */
static const int *add_clause(filler *f, const int *literal, double sign)
{
    size_t s = f->h->variables;
    double *row = next_row(f, 0);
    row[s] = -sign;
    for (; *literal; literal++) {
        row[abs(*literal) - 1] -= *literal > 0 ? sign : -sign;
        row[s + 1] -= 2;
    }
    row[s + 2] = row[s + 1];
    return literal + 1;
}

static void fill(unrelu_hardness *h, const ur_cnf *cnf)
{
    filler f = {.h = h};
    size_t g = h->variables + 1;
    for (const int *next = cnf->literals, *at = next; f.row < 2 * cnf->clauses; at = next) {
        add_clause(&f, at, 1);
        next = add_clause(&f, at, -1);
    }
    for (size_t i = 0; i < g; i++) {
        add_unit(&f, i, 1);
        add_unit(&f, i, -1);
    }
    for (size_t i = g; i < g + 2; i++) {
        add_unit(&f, i, 1);
        add_unit(&f, i, -2);
    }
    double *both = next_row(&f, 1);
    both[g] = both[g + 1] = 1;
    if (h->variable_alpha) {
        add_unit(&f, g + 2, 1);
        add_unit(&f, g + 2, -1);
    }
}

/* ---- the instance ---- */

static const ur_field fields[] = {
    UR_ARRAY_FIELD(unrelu_hardness, X, "nd"),
    UR_ARRAY_FIELD(unrelu_hardness, A, "nm"),
    UR_ARRAY_FIELD(unrelu_hardness, alpha, "mk"),
    UR_COUNT_FIELD(unrelu_hardness, variables),
    UR_FIELD(unrelu_hardness, variable_alpha, UR_SWITCH, NULL, 0, 0),
};

static void set_sizes(const void *instance, size_t *sizes)
{
    const unrelu_hardness *h = instance;
    sizes[0] = h->n;
    sizes[1] = h->d;
    sizes[2] = h->k;
    sizes[3] = h->m;
}

const ur_kind ur_hardness_kind = {.name = "hardness",
                                  .size = sizeof(unrelu_hardness),
                                  .letters = "ndkm",
                                  .set_sizes = set_sizes,
                                  .tables = {UR_KIND_TABLE(fields)}};

static unrelu_status encode(const char *path, const ur_cnf *cnf, unrelu_hardness *h,
                            unrelu_error *err)
{
    int overflow = 0;
    ur_arena *arena = ur_model_arena(h);
    h->variables = cnf->variables;
    h->d = cnf->variables + ur_hardness_extra(h->variable_alpha);
    h->n = 2 * cnf->clauses + 2 * (cnf->variables + 1) + 5 + (h->variable_alpha ? 2 : 0);
    if (ur_product(h->n, h->d, &overflow) > most_numbers || overflow)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: X would be %zu x %zu, where at most %zu numbers are written: take a "
                       "smaller formula",
                       path, h->n, h->d, most_numbers);
    h->X = ur_take(arena, h->n, h->d * sizeof *h->X);
    h->A = ur_take(arena, h->n, sizeof *h->A);
    h->k = 2;
    h->m = 1;
    if (!h->variable_alpha)
        h->alpha = ur_take(arena, 2, sizeof *h->alpha);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t j = 0; j < 2 && h->alpha; j++)
        h->alpha[j] = 1;
    fill(h, cnf);
    return UNRELU_OK;
}

unrelu_status unrelu_hardness_pad(unrelu_hardness *h, size_t k, size_t m, unrelu_error *err)
{
    int overflow = 0;
    ur_arena *arena = ur_model_arena(h);
    if (k < h->k || m < h->m)
        return ur_fail(err, UNRELU_EUSAGE,
                       "%zu neurons and %zu labels, where the instance has %zu and %zu already", k,
                       m, h->k, h->m);
    if (h->variable_alpha && (k > h->k || m > h->m))
        return ur_fail(err, UNRELU_EUSAGE,
                       "a variable alpha is not padded: with more than two neurons it could use "
                       "the others, and Theorem 2 says it of k = 2 alone");
    if (ur_product(h->n, m, &overflow) > most_numbers ||
        ur_product(k, m, &overflow) > most_numbers ||
        ur_product(k, h->d, &overflow) > most_numbers || overflow)
        return ur_fail(err, UNRELU_EUSAGE,
                       "%zu neurons and %zu labels need more than %zu numbers: take fewer", k, m,
                       most_numbers);
    double *A = ur_take(arena, h->n, m * sizeof *A), *alpha = NULL;
    if (!h->variable_alpha)
        alpha = ur_take(arena, m, k * sizeof *alpha);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < h->n; i++)
        A[i * m] = h->A[i * h->m];
    for (size_t j = 0; j < 2 && alpha; j++)
        alpha[j] = 1;
    h->A = A;
    h->alpha = alpha;
    h->k = k;
    h->m = m;
    return UNRELU_OK;
}

unrelu_status unrelu_hardness_encode(const char *path, int variable_alpha,
                                     unrelu_hardness **instance, unrelu_error *err)
{
    ur_cnf cnf;
    UR_ARENA(arena);
    *instance = NULL;
    UR_TRY(ur_cnf_read(path, &arena, &cnf, err));
    unrelu_hardness *h = ur_model_new(&ur_hardness_kind, err);
    if (!h)
        return UNRELU_ENOMEM;
    h->variable_alpha = variable_alpha != 0;
    return ur_model_hand(h, encode(path, &cnf, h, err), instance, err);
}

void unrelu_hardness_free(unrelu_hardness *h)
{
    ur_model_free(h);
}

/* ---- assignments ---- */

/* x[i]: 1 or -1 as the literals say of variable i, else 0 */
static unrelu_status set_literals(const unrelu_hardness *h, const int *literals, size_t count,
                                  double *x, unrelu_error *err)
{
    for (size_t i = 0; i < count; i++) {
        int literal = literals[i];
        size_t variable = (size_t)labs((long)literal);
        double value = literal > 0 ? 1 : -1;
        if (variable == 0)
            return ur_fail(err, UNRELU_EUSAGE, "0 is no literal: variables count from 1");
        if (variable > h->variables)
            return ur_fail(err, UNRELU_EUSAGE, "literal %d, where the formula has %zu variables",
                           literal, h->variables);
        if (x[variable - 1] == -value)
            return ur_fail(err, UNRELU_EUSAGE,
                           "literal %d contradicts %d before it: keep one of them", literal,
                           -literal);
        x[variable - 1] = value;
    }
    return UNRELU_OK;
}

unrelu_status unrelu_hardness_assign(const unrelu_hardness *h, const int *literals, size_t count,
                                     double *V, unrelu_error *err)
{
    double *x = V, *y = V + h->d;
    size_t s = h->variables;
    memset(V, 0, h->k * h->d * sizeof *V);
    unrelu_status status = set_literals(h, literals, count, x, err);
    if (status != UNRELU_OK) {
        memset(V, 0, h->k * h->d * sizeof *V);
        return status;
    }
    for (size_t i = 0; i <= s; i++) {
        x[i] = x[i] > 0 ? 1 : -1;
        y[i] = -x[i];
    }
    x[s + 1] = y[s + 2] = 1;
    x[s + 2] = y[s + 1] = -0.5;
    if (h->variable_alpha) {
        x[s + 3] = 1;
        y[s + 3] = -1;
    }
    return UNRELU_OK;
}
