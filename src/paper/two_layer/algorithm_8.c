/* SPDX-License-Identifier: Apache-2.0 */
/* Algorithm 8 as it is printed, with constants 1 and kappa = 1: all M (k x rows of S) with entries
 * +-(1 + epsilon^4 / k^4)^-i, 0 <= i <= (k / epsilon)^8, and 0 (printed: positive ones alone, which
 * no left inverse of a U with both signs has); for each and every guess 2^-j |M S A|_F of |M S E|_F
 * a dither G, the signs of M S A + G, for each row of them the w of unit length that maximises
 * sum y w x, and U by regression; the least |A - U f(V X)|_F is the answer. sigma_min is 1: signs
 * do not see the scale of M, and neither does G, which grows with it. S is the identity where there
 * are no more labels than the 100 k rows it has: it embeds nothing then. epsilon = .9 / k, as the
 * algorithm asks for 1 / epsilon > k. n (k (m + d) + k^2) operations for each of
 * (2 (k / epsilon)^8 + 3)^(k m) log2 n tries: one neuron and a few labels, no more. */
#include "base/error.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/hard/any_noise/any_noise.h"
#include "network/verdict/verdict.h"
#include "paper/two_layer/two_layer.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

enum { SKETCH = 100 };         /* rows of S for a neuron: c_1 / delta^2, delta = 1/10 */
static const double PART = .9; /* of 1 / k is epsilon */
/* tries, unless another is given: seconds for some hundred rows */
static const double BUDGET = 1e6;

typedef struct {
    size_t n, p, m, k;
    unrelu_activation f;
    const double *x, *a;
    double epsilon, size; /* size: |A|_F^2 */
    size_t powers;        /* (k / epsilon)^8 and 1 */
    size_t guesses;
    double *value;       /* 2 powers + 1: of an entry of M */
    size_t *digit;       /* k m: which */
    double *M, *y, *g;   /* k x m; n x k: M A; n x k: a dither */
    double *V, *F;       /* k x p, n x k */
    double *G, *C;       /* k x k, k x m */
    double *best, least; /* k x p, its sum of squares */
} tries;

/* the sum of squares that regression on f(V x) leaves */
static double left_by(tries *t)
{
    ur_multiply_nt(t->n, t->p, t->k, t->x, t->V, t->F);
    ur_activation_apply(t->f, t->n * t->k, t->F, t->F, NULL);
    ur_multiply_tn(t->n, t->k, t->k, t->F, t->F, t->G);
    ur_multiply_tn(t->n, t->k, t->m, t->F, t->a, t->C);
    for (size_t j = 0; j < t->k; j++)
        t->G[j * (t->k + 1)] *= 1 + UR_ROUNDING;
    if (!ur_cholesky_in_place(t->k, t->G))
        return t->size;
    ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, t->k, t->m, t->G, t->k, t->C, t->m);
    return t->size - ur_dot(t->k * t->m, t->C, t->C);
}

/* steps 3 and 4 for one M and one guess; number: of all tries */
static void attempt(tries *t, uint64_t seed, uint64_t number, double spread)
{
    size_t n = t->n, k = t->k, p = t->p;
    ur_random_normals(seed, UR_STREAM_ANY_DITHER, number * n * k, n * k, t->g);
    memset(t->V, 0, k * p * sizeof *t->V);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k; j++) {
            double label = t->y[i * k + j] + spread * t->g[i * k + j];
            ur_add(p, label > 0 ? 1 : -1, t->x + i * p, t->V + j * p);
        }
    ur_unit_rows(k, p, t->V);
    double left = left_by(t);
    if (left < t->least) {
        t->least = left;
        memcpy(t->best, t->V, k * p * sizeof *t->V);
    }
}

/* the next M; 0 after the last */
static int advance(tries *t)
{
    for (size_t i = 0; i < t->k * t->m; i++) {
        if (++t->digit[i] < 2 * t->powers + 1)
            return 1;
        t->digit[i] = 0;
    }
    return 0;
}

static unrelu_status try_all(const ur_problem *given, tries *t, unrelu_error *err)
{
    uint64_t number = 0;
    do {
        if (ur_cancelled(given->exec))
            return ur_fail_cancelled(err);
        for (size_t i = 0; i < t->k * t->m; i++)
            t->M[i] = t->value[t->digit[i]];
        ur_multiply_nt(t->n, t->m, t->k, t->a, t->M, t->y);
        double size = ur_norm(t->n * t->k, t->y);
        double spread = (double)t->k / (t->epsilon * t->epsilon) * size / sqrt((double)t->n);
        for (size_t j = 0; j < t->guesses; j++)
            attempt(t, given->options.seed, number++, ldexp(spread, -(int)j));
    } while (advance(t));
    return UNRELU_OK;
}

/* of the numbers that the problem fixes; log10 of the tries */
static double open_tries(const ur_frame *frame, size_t k, tries *t)
{
    size_t rows = frame->m < SKETCH * k ? frame->m : SKETCH * k;
    *t = (tries){.n = frame->n, .p = frame->p, .m = frame->m, .k = k, .x = frame->x, .a = frame->a};
    t->epsilon = PART / (double)k;
    t->size = frame->size;
    t->least = INFINITY;
    t->guesses = (size_t)ceil(log2((double)frame->n)) + 1;
    double powers = floor(pow((double)k / t->epsilon, 8)) + 1;
    t->powers = (size_t)fmin(powers, (double)(SIZE_MAX / 4)); /* more than a budget can be */
    return (double)(k * rows) * log10(2 * powers + 1) + log10((double)t->guesses);
}

static void take_room(tries *t, ur_arena *arena)
{
    size_t n = t->n, m = t->m, k = t->k, p = t->p;
    t->value = ur_take(arena, 2 * t->powers + 1, sizeof *t->value);
    t->digit = ur_take(arena, k, m * sizeof *t->digit);
    t->M = ur_take(arena, k, m * sizeof *t->M);
    t->y = ur_take(arena, n, k * sizeof *t->y);
    t->g = ur_take(arena, n, k * sizeof *t->g);
    t->F = ur_take(arena, n, k * sizeof *t->F);
    t->V = ur_take(arena, k, p * sizeof *t->V);
    t->best = ur_take(arena, k, p * sizeof *t->best);
    t->G = ur_take(arena, k, k * sizeof *t->G);
    t->C = ur_take(arena, k, m * sizeof *t->C);
    double ratio = 1 + pow(t->epsilon / (double)k, 4);
    for (size_t i = 0; i < t->powers && t->value; i++) {
        t->value[2 * i + 1] = pow(ratio, -(double)i);
        t->value[2 * i + 2] = -t->value[2 * i + 1];
    }
}

unrelu_status ur_algorithm_8(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    UR_ARENA(arena);
    const ur_data *data = &given->data;
    size_t k = given->options.k;
    double budget = given->options.budget > 0 ? (double)given->options.budget : BUDGET;
    ur_frame frame;
    tries t;
    ur_newton_fit fit;
    ur_any_measures s;
    if (k == 0 || ur_terms_of(given->options.biases).hidden ||
        ur_terms_of(given->options.biases).constant)
        return ur_fail(err, UNRELU_EUSAGE,
                       "Algorithm 8 is for a given number of neurons and no biases: give `k`, and "
                       "leave out `bias`, or `literal`");
    UR_TRY(
        ur_frame_make(data, data->n, ur_terms_of(UNRELU_BIASES_NONE), 0, out->arena, &frame, err));
    double digits = open_tries(&frame, k, &t);
    out->how_k = "given";
    if (digits > log10(budget)) {
        out->failure = ur_take_text(
            out->arena,
            "Algorithm 8 as it is printed has 1e%.1f matrices M and dithers to try for k = %zu, "
            "%zu "
            "label%s and epsilon = %.2g, and `budget` allows %.3g: without `literal` some starts "
            "are enough",
            digits, k, data->m, data->m == 1 ? "" : "s", t.epsilon, budget);
        return UNRELU_OK;
    }
    t.f = given->options.activation;
    take_room(&t, &arena);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(try_all(given, &t, err));
    ur_newton problem = ur_frame_problem(&frame, given->options.activation, given->exec);
    UR_TRY(ur_newton_alloc(&problem, k, &arena, &fit, err));
    memcpy(fit.V, t.best, k * frame.p * sizeof *fit.V);
    UR_TRY(ur_newton_outer(&problem, &fit, err));
    UR_TRY(ur_certify_fit(given, &frame, &fit, NULL, out, err));
    if (out->certificate.met)
        return ur_certify_exact(given, &frame, NULL, 0, 0, out, err);
    UR_TRY(ur_any_measure(given, &out->weights, &frame, &fit, &s, err));
    out->answer = UR_NOISY;
    out->objective = s.objective;
    out->objective_bound = s.bound;
    out->noise = s.objective / sqrt((double)data->n * (double)data->m);
    out->guarantee = ur_take_text(
        out->arena,
        "Algorithm 8 as it is printed, constants and kappa 1: the best of %.0f tries, %zu sizes of "
        "the dither for each M with entries of both signs and 0; epsilon = %.2g, n = %zu is enough "
        "for epsilon %.2g",
        pow(10, digits), t.guesses, t.epsilon, data->n,
        ur_any_epsilon(data->n, frame.p, k, s.kappa_u));
    ur_outcome_note(
        out, "no-se",
        "`literal`: the estimate of Algorithm 8 as it is, whose error is not known; noise "
        "is the root mean square of what is left");
    return UNRELU_OK;
}
