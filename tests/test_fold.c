/* SPDX-License-Identifier: Apache-2.0 */
/* Folds, the parts of `signless`: what they compute against plain loops, what they find against
 * what was planted. */
#include "planted.h"

#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/signless/fold.h"
#include "network/signless/fold_subset.h"
#include "network/signless/signless.h"

enum { N = 300, P = 6, M = 2, K = 5, SEED = 7 };

typedef struct {
    ur_arena arena;
    ur_folds folds;
    double *z, *a, *T, *B; /* rows and outputs that were planted */
    int signs[64];
    ur_fold_state s;
} planted_folds;

/* a = sum_j b_j (|z t_j| + ratio s_j z t_j) */
static void set_labels(planted_folds *f, size_t k, double ratio, double floor)
{
    size_t n = f->folds.n, p = f->folds.p, m = f->folds.m;
    unrelu_error err = {0};
    memset(f->a, 0, n * m * sizeof *f->a);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k; j++) {
            double t = ur_short_dot(p, f->z + i * p, f->T + j * p);
            for (size_t r = 0; r < m; r++)
                f->a[i * m + r] += f->B[j * m + r] * (fabs(t) + ratio * f->signs[j] * t);
        }
    must(ur_folds_open(&f->folds, floor, &err), &err);
}

/* z'z = n I */
static planted_folds plant_folds(size_t n, size_t p, size_t m, size_t k, size_t room, double ratio,
                                 uint64_t seed)
{
    planted_folds f = {0};
    unrelu_error err = {0};
    f.z = ur_take(&f.arena, n, p * sizeof *f.z);
    f.a = ur_take(&f.arena, n, m * sizeof *f.a);
    f.T = ur_take(&f.arena, k, p * sizeof *f.T);
    f.B = ur_take(&f.arena, k, m * sizeof *f.B);
    ur_random_normals(seed, 1, 0, n * p, f.z);
    must(ur_orthonormalise(n, p, f.z, &err), &err);
    for (size_t i = 0; i < n * p; i++)
        f.z[i] *= sqrt((double)n);
    ur_random_normals(seed, 2, 0, k * p, f.T);
    ur_unit_rows(k, p, f.T);
    ur_random_normals(seed, 3, 0, k * m, f.B);
    for (size_t j = 0; j < k; j++)
        f.signs[j] = (j * j + seed) % 3 ? 1 : -1;
    f.folds = (ur_folds){.n = n, .p = p, .m = m, .z = f.z, .a = f.a};
    set_labels(&f, k, ratio, 1e-12);
    must(ur_fold_state_open(&f.folds, room, &f.arena, &f.s, &err), &err);
    return f;
}

/* the rows of s: those planted and `off` times random ones */
static void start_near(planted_folds *f, size_t k, double off)
{
    unrelu_error err = {0};
    f->s.k = k;
    ur_random_normals(SEED, 4, 0, k * f->folds.p, f->s.T);
    for (size_t i = 0; i < k * f->folds.p; i++)
        f->s.T[i] = f->T[i] + off * f->s.T[i];
    must(ur_fold_evaluate(&f->folds, &f->s, &err), &err);
}

/* how far row j of T is from the nearest row of s, but for its sign */
static double distance_to(const planted_folds *f, size_t j)
{
    double best = INFINITY;
    for (size_t i = 0; i < f->s.k; i++) {
        double cosine = ur_short_dot(f->folds.p, f->T + j * f->folds.p, f->s.T + i * f->folds.p);
        double off = 0;
        for (size_t c = 0; c < f->folds.p; c++)
            off +=
                pow(f->s.T[i * f->folds.p + c] - copysign(1, cosine) * f->T[j * f->folds.p + c], 2);
        best = fmin(best, sqrt(off));
    }
    return best;
}

static void outputs_are_those_of_least_squares(void **state)
{
    (void)state;
    planted_folds f = plant_folds(N, P, M, K, K, 1, SEED);
    unrelu_error err = {0};
    start_near(&f, K, .3);
    double *F = ur_take(&f.arena, N, (K + P) * sizeof *F),
           *B = ur_take(&f.arena, K + P, M * sizeof *B);
    double rss = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < K + P; j++)
            F[i * (K + P) + j] =
                j < K ? fabs(ur_short_dot(P, f.z + i * P, f.s.T + j * P)) : f.z[i * P + j - K];
    must(ur_least_squares(N, K + P, M, F, f.a, 0, B, NULL, &err), &err);
    for (size_t i = 0; i < N; i++)
        for (size_t r = 0; r < M; r++) {
            double fitted = 0;
            for (size_t j = 0; j < K + P; j++)
                fitted += F[i * (K + P) + j] * B[j * M + r];
            rss += pow(f.a[i * M + r] - fitted, 2);
            assert_true(fabs(f.s.R[i * M + r] - (f.a[i * M + r] - fitted)) < 1e-11);
        }
    for (size_t i = 0; i < (K + P) * M; i++)
        assert_true(fabs(f.s.B[i] - B[i]) < 1e-11);
    assert_true(fabs(f.s.share * f.folds.base / rss - 1) < 1e-11);
    ur_arena_end(&f.arena);
}

static void a_constant_is_fitted_where_it_is_asked_for(void **state)
{
    (void)state;
    planted_folds f = plant_folds(N, P, M, K, K, 1, SEED);
    unrelu_error err = {0};
    for (size_t i = 0; i < N * M; i++)
        f.a[i] += 3;
    f.folds.constant = 1;
    must(ur_folds_open(&f.folds, 1e-12, &err), &err);
    must(ur_fold_state_open(&f.folds, K, &f.arena, &f.s, &err), &err);
    start_near(&f, K, 0);
    assert_true(f.s.share < 1e-24);
    for (size_t r = 0; r < M; r++)
        assert_true(fabs(f.s.B[(K + P) * M + r] - 3) < 1e-10);
    f.folds.constant = 0;
    start_near(&f, K, 0);
    assert_true(f.s.share > 1e-3);
    ur_arena_end(&f.arena);
}

/* the gradient of |R|^2 / 2 in T is -g, but for the lengths of rows, of which it does not know */
static void the_gradient_is_that_of_differences(void **state)
{
    (void)state;
    static const double step = 1e-6;
    planted_folds f = plant_folds(N, P, M, K, K, 1, SEED);
    ur_fold_model model;
    unrelu_error err = {0};
    start_near(&f, K, .3);
    double T[K * P], largest = 0;
    memcpy(T, f.s.T, sizeof T);
    must(ur_fold_model_open(&f.folds, K, &f.arena, &model, &err), &err);
    must(ur_fold_model_form(&f.folds, &f.s, &model, &err), &err);
    for (size_t i = 0; i < K * P; i++)
        largest = fmax(largest, fabs(model.g[i]));
    for (size_t i = 0; i < K * P; i++) {
        double side[2];
        for (int s = 0; s < 2; s++) {
            memcpy(f.s.T, T, sizeof T);
            f.s.T[i] += s ? step : -step;
            must(ur_fold_evaluate(&f.folds, &f.s, &err), &err);
            side[s] = f.s.share * f.folds.base;
        }
        assert_true(fabs((side[1] - side[0]) / (4 * step) + model.g[i]) < 1e-4 * largest);
    }
    ur_arena_end(&f.arena);
}

/* H from the whole Jacobian: of each label the columns b_jr W_j less their part in the features */
static void the_matrix_is_that_of_the_projected_jacobian(void **state)
{
    (void)state;
    enum { Q = K + P, KP = K * P };
    planted_folds f = plant_folds(N, P, M, K, K, 1, SEED);
    ur_fold_model model;
    unrelu_error err = {0};
    start_near(&f, K, .3);
    must(ur_fold_model_open(&f.folds, K, &f.arena, &model, &err), &err);
    must(ur_fold_model_form(&f.folds, &f.s, &model, &err), &err);
    double *F = ur_take_doubles(&f.arena, f.s.F, N * Q), *J = ur_take(&f.arena, N, KP * sizeof *J);
    double *QJ = ur_take(&f.arena, Q, KP * sizeof *J), *H = ur_take(&f.arena, KP, KP * sizeof *H);
    must(ur_orthonormalise(N, Q, F, &err), &err);
    for (size_t r = 0; r < M; r++) {
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < K; j++)
                for (size_t c = 0; c < P; c++)
                    J[i * KP + j * P + c] = f.s.B[j * M + r] * f.s.S[i * K + j] * f.z[i * P + c];
        ur_multiply_tn(N, Q, KP, F, J, QJ);
        for (size_t a = 0; a < KP; a++)
            for (size_t b = 0; b < KP; b++) {
                for (size_t i = 0; i < N; i++)
                    H[a * KP + b] += J[i * KP + a] * J[i * KP + b];
                for (size_t i = 0; i < Q; i++)
                    H[a * KP + b] -= QJ[i * KP + a] * QJ[i * KP + b];
            }
    }
    for (size_t a = 0; a < KP; a++)
        for (size_t b = 0; b <= a; b++)
            assert_true(fabs(model.H[a * KP + b] - H[a * KP + b]) < 1e-9 * N);
    for (size_t j = 0; j < K; j++) {
        double trace = 0;
        for (size_t c = 0; c < P; c++)
            trace += H[(j * P + c) * (KP + 1)] / P;
        assert_true(fabs(model.h[j] - trace) < 1e-9 * N);
    }
    ur_arena_end(&f.arena);
}

/* more products of inputs than are looked at at once, and more samples */
static void squares_are_the_sums_of_signed_products(void **state)
{
    (void)state;
    enum { ROWS = 300, WIDE = 60, FEW = 3, KP = FEW * WIDE };
    unrelu_error err = {0};
    UR_ARENA(arena);
    double *z = ur_take(&arena, ROWS, WIDE * sizeof *z),
           *S = ur_take(&arena, ROWS, FEW * sizeof *S);
    double *H = ur_take(&arena, KP, KP * sizeof *H);
    float *low = ur_take(&arena, KP, KP * sizeof *low);
    must(ur_arena_status(&arena, &err), &err);
    ur_random_normals(SEED, 99, 0, ROWS * WIDE, z);
    ur_random_normals(SEED, 98, 0, ROWS * FEW, S);
    for (size_t i = 0; i < ROWS * FEW; i++)
        S[i] = copysign(1, S[i]);
    const ur_folds folds = {.n = ROWS, .p = WIDE, .z = z};
    const ur_fold_state s = {.k = FEW, .S = S};
    must(ur_fold_squares(&folds, &s, H, NULL, &err), &err);
    must(ur_fold_squares(&folds, &s, NULL, low, &err), &err);
    for (size_t a = 0; a < KP; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = 0;
            for (size_t i = 0; i < ROWS; i++)
                sum += S[i * FEW + a / WIDE] * z[i * WIDE + a % WIDE] * S[i * FEW + b / WIDE] *
                       z[i * WIDE + b % WIDE];
            assert_true(fabs(H[a * KP + b] - sum) < 1e-10);
            assert_true(fabs((double)low[a * KP + b] - sum) < 1e-3);
        }
}

static void the_matrix_in_single_precision_is_that_in_doubles(void **state)
{
    (void)state;
    enum { KP = K * P };
    planted_folds f = plant_folds(N, P, M, K, K, 1, SEED);
    ur_fold_model model, low;
    unrelu_error err = {0};
    start_near(&f, K, .3);
    must(ur_fold_model_open(&f.folds, K, &f.arena, &model, &err), &err);
    must(ur_fold_model_form(&f.folds, &f.s, &model, &err), &err);
    must(ur_fold_model_open(&f.folds, K, &f.arena, &low, &err), &err);
    low.single = 1;
    must(ur_fold_model_form(&f.folds, &f.s, &low, &err), &err);
    assert_null(low.H);
    for (size_t a = 0; a < KP; a++)
        for (size_t b = 0; b <= a; b++)
            assert_true(fabs((double)low.low[a * KP + b] - model.H[a * KP + b]) < 1e-5 * N);
    for (size_t j = 0; j < K; j++)
        assert_true(fabs(low.h[j] - model.h[j]) < 1e-5 * N);
    for (size_t i = 0; i < KP; i++)
        assert_true(low.g[i] == model.g[i]);
    ur_arena_end(&f.arena);
}

static void a_system_in_single_precision_is_solved(void **state)
{
    (void)state;
    float M[] = {4, 0, 0, 2, 5, 0, 1, 3, 9}, indefinite[] = {1, 0, 2, 1}, room[3];
    const double g[] = {1e200, 2e200, -3e200};
    static const double A[] = {4, 2, 1, 2, 5, 3, 1, 3, 9};
    double x[3];
    assert_true(ur_fold_single_solve(3, M, g, room, x));
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs(A[3 * i] * x[0] + A[3 * i + 1] * x[1] + A[3 * i + 2] * x[2] - g[i]) <
                    1e-5 * 3e200);
    assert_false(ur_fold_single_solve(2, indefinite, g, room, x));
}

static void a_descent_from_nearby_ends_at_the_planted_rows(void **state)
{
    (void)state;
    planted_folds f = plant_folds(N, P, M, K, K, 1, SEED);
    const ur_fold_descent how = {.steps = 40, .damping = 1e-2};
    unrelu_error err = {0};
    start_near(&f, K, .05);
    assert_true(f.s.share > 1e-3);
    must(ur_fold_descend(&f.folds, how, &f.s, &err), &err);
    assert_true(f.s.share <= f.folds.least);
    for (size_t j = 0; j < K; j++)
        assert_true(distance_to(&f, j) < 1e-11);
    ur_arena_end(&f.arena);
}

static void a_birth_is_near_the_row_that_is_missing(void **state)
{
    (void)state;
    planted_folds f = plant_folds(N, P, M, K, K, 1, SEED);
    unrelu_error err = {0};
    start_near(&f, K - 1, 0);
    assert_true(distance_to(&f, K - 1) > .5);
    must(ur_fold_births(&f.folds, 1, SEED, 0, &f.s, &err), &err);
    assert_int_equal(f.s.k, K);
    for (size_t j = 0; j + 1 < K; j++)
        assert_true(distance_to(&f, j) < 1e-15);
    must(ur_fold_evaluate(&f.folds, &f.s, &err), &err);
    assert_true(distance_to(&f, K - 1) < .3); /* of a random direction 1, mostly */
    ur_arena_end(&f.arena);
}

/* what the first birth takes is not born again, though the random numbers were its own */
static void births_differ(void **state)
{
    (void)state;
    planted_folds f = plant_folds(N, P, M, K, K, 1, SEED);
    unrelu_error err = {0};
    start_near(&f, K - 2, 0);
    must(ur_fold_births(&f.folds, 1, SEED, 0, &f.s, &err), &err);
    must(ur_fold_evaluate(&f.folds, &f.s, &err), &err);
    double one = f.s.share;
    start_near(&f, K - 2, 0);
    must(ur_fold_births(&f.folds, 2, SEED, 0, &f.s, &err), &err);
    const double *t = f.s.T + (K - 2) * P;
    assert_true(fabs(ur_short_dot(P, t, t + P)) < .9 * ur_short_dot(P, t, t));
    must(ur_fold_evaluate(&f.folds, &f.s, &err), &err);
    assert_true(f.s.share < .7 * one);
    ur_arena_end(&f.arena);
}

static void the_cost_of_a_row_is_what_its_removal_costs(void **state)
{
    (void)state;
    planted_folds f = plant_folds(N, P, M, K, K, 1, SEED);
    unrelu_error err = {0};
    double costs[K];
    start_near(&f, K, .3);
    double before = f.s.share;
    must(ur_fold_costs(&f.folds, &f.s, costs, &err), &err);
    f.s.k = K - 1; /* without the last */
    must(ur_fold_evaluate(&f.folds, &f.s, &err), &err);
    assert_true(fabs((f.s.share - before) / costs[K - 1] - 1) < 1e-9);
    ur_arena_end(&f.arena);
}

/* a row without output, a neuron split in two of one pattern, one row that another replaces */
static void surplus_rows_are_pruned(void **state)
{
    (void)state;
    planted_folds f = plant_folds(N, P, M, K, K + 2, 1, SEED);
    unrelu_error err = {0};
    double *T = f.s.T;
    memcpy(T, f.T, K * P * sizeof *T);
    ur_random_normals(SEED, 5, 0, P, T + K * P);
    for (size_t i = 0; i < P; i++) { /* about row 0, on either side: |z t| adds up to its */
        double off = 1e-3 * (i % 2 ? 1 : -1);
        T[(K + 1) * P + i] = -(T[i] - off);
        T[i] += off;
    }
    f.s.k = K + 2;
    must(ur_fold_evaluate(&f.folds, &f.s, &err), &err);
    const ur_fold_descent how = {.steps = 40, .damping = 1e-6};
    must(ur_fold_descend(&f.folds, how, &f.s, &err), &err);
    assert_true(f.s.share <= f.folds.met);
    must(ur_fold_prune(&f.folds, &f.s, &err), &err);
    assert_int_equal(f.s.k, K);
    for (size_t j = 0; j < K; j++)
        assert_true(distance_to(&f, j) < 1e-11);
    ur_arena_end(&f.arena);
}

static void rows_that_are_needed_stay(void **state)
{
    (void)state;
    planted_folds f = plant_folds(N, P, M, K, K, 1, SEED);
    unrelu_error err = {0};
    start_near(&f, K, 0);
    must(ur_fold_prune(&f.folds, &f.s, &err), &err);
    assert_int_equal(f.s.k, K);
    assert_true(f.s.share <= f.folds.met);
    ur_arena_end(&f.arena);
}

/* ---- tolerances ---- */

/* Rounding of one floor is met, so that a row which the labels do without goes; a neuron of sixty
 * floors is needed. */
static void labels_are_met_to_their_floor(void **state)
{
    (void)state;
    static const double floor = 1e-6;
    planted_folds f = plant_folds(N, P, M, K, K + 1, 1, SEED);
    unrelu_error err = {0};
    double noise[N * M], size = sqrt(f.folds.size / (N * M));
    ur_random_normals(SEED, 6, 0, N * M, noise);
    for (size_t i = 0; i < N * M; i++)
        f.a[i] += floor * size * noise[i];
    must(ur_folds_open(&f.folds, floor, &err), &err);
    start_near(&f, K, 0);
    ur_random_normals(SEED, 5, 0, P, f.s.T + K * P);
    f.s.k = K + 1;
    must(ur_fold_evaluate(&f.folds, &f.s, &err), &err);
    must(ur_fold_prune(&f.folds, &f.s, &err), &err);
    assert_int_equal(f.s.k, K);
    double all = ur_norm(M, f.B + (K - 1) * M);
    for (size_t r = 0; r < M; r++)
        f.B[(K - 1) * M + r] *= 60 * floor * size / all;
    set_labels(&f, K, 1, floor);
    start_near(&f, K, 0);
    must(ur_fold_prune(&f.folds, &f.s, &err), &err);
    assert_int_equal(f.s.k, K);
    ur_arena_end(&f.arena);
}

/* Two rows whose signs differ on one sample of a hundred are one to within what may be left, though
 * each of them costs more than two weak neurons, the only ones whose removal is tried. */
static void rows_of_nearly_one_pattern_become_one(void **state)
{
    (void)state;
    enum { ALL = 6, ROWS = 2000 };
    static const double angle = .016, weak = 3e-3;
    planted_folds f = plant_folds(ROWS, P, M, ALL, ALL, 1, SEED);
    unrelu_error err = {0};
    double costs[ALL], along = ur_short_dot(P, f.T, f.T + P), size = 0;
    for (size_t i = 0; i < P; i++) { /* at this angle from row 0, away from row 1 */
        f.T[P + i] -= along * f.T[i];
        size += f.T[P + i] * f.T[P + i];
    }
    for (size_t i = 0; i < P; i++)
        f.T[P + i] = cos(angle) * f.T[i] + sin(angle) * f.T[P + i] / sqrt(size);
    for (size_t r = 0; r < M; r++) {
        f.B[M + r] = f.B[r];
        f.B[2 * M + r] *= weak;
        f.B[3 * M + r] *= weak;
    }
    set_labels(&f, ALL, 1, 1e-12);
    start_near(&f, ALL, 0);
    must(ur_fold_costs(&f.folds, &f.s, costs, &err), &err);
    double agree = 0, least = fmin(costs[2], costs[3]), most = fmax(costs[2], costs[3]);
    for (size_t i = 0; i < ROWS; i++)
        agree += f.s.S[i * ALL] * f.s.S[i * ALL + 1] / ROWS;
    assert_true(agree > .985 && agree < .995);
    assert_true(most < fmin(costs[0], costs[1]));
    f.folds.met = least / 2;
    must(ur_fold_prune(&f.folds, &f.s, &err), &err);
    assert_int_equal(f.s.k, ALL - 1);
    ur_arena_end(&f.arena);
}

/* what five labels leave: normal numbers of these sizes, and `even` times what is even in z */
static int has_shelf(const double *sizes, double even)
{
    enum { LABELS = 5, ROWS = 1000 };
    planted_folds f = plant_folds(ROWS, P, LABELS, 1, 1, 1, SEED);
    unrelu_error err = {0};
    int shelf;
    start_near(&f, 0, 0);
    ur_random_normals(SEED, 8, 0, ROWS * LABELS, f.s.R);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t r = 0; r < LABELS; r++) {
            double z = f.z[i * P + r];
            f.s.R[i * LABELS + r] = sizes[r] * (f.s.R[i * LABELS + r] + even * (z * z - 1));
        }
    must(ur_fold_shelf(&f.folds, &f.s, 1e-10, &shelf, &err), &err);
    ur_arena_end(&f.arena);
    return shelf;
}

static void a_shelf_is_alike_and_does_not_go_along(void **state)
{
    (void)state;
    static const double alike[] = {1, 1, 1, 1, 7}, unlike[] = {1, 1, 1, 2, 7};
    assert_true(has_shelf(alike, 0));
    assert_false(has_shelf(unlike, 0));
    assert_false(has_shelf(alike, .5));
}

/* A neuron that is on for 1 row of 28 and makes some 1e-9 of the labels, beside outputs that the
 * other rows leave off by less: it is in the rows of which too much is left. */
static void a_weak_neuron_of_a_rare_side_is_found(void **state)
{
    (void)state;
    enum { ROWS = 700, D = 5, Q = D + 1, STRONG = 3, ALL = STRONG + 1 };
    static const double weak = 3e-9, off = 1e-10, bias[ALL] = {.3, -.5, .1, -1.8};
    static double x[ROWS * D], a[ROWS];
    double rows[ALL * Q];
    ur_problem given = {.options = {.activation = {UNRELU_RELU, 0}, .seed = SEED}};
    unrelu_error err = {0};
    ur_student student = {.tried = STRONG};
    UR_ARENA(arena);
    ur_random_normals(SEED, 11, 0, ROWS * D, x);
    ur_random_normals(SEED, 12, 0, ALL * Q, rows);
    for (size_t j = 0; j < ALL; j++) {
        double size = ur_norm(D, rows + j * Q);
        for (size_t i = 0; i < D; i++)
            rows[j * Q + i] /= size;
        rows[j * Q + D] = bias[j];
        for (size_t i = 0; i < ROWS; i++)
            a[i] += (j < STRONG ? 1 : weak) *
                    fmax(0, ur_short_dot(D, rows + j * Q, x + i * D) + bias[j]);
    }
    must(ur_data_hold(ROWS, D, 1, x, a, NULL, &arena, &given.data, &err), &err);
    must(ur_frame_make(&given.data, ROWS, (ur_terms){1, 0}, 1, &arena, &student.frame, &err), &err);
    student.folds = ur_folds_of(&student.frame, NULL);
    must(ur_folds_open(&student.folds, given.data.floor, &err), &err);
    must(ur_fold_state_open(&student.folds, STRONG, &arena, &student.s, &err), &err);
    ur_frame_forth(&student.frame, STRONG, rows, student.s.T);
    must(ur_fold_evaluate(&student.folds, &student.s, &err), &err);
    for (size_t i = 0; i < student.s.q; i++)
        student.s.B[i] *= i % 2 ? 1 + off : 1 - off;
    must(ur_fold_widen(&given, ROWS, STRONG + 2, &arena, &student, &err), &err);
    assert_true(student.met);
    assert_int_equal(student.s.k, ALL);
    double found[(STRONG + 2) * Q], least = INFINITY;
    ur_frame_back(&student.frame, student.s.k, student.s.T, found);
    for (size_t j = 0; j < ALL; j++) {
        double size = ur_norm(D, found + j * Q), far = 0;
        for (size_t i = 0; i < Q; i++)
            far = fmax(far, fabs(fabs(found[j * Q + i] / size) - fabs(rows[STRONG * Q + i])));
        least = fmin(least, far);
    }
    assert_true(least < 1e-5);
}

/* ---- signs ---- */

static ur_signs_end ask_signs(size_t n, size_t p, size_t m, size_t k, double planted, double asked,
                              int *right, double *slope)
{
    planted_folds f = plant_folds(n, p, m, k, k, planted, SEED);
    unrelu_error err = {0};
    ur_signs_end end;
    int signs[64];
    start_near(&f, k, 0);
    must(ur_fold_signs(&f.folds, &f.s, NULL, asked, 1e-12, signs, &end, slope, &err), &err);
    *right = 1;
    for (size_t j = 0; j < k; j++)
        *right &= signs[j] == f.signs[j];
    ur_arena_end(&f.arena);
    return end;
}

static void signs_are_found_by_least_squares(void **state)
{
    (void)state;
    int right;
    double slope;
    assert_int_equal(ask_signs(N, P, 1, P - 1, 1, 1, &right, &slope), UR_SIGNS_FOUND);
    assert_true(right);
    assert_int_equal(ask_signs(N, P, M, 2 * P - 1, 1, 1, &right, &slope), UR_SIGNS_FOUND);
    assert_true(right);
    assert_true(isnan(slope));
}

static void signs_of_more_neurons_than_equations_are_found(void **state)
{
    (void)state;
    int right;
    double slope;
    static const size_t k[] = {P + 1, 2 * P, 3 * P};
    for (size_t i = 0; i < sizeof k / sizeof *k; i++) {
        assert_int_equal(ask_signs(N, P, 1, k[i], 1, 1, &right, &slope), UR_SIGNS_FOUND);
        assert_true(right);
    }
    assert_int_equal(ask_signs(N, 3, M, 10, 1, 1, &right, &slope), UR_SIGNS_FOUND);
    assert_true(right);
}

static void the_constant_is_no_part_of_the_signs(void **state)
{
    (void)state;
    enum { MOST = 14 };
    static const size_t ks[] = {P - 1, MOST};
    for (size_t i = 0; i < 2; i++) {
        size_t k = ks[i];
        planted_folds f = plant_folds(N, P, 1, k, k, 1, SEED);
        unrelu_error err = {0};
        double eta[P] = {.5, -1, 2, .1, 0, 1}, slope;
        ur_signs_end end;
        int signs[MOST];
        for (size_t r = 0; r < N; r++) /* e = 5, as z eta is the column of ones */
            f.a[r] += 5 * ur_short_dot(P, f.z + r * P, eta);
        start_near(&f, k, 0);
        must(ur_fold_signs(&f.folds, &f.s, eta, 1, 1e-12, signs, &end, &slope, &err), &err);
        assert_int_equal(end, UR_SIGNS_FOUND);
        for (size_t j = 0; j < k; j++)
            assert_int_equal(signs[j], f.signs[j]);
        ur_arena_end(&f.arena);
    }
}

static void a_slope_is_told_where_all_signs_are_of_another_size(void **state)
{
    (void)state;
    int right;
    double slope, of_tenth = 1.1 / .9;
    assert_int_equal(ask_signs(N, P, M, K, of_tenth, 1, &right, &slope), UR_SIGNS_NONE);
    assert_true(fabs(slope - .1) < 1e-10);
    assert_int_equal(ask_signs(N, P, M, K, of_tenth, of_tenth, &right, &slope), UR_SIGNS_FOUND);
    assert_true(right);
    assert_int_equal(ask_signs(N, P, 1, 2 * P, of_tenth, of_tenth, &right, &slope), UR_SIGNS_FOUND);
    assert_true(right);
}

/* 2^59 choices */
static void too_many_signs_are_open(void **state)
{
    (void)state;
    int right;
    double slope;
    assert_int_equal(ask_signs(600, 3, 1, 60, 1, 1, &right, &slope), UR_SIGNS_OPEN);
}

/* two rows along either axis, and M = 0: each may be the one that is turned round */
static void signs_with_two_answers_are_open(void **state)
{
    (void)state;
    enum { D = 2, WIDE = 4 };
    planted_folds f = plant_folds(60, D, 1, WIDE, WIDE, 1, SEED);
    unrelu_error err = {0};
    double slope;
    ur_signs_end end;
    int signs[WIDE];
    start_near(&f, WIDE, 0);
    memset(f.s.B, 0, f.s.q * sizeof *f.s.B);
    for (size_t j = 0; j < WIDE; j++) /* rows along both axes, with M = 0 */
        for (size_t i = 0; i < D; i++)
            f.s.T[j * D + i] = j % D == i;
    for (size_t j = 0; j < WIDE; j++)
        f.s.B[j] = 1;
    must(ur_fold_signs(&f.folds, &f.s, NULL, 1, 1e-12, signs, &end, &slope, &err), &err);
    assert_int_equal(end, UR_SIGNS_OPEN);
    ur_arena_end(&f.arena);
}

static void a_linear_part_has_no_signs(void **state)
{
    (void)state;
    planted_folds f = plant_folds(N, P, M, K, K, 1, SEED);
    unrelu_error err = {0};
    double slope;
    ur_signs_end end;
    int signs[K];
    for (size_t i = 0; i < N; i++)
        for (size_t r = 0; r < M; r++)
            f.a[i * M + r] += f.z[i * P + r] - .3 * f.z[i * P + 2];
    start_near(&f, K, 0);
    assert_true(f.s.share < 1e-24);
    must(ur_fold_signs(&f.folds, &f.s, NULL, 1, 1e-12, signs, &end, &slope, &err), &err);
    assert_int_equal(end, UR_SIGNS_NONE);
    assert_true(isnan(slope));
    ur_arena_end(&f.arena);
}

/* M with sign j off by this */
static void shift_sign(planted_folds *f, size_t j, double by)
{
    size_t m = f->folds.m, p = f->folds.p;
    for (size_t i = 0; i < p; i++)
        for (size_t r = 0; r < m; r++)
            f->s.B[(f->s.k + i) * m + r] += by * f->s.T[j * p + i] * f->s.B[j * m + r];
}

static ur_signs_end end_where_shifted(double planted, double by, double *slope)
{
    planted_folds f = plant_folds(N, P, M, K, K, planted, SEED);
    unrelu_error err = {0};
    ur_signs_end end;
    int signs[K];
    start_near(&f, K, 0);
    shift_sign(&f, 0, by);
    must(ur_fold_signs(&f.folds, &f.s, NULL, 1, 1e-12, signs, &end, slope, &err), &err);
    ur_arena_end(&f.arena);
    return end;
}

/* labels in single precision leave 1e-4 of a sign; a slope asks for more, as anything may be one */
static void signs_are_signs_to_a_hundredth(void **state)
{
    (void)state;
    double slope, of_tenth = 1.1 / .9;
    assert_int_equal(end_where_shifted(1, 2e-3, &slope), UR_SIGNS_FOUND);
    assert_int_equal(end_where_shifted(1, .1, &slope), UR_SIGNS_NONE);
    assert_int_equal(end_where_shifted(of_tenth, 2e-5, &slope), UR_SIGNS_NONE);
    assert_true(fabs(slope - .1) < 1e-4);
    assert_int_equal(end_where_shifted(of_tenth, 2e-3, &slope), UR_SIGNS_NONE);
    assert_true(isnan(slope));
}

/* Six neurons in two dimensions, M off by `aside` where one equation is left and by `along` in the
 * sign of the one that follows from it */
static ur_signs_end end_of_puzzle(double aside, double along, double error)
{
    enum { DIM = 2, MANY = 6 };
    planted_folds f = plant_folds(N, DIM, 1, MANY, MANY, 1, SEED);
    unrelu_error err = {0};
    ur_signs_end end;
    int signs[MANY];
    size_t longest = 0;
    start_near(&f, MANY, 0);
    double *linear = f.s.B + MANY, sizes = 0, goal = 0;
    for (size_t j = 1; j < MANY; j++)
        longest = fabs(f.s.B[j]) > fabs(f.s.B[longest]) ? j : longest;
    const double *t = f.s.T + longest * DIM, w[DIM] = {-t[1], t[0]};
    for (size_t j = 0; j < MANY; j++)
        sizes += fabs(f.s.B[j] * ur_short_dot(DIM, w, f.s.T + j * DIM));
    goal = ur_short_dot(DIM, w, linear);
    for (size_t i = 0; i < DIM; i++)
        linear[i] += aside * (sizes + fabs(goal)) * w[i];
    shift_sign(&f, longest, along);
    must(ur_fold_subset(&f.folds, &f.s, NULL, 1, error, signs, &end, &err), &err);
    ur_arena_end(&f.arena);
    return end;
}

static void sums_of_signs_match_to_the_error_of_labels(void **state)
{
    (void)state;
    static const double error = 1e-9;
    assert_int_equal(end_of_puzzle(100 * error, 0, error), UR_SIGNS_FOUND);
    assert_int_equal(end_of_puzzle(1e4 * error, 0, error), UR_SIGNS_NONE);
    assert_int_equal(end_of_puzzle(0, 2e-3, error), UR_SIGNS_FOUND);
    assert_int_equal(end_of_puzzle(0, .1, error), UR_SIGNS_NONE);
}

/* five neurons in three dimensions, the two longest of which are so far from parallel */
static ur_signs_end end_of_near_copies(double angle)
{
    enum { DIM = 3, MANY = 5 };
    planted_folds f = plant_folds(N, DIM, 1, MANY, MANY, 1, SEED);
    unrelu_error err = {0};
    ur_signs_end end;
    int signs[MANY];
    start_near(&f, MANY, 0);
    double *t = f.s.T, *linear = f.s.B + MANY;
    memset(t, 0, 2 * DIM * sizeof *t);
    t[0] = t[DIM] = 1;
    t[DIM + 1] = angle;
    f.s.B[0] = f.s.B[1] = 10;
    memset(linear, 0, DIM * sizeof *linear);
    for (size_t j = 0; j < MANY; j++)
        for (size_t i = 0; i < DIM; i++)
            linear[i] += f.signs[j] * f.s.B[j] * t[j * DIM + i];
    must(ur_fold_subset(&f.folds, &f.s, NULL, 1, 1e-16, signs, &end, &err), &err);
    ur_arena_end(&f.arena);
    return end;
}

/* of which rounding decides whose sign is whose */
static void signs_of_copies_are_open(void **state)
{
    (void)state;
    assert_int_equal(end_of_near_copies(2e-8), UR_SIGNS_FOUND);
    assert_int_equal(end_of_near_copies(1e-10), UR_SIGNS_OPEN);
}

static void signed_sums_are_all_of_them(void **state)
{
    (void)state;
    static const double w[] = {1, 10, 100};
    double sums[8];
    ur_signed_sums(3, w, sums);
    for (size_t j = 0; j < 8; j++) {
        double sum = 0;
        for (size_t i = 0; i < 3; i++)
            sum += (j >> i & 1 ? 1 : -1) * w[i];
        assert_true(sums[j] == sum);
    }
    ur_signed_sums(0, w, sums);
    assert_true(sums[0] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_are_those_of_least_squares),
        cmocka_unit_test(a_constant_is_fitted_where_it_is_asked_for),
        cmocka_unit_test(the_gradient_is_that_of_differences),
        cmocka_unit_test(the_matrix_is_that_of_the_projected_jacobian),
        cmocka_unit_test(squares_are_the_sums_of_signed_products),
        cmocka_unit_test(the_matrix_in_single_precision_is_that_in_doubles),
        cmocka_unit_test(a_system_in_single_precision_is_solved),
        cmocka_unit_test(a_descent_from_nearby_ends_at_the_planted_rows),
        cmocka_unit_test(a_birth_is_near_the_row_that_is_missing),
        cmocka_unit_test(births_differ),
        cmocka_unit_test(the_cost_of_a_row_is_what_its_removal_costs),
        cmocka_unit_test(surplus_rows_are_pruned),
        cmocka_unit_test(rows_that_are_needed_stay),
        cmocka_unit_test(labels_are_met_to_their_floor),
        cmocka_unit_test(rows_of_nearly_one_pattern_become_one),
        cmocka_unit_test(a_shelf_is_alike_and_does_not_go_along),
        cmocka_unit_test(a_weak_neuron_of_a_rare_side_is_found),
        cmocka_unit_test(signs_are_found_by_least_squares),
        cmocka_unit_test(signs_of_more_neurons_than_equations_are_found),
        cmocka_unit_test(the_constant_is_no_part_of_the_signs),
        cmocka_unit_test(a_slope_is_told_where_all_signs_are_of_another_size),
        cmocka_unit_test(too_many_signs_are_open),
        cmocka_unit_test(signs_with_two_answers_are_open),
        cmocka_unit_test(a_linear_part_has_no_signs),
        cmocka_unit_test(signs_are_signs_to_a_hundredth),
        cmocka_unit_test(sums_of_signs_match_to_the_error_of_labels),
        cmocka_unit_test(signs_of_copies_are_open),
        cmocka_unit_test(signed_sums_are_all_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
