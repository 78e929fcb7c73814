/* SPDX-License-Identifier: Apache-2.0 */
/* --certify: whether A = f(X V') U' holds exactly, every cell being the simplest fraction that
 * rounds to it. Three null spaces: of the labels, for k independent columns; of each neuron's
 * equations (neuron.c), for integer rows of V; and of (F, A), F = f(X V') from these V alone, for
 * U. The last is the certificate: it has dimension m, one vector for each label, only where all
 * n m equations hold. n = 5000, d = 30, k = 16, m = 18 takes about 0.5 s.
 * Refused: other activations, biases (a column of ones in X does for them), labels of rank below
 * k, and cells that are no fractions. */
#include "network/verdict/rational/rational.h"

#include "base/error.h"
#include "pass/parallel.h"

#include <stdio.h>

static const char STAGE[] = "exact arithmetic";
enum { LOOK_UP = 256 }; /* rows between looks whether to go on */

/* ---- what can be certified ---- */

static int is_eligible(const ur_outcome *out, unrelu_verdict verdict, char *why)
{
    char activation[48];
    unrelu_activation_name(out->weights.f, activation, sizeof activation);
    if (out->answer != UR_EXACT)
        snprintf(why, UR_WHY, "the verdict is '%s', and only an exact fit can be verified",
                 unrelu_verdict_name(verdict));
    else if (out->weights.f.kind != UNRELU_RELU)
        snprintf(why, UR_WHY, "the activation is %s, and only networks of relu are verified",
                 activation);
    else if (out->terms.hidden || out->terms.constant)
        snprintf(why, UR_WHY,
                 "the network has biases, and only such without are verified: give the inputs a "
                 "column of ones instead");
    else if (out->corrupted > 0)
        snprintf(why, UR_WHY, "%zu labels are not the network's, so that they are not all met",
                 out->corrupted);
    return !why[0];
}

static unrelu_status find_basis(ur_verification *e, unrelu_error *err)
{
    const ur_problem *given = e->given;
    size_t k = e->weights->k, m = e->weights->m, rank = 0;
    ur_null null;
    UR_TRY(ur_null_make(m, &e->step, &null, err));
    for (size_t i = 0; i < given->data.n && !e->why[0]; i++) {
        ur_quotients_row(&e->data, i, e->x, e->a);
        size_t column = ur_null_add(&null, e->a);
        if (column == UR_NULL_HOLDS)
            continue;
        if (rank == k)
            snprintf(e->why, UR_WHY,
                     "the fit is near but not exact: the labels of rows 1 to %zu have rank %zu, "
                     "and %zu neuron%s at most %zu",
                     i + 1, k + 1, k, k == 1 ? " gives" : "s give", k);
        else
            e->basis[rank++] = column;
        if (ur_cancelled(given->exec))
            return ur_fail_cancelled(err);
    }
    if (rank < k)
        snprintf(e->why, UR_WHY,
                 "the labels have rank %zu, and %zu neurons are verified from labels of rank %zu",
                 rank, k, k);
    return UNRELU_OK;
}

/* ---- the certificate ---- */

static unrelu_status verify(ur_verification *e, ur_null *null, mpz_t *row, unrelu_error *err)
{
    const ur_problem *given = e->given;
    size_t d = e->weights->d, k = e->weights->k, m = e->weights->m;
    for (size_t i = 0; i < given->data.n; i++) {
        if (i % LOOK_UP == 0 && ur_cancelled(given->exec))
            return ur_fail_cancelled(err);
        ur_quotients_row(&e->data, i, e->x, e->a); /* (F, A), both times the same integer */
        for (size_t j = 0; j < k; j++) {
            ur_integers_dot(d, e->x, e->V + j * d, row[j]);
            if (mpz_sgn(row[j]) < 0)
                mpz_set_ui(row[j], 0);
        }
        for (size_t j = 0; j < m; j++)
            mpz_set(row[k + j], e->a[j]);
        size_t lost = ur_null_add(null, row);
        if (lost == UR_NULL_HOLDS)
            continue;
        if (lost >= k) {
            snprintf(e->why, UR_WHY,
                     "the fit is near but not exact: row %zu, column %zu of the labels is not met "
                     "by the weights that the rows before it demand",
                     i + 1, lost - k + 1);
            return UNRELU_OK;
        }
        if (null->left == m)
            ur_null_reduce(null);
    }
    if (null->left > m)
        snprintf(e->why, UR_WHY, "the neurons depend on each other in exact arithmetic");
    return UNRELU_OK;
}

/* ---- as text ---- */

static const char *write_integer(const mpz_t x, ur_arena *arena)
{
    char *text = ur_take(arena, mpz_sizeinbase(x, 10) + 2, 1);
    return text ? mpz_get_str(text, 10, x) : NULL;
}

static const char *write_fraction(const mpz_t p, const mpz_t q, ur_arena *arena)
{
    mpq_t x;
    mpq_init(x);
    mpq_set_num(x, p);
    mpq_set_den(x, q);
    mpq_canonicalize(x);
    size_t size = mpz_sizeinbase(mpq_numref(x), 10) + mpz_sizeinbase(mpq_denref(x), 10) + 3;
    char *text = ur_take(arena, size, 1);
    if (text)
        mpq_get_str(text, 10, x);
    mpq_clear(x);
    return text;
}

static unrelu_status write_weights(const ur_verification *e, ur_null *null, ur_arena *arena,
                                   ur_fractions *f, unrelu_error *err)
{
    size_t d = e->weights->d, k = e->weights->k, m = e->weights->m;
    f->V = ur_take(arena, k, d * sizeof *f->V);
    f->U = ur_take(arena, m, k * sizeof *f->U);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < k * d; i++)
        f->V[i] = write_integer(e->V[i], arena);
    for (size_t i = 0; i < m; i++) {
        mpz_t *vector = null->vector[i], *own = &vector[null->own[i]];
        mpz_neg(*own, *own); /* F u + a own = 0 */
        for (size_t j = 0; j < k; j++)
            f->U[i * k + j] = write_fraction(vector[j], *own, arena);
    }
    return ur_arena_status(arena, err);
}

/* ---- the walk ---- */

typedef struct {
    ur_verification e;
    ur_arena *kept; /* of what is found */
    ur_fractions *fractions;
} walking;

static unrelu_status end_step(ur_verification *e, unrelu_status status)
{
    ur_arena_end(&e->step);
    return status;
}

static unrelu_status walk(void *context, unrelu_error *err)
{
    walking *w = context;
    ur_verification *e = &w->e;
    ur_arena *arena = &e->arena;
    const ur_problem *given = e->given;
    size_t d = e->weights->d, k = e->weights->k, m = e->weights->m;
    ur_null null;
    e->basis = ur_take(arena, k, sizeof *e->basis);
    e->x = ur_integers(arena, d);
    e->a = ur_integers(arena, m);
    e->V = ur_integers(arena, k * d);
    UR_TRY(ur_quotients_make(&given->data, given->exec, arena, &e->data, e->why, err));
    if (!e->why[0])
        UR_TRY(end_step(e, find_basis(e, err)));
    for (size_t j = 0; !e->why[0] && j < k; j++) {
        ur_progress(given->exec, STAGE, (double)j / (double)(k + 1));
        UR_TRY(end_step(e, ur_verify_neuron(e, j, err)));
    }
    if (e->why[0])
        return UNRELU_OK;
    mpz_t *row = ur_integers(arena, k + m);
    UR_TRY(ur_null_make(k + m, arena, &null, err));
    UR_TRY(verify(e, &null, row, err));
    return e->why[0] ? UNRELU_OK : write_weights(e, &null, w->kept, w->fractions, err);
}

static void end_walk(void *context)
{
    walking *w = context;
    ur_arena_end(&w->e.step);
    ur_arena_end(&w->e.arena);
}

unrelu_status ur_rational_ready(unrelu_error *err)
{
    (void)err;
    return UNRELU_OK;
}

unrelu_status ur_rational(const ur_problem *given, const ur_outcome *out, unrelu_verdict verdict,
                          ur_arena *arena, ur_fractions *fractions, unrelu_error *err)
{
    unrelu_exec theirs = given->exec ? *given->exec : (unrelu_exec){.size = sizeof theirs};
    unrelu_exec exec = ur_gmp_exec(&theirs);
    ur_problem inside = *given;
    walking w = {
        .e = {.given = &inside, .weights = &out->weights}, .kept = arena, .fractions = fractions};
    inside.exec = &exec;
    *fractions = (ur_fractions){0};
    if (is_eligible(out, verdict, w.e.why))
        UR_TRY(ur_gmp_run(walk, end_walk, &w, err));
    if (w.e.why[0])
        fractions->why = ur_take_text(arena, "not verified in exact arithmetic: %s", w.e.why);
    return ur_arena_status(arena, err);
}
