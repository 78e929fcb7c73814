/* SPDX-License-Identifier: Apache-2.0 */
/* Tiny integer instances for the literal enumeration: a third from networks, a third from networks
 * with one label changed, a third at random; each of four shapes. */
#ifndef TINY_INSTANCES_H
#define TINY_INSTANCES_H

#include "literal_enumeration.h"
#include "networks.h"

#include "base/random.h"

enum { TINY_PLAIN, TINY_NONNEGATIVE, TINY_REPEATED, TINY_ZERO_ROW, TINY_SHAPES };
enum { TINY_NETWORK, TINY_CHANGED, TINY_RANDOM, TINY_ORIGINS };

typedef struct {
    uint64_t seed, at;
} tiny_draws;

static inline int tiny_between(tiny_draws *draws, int low, int high)
{
    double u;
    ur_random_uniforms(draws->seed, 900, draws->at++, 1, &u);
    return low + (int)(u * (high - low + 1));
}

static inline void tiny_inputs(tiny_draws *draws, int shape, literal_instance *in)
{
    for (int i = 0; i < in->n; i++)
        for (int j = 0; j < in->d; j++)
            in->X[i][j] = tiny_between(draws, shape == TINY_NONNEGATIVE ? 0 : -2, 2);
    if (shape == TINY_REPEATED)
        memcpy(in->X[in->n - 1], in->X[0], sizeof in->X[0]);
    if (shape == TINY_ZERO_ROW)
        memset(in->X[in->n - 1], 0, sizeof in->X[0]);
}

static inline void tiny_labels(tiny_draws *draws, int shape, int origin, literal_instance *in)
{
    int V[LITERAL_K][LITERAL_D], U[LITERAL_M][LITERAL_K];
    for (int l = 0; l < in->k; l++)
        for (int j = 0; j < in->d; j++)
            V[l][j] = tiny_between(draws, -2, 2);
    for (int j = 0; j < in->m; j++)
        for (int l = 0; l < in->k; l++)
            U[j][l] = tiny_between(draws, -2, 2);
    for (int i = 0; i < in->n; i++)
        for (int j = 0; j < in->m; j++) {
            in->A[i][j] = origin == TINY_RANDOM ? tiny_between(draws, -2, 2) : 0;
            for (int l = 0; l < in->k && origin != TINY_RANDOM; l++) {
                int h = 0;
                for (int g = 0; g < in->d; g++)
                    h += V[l][g] * in->X[i][g];
                in->A[i][j] += h > 0 ? U[j][l] * h : 0;
            }
        }
    if (origin == TINY_CHANGED)
        in->A[tiny_between(draws, 0, in->n - 1)][tiny_between(draws, 0, in->m - 1)] +=
            tiny_between(draws, 0, 1) ? 1 : -1;
    if (origin == TINY_RANDOM && shape == TINY_REPEATED)
        memcpy(in->A[in->n - 1], in->A[0], sizeof in->A[0]);
    if (origin == TINY_RANDOM && shape == TINY_ZERO_ROW)
        memset(in->A[in->n - 1], 0, sizeof in->A[0]);
}

static inline int tiny_has_rows(const literal_instance *in)
{
    return in->n >= in->d + in->k && in->k * (in->d + in->m - 1) <= in->n * in->m;
}

/* rank k, neither inputs nor labels all the same */
static inline int tiny_usable(const literal_instance *in)
{
    int cells[LITERAL_N * LITERAL_M], pivots[LITERAL_M], inputs = 0, labels = 0;
    for (int i = 0; i < in->n; i++)
        for (int j = 0; j < in->m; j++) {
            cells[i * in->m + j] = in->A[i][j];
            labels |= in->A[i][j] != in->A[0][j];
        }
    for (int i = 0; i < in->n; i++)
        for (int j = 0; j < in->d; j++)
            inputs |= in->X[i][j] != 0;
    return inputs && labels && literal_rank(in->n, in->m, cells, pivots) == in->k;
}

/* few: fewer rows than weights, which only Theorem 1 takes; else more */
static inline literal_instance tiny_draw(int number, int few, int *shape, int *origin)
{
    tiny_draws draws = {.seed = (uint64_t)number + 1};
    literal_instance in;
    *shape = number % TINY_SHAPES;
    *origin = number / TINY_SHAPES % TINY_ORIGINS;
    do {
        memset(&in, 0, sizeof in);
        in.k = tiny_between(&draws, 1, 3);
        in.d = tiny_between(&draws, 1, 3);
        in.n = few ? tiny_between(&draws, 2, in.d + 1) : tiny_between(&draws, in.d + in.k, 7);
        in.m = in.k + (*origin == TINY_NETWORK ? tiny_between(&draws, 0, 1) : 0);
        tiny_inputs(&draws, *shape, &in);
        tiny_labels(&draws, *shape, *origin, &in);
    } while (tiny_has_rows(&in) == few || !tiny_usable(&in));
    return in;
}

static inline literal_instance tiny_instance(int number, int *shape, int *origin)
{
    return tiny_draw(number, 0, shape, origin);
}

/* what --method enumerate says: 1 a network to 1e-12, 0 proved that there is none, -1 neither */
static inline int tiny_verdict(const literal_instance *in)
{
    double x[LITERAL_N * LITERAL_D], a[LITERAL_N * LITERAL_M];
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    unrelu_network *model;
    unrelu_error err = {0};
    o.method = UNRELU_RECOVER_ENUMERATE;
    o.k = (size_t)in->k;
    o.biases = UNRELU_BIASES_NONE;
    for (int i = 0; i < in->n; i++) {
        for (int j = 0; j < in->d; j++)
            x[i * in->d + j] = in->X[i][j];
        for (int j = 0; j < in->m; j++)
            a[i * in->m + j] = in->A[i][j];
    }
    unrelu_status status =
        try_recover(x, a, (size_t)in->n, (size_t)in->d, (size_t)in->m, &o, NULL, &model, &err);
    int fits =
        status == UNRELU_OK && model->residual <= 1e-12 &&
        (model->verdict == UNRELU_VERDICT_EXACT || model->verdict == UNRELU_VERDICT_UNCERTIFIED);
    int proved =
        status == UNRELU_OK && model->verdict == UNRELU_VERDICT_FAILED && model->proof == 1;
    if (!fits && !proved)
        print_message("status %d %s; verdict %s, residual %g: %s\n", (int)status, err.text,
                      unrelu_verdict_name(model->verdict), model->residual, model->failure);
    unrelu_network_free(model);
    return fits ? 1 : proved ? 0 : -1;
}

static inline void tiny_print(const literal_instance *in)
{
    print_message("n %d, d %d, m %d, k %d; X A:\n", in->n, in->d, in->m, in->k);
    for (int i = 0; i < in->n; i++) {
        for (int j = 0; j < in->d; j++)
            print_message("%3d", in->X[i][j]);
        print_message("  |");
        for (int j = 0; j < in->m; j++)
            print_message("%4d", in->A[i][j]);
        print_message("\n");
    }
}

#endif
