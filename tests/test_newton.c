/* SPDX-License-Identifier: Apache-2.0 */
/* Planted networks, a naive projected sum of squares, and the naive information matrix. */
#include "base/random.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"
#include "network/newton/newton.h"
#include "planted.h"

#define RELU   ((unrelu_activation){.kind = UNRELU_RELU})
#define TANH   ((unrelu_activation){.kind = UNRELU_TANH_POS})
#define EXPM1  ((unrelu_activation){.kind = UNRELU_EXPM1})
#define LEAKY  ((unrelu_activation){.kind = UNRELU_LEAKY, .parameter = .1})
#define SQUARE ((unrelu_activation){.kind = UNRELU_POWER, .parameter = 2})

static double *numbers(size_t count)
{
    double *x = calloc(count + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static double *normals(uint64_t stream, size_t count)
{
    double *x = numbers(count);
    ur_random_normals(20240607, stream, 0, count, x);
    return x;
}

static double norm(size_t count, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static double farthest(size_t count, const double *x, const double *y)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

typedef struct {
    ur_newton problem;
    size_t k;
    double *x, *a, *V, *U, *start; /* start: V turned by `away` radians */
    unrelu_exec exec;
} planted_problem;

typedef struct {
    size_t d, k, m, n;
    unrelu_activation f;
    double noise, away, e;
} plan;

static void predict(const ur_newton *problem, size_t k, const double *V, const double *U,
                    const double *e, double *a)
{
    for (size_t i = 0; i < problem->n; i++)
        for (size_t r = 0; r < problem->m; r++) {
            double sum = e ? e[r] : 0;
            for (size_t j = 0; j < k; j++) {
                double t = 0, f;
                for (size_t l = 0; l < problem->p; l++)
                    t += V[j * problem->p + l] * problem->x[i * problem->p + l];
                ur_activation_apply(problem->f, 1, &t, &f, NULL);
                sum += U[r * k + j] * f;
            }
            a[i * problem->m + r] = sum;
        }
}

static planted_problem begin(plan o)
{
    planted_problem w = {.k = o.k, .exec = {.threads = 1}};
    w.x = normals(1, o.n * o.d);
    w.V = normals(2, o.k * o.d);
    w.U = normals(3, o.m * o.k);
    w.start = normals(4, o.k * o.d);
    w.a = numbers(o.n * o.m);
    w.problem = (ur_newton){.n = o.n, .p = o.d, .m = o.m, .x = w.x, .a = w.a, .f = o.f};
    w.problem.constant = o.e != 0;
    for (size_t j = 0; j < o.k; j++) {
        double *v = w.V + j * o.d, *s = w.start + j * o.d, size = norm(o.d, v), along = 0;
        for (size_t i = 0; i < o.d; i++)
            v[i] /= size;
        for (size_t i = 0; i < o.d; i++)
            along += v[i] * s[i];
        for (size_t i = 0; i < o.d; i++)
            s[i] -= along * v[i];
        size = norm(o.d, s);
        for (size_t i = 0; i < o.d; i++)
            s[i] = cos(o.away) * v[i] + sin(o.away) * s[i] / size;
    }
    predict(&w.problem, o.k, w.V, w.U, NULL, w.a);
    double scale = norm(o.n * o.m, w.a) / sqrt((double)(o.n * o.m));
    double *noise = normals(5, o.n * o.m);
    for (size_t i = 0; i < o.n * o.m; i++)
        w.a[i] = w.a[i] / scale + o.noise * noise[i] + o.e * (double)(1 + i % o.m);
    for (size_t i = 0; i < o.m * o.k; i++)
        w.U[i] /= scale;
    free(noise);
    return w;
}

static void end(planted_problem *w)
{
    free(w->x);
    free(w->a);
    free(w->V);
    free(w->U);
    free(w->start);
}

/* of what a test takes; ends with the program */
static ur_arena arena;

static int end_arena(void **state)
{
    (void)state;
    ur_arena_end(&arena);
    return 0;
}

static ur_newton_fit new_fit(const ur_newton *problem, size_t k, const double *V)
{
    ur_newton_fit fit;
    unrelu_error err = {0};
    must(ur_newton_alloc(problem, k, &arena, &fit, &err), &err);
    memcpy(fit.V, V, k * problem->p * sizeof *V);
    return fit;
}

static ur_newton_fit solve(const ur_newton *problem, size_t k, const double *V, double tolerance)
{
    unrelu_error err = {0};
    ur_newton_fit fit = new_fit(problem, k, V);
    must(ur_newton_solve(problem, 200, tolerance, 0, &fit, &err), &err);
    return fit;
}

static double misfit(const ur_newton *problem, const ur_newton_fit *fit)
{
    double *y = numbers(problem->n * problem->m), sum = 0;
    predict(problem, fit->k, fit->V, fit->U, fit->e, y);
    for (size_t i = 0; i < problem->n * problem->m; i++)
        sum += (y[i] - problem->a[i]) * (y[i] - problem->a[i]);
    free(y);
    return sum;
}

/* min over U and e of |A - F U'|^2, by least squares on naive features */
static double projected(const ur_newton *problem, size_t k, const double *V)
{
    size_t n = problem->n, p = problem->p, m = problem->m, q = k + (problem->constant != 0);
    double *F = numbers(n * q), *B = numbers(q * m), rss = 0;
    unrelu_error err = {0};
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < k; j++) {
            double t = 0;
            for (size_t l = 0; l < p; l++)
                t += V[j * p + l] * problem->x[i * p + l];
            ur_activation_apply(problem->f, 1, &t, &F[i * q + j], NULL);
        }
        if (q > k)
            F[i * q + k] = 1;
    }
    must(ur_least_squares(n, q, m, F, problem->a, 1e-14, B, NULL, &err), &err);
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < m; r++) {
            double left = problem->a[i * m + r];
            for (size_t j = 0; j < q; j++)
                left -= F[i * q + j] * B[j * m + r];
            rss += left * left;
        }
    free(F);
    free(B);
    return rss;
}

static double gradient_size(const ur_newton *problem, size_t k, const double *V, size_t every)
{
    size_t kp = k * problem->p;
    double *W = numbers(kp), sum = 0, h = 1e-5;
    memcpy(W, V, kp * sizeof *W);
    for (size_t i = 0; i < kp; i += every) {
        W[i] = V[i] + h;
        double up = projected(problem, k, W);
        W[i] = V[i] - h;
        double down = projected(problem, k, W);
        W[i] = V[i];
        sum += (up - down) / (2 * h) * ((up - down) / (2 * h));
    }
    free(W);
    return sqrt(sum);
}

/* ---- */

static void noiseless_labels_are_fitted_to_rounding(void **state)
{
    (void)state;
    unrelu_activation f[] = {RELU, SQUARE, LEAKY, EXPM1, TANH};
    for (size_t i = 0; i < sizeof f / sizeof *f; i++) {
        planted_problem w = begin((plan){10, 5, 8, 200, f[i], .away = .3});
        ur_newton_fit fit = solve(&w.problem, w.k, w.start, 1e-10);
        assert_true(sqrt(misfit(&w.problem, &fit)) <= 1e-14 * norm(200 * 8, w.a));
        assert_true(sqrt(fit.rss) <= 1e-14 * norm(200 * 8, w.a));
        assert_true(fit.converged);
        assert_true(fit.steps <= 15);
        assert_true(farthest(50, fit.V, w.V) <= 1e-13);
        assert_true(farthest(40, fit.U, w.U) <= 1e-13);
        assert_true(norm(8, fit.e) == 0);
        end(&w);
    }
}

static void so_are_they_by_conjugate_gradients(void **state)
{
    (void)state;
    unrelu_activation f[] = {RELU, EXPM1};
    for (size_t i = 0; i < sizeof f / sizeof *f; i++) {
        planted_problem w = begin((plan){26, 10, 12, 500, f[i], .away = .3});
        ur_newton_fit fit = solve(&w.problem, w.k, w.start, 1e-10);
        assert_true(sqrt(misfit(&w.problem, &fit)) <= 1e-14 * norm(500 * 12, w.a));
        assert_true(fit.steps <= 15);
        assert_true(farthest(260, fit.V, w.V) <= 1e-13);
        end(&w);
    }
}

static void nearly_equal_neurons_cost_no_digits(void **state)
{
    (void)state;
    planted_problem w = begin((plan){10, 5, 8, 600, RELU, .away = 1e-4});
    for (size_t i = 0; i < 10; i++)
        w.V[10 + i] = w.V[i] + .001 * w.V[20 + i];
    double size = norm(10, w.V + 10);
    for (size_t i = 0; i < 10; i++) {
        w.V[10 + i] /= size;
        w.start[10 + i] = w.V[10 + i] + 1e-4 * w.V[30 + i];
    }
    predict(&w.problem, 5, w.V, w.U, NULL, w.a);
    ur_newton_fit fit = solve(&w.problem, 5, w.start, 1e-10);
    assert_true(sqrt(misfit(&w.problem, &fit)) <= 1e-14 * norm(600 * 8, w.a));
    end(&w);
}

static void gradient_vanishes_at_the_optimum_of_noisy_labels(void **state)
{
    (void)state;
    plan o[] = {{6, 3, 4, 300, SQUARE, .3, .3, 0},
                {6, 3, 4, 300, SQUARE, .3, .3, .5},
                {26, 10, 12, 600, SQUARE, .3, .3, 0}};
    for (size_t i = 0; i < 3; i++) {
        planted_problem w = begin(o[i]);
        ur_newton_fit fit = solve(&w.problem, w.k, w.start, 1e-14);
        size_t every = i < 2 ? 1 : 13;
        double first = gradient_size(&w.problem, w.k, w.start, every);
        double last = gradient_size(&w.problem, w.k, fit.V, every);
        assert_true(fit.converged);
        assert_near(fit.rss / projected(&w.problem, w.k, fit.V), 1, 1e-12);
        assert_near(last / first, 0, 1e-6);
        end(&w);
    }
}

/* with kinks rss is rough: nothing nearby is lower by more than the roughness */
static void no_neighbour_of_the_noisy_relu_optimum_is_lower(void **state)
{
    (void)state;
    planted_problem w = begin((plan){6, 3, 4, 1000, RELU, .2, .3, 0});
    ur_newton_fit fit = solve(&w.problem, w.k, w.start, 1e-8);
    double *turn = normals(9, 40 * 18), V[18];
    for (size_t t = 0; t < 40; t++) {
        for (size_t i = 0; i < 18; i++)
            V[i] = fit.V[i] + pow(10, -1 - (double)(t % 4)) * turn[t * 18 + i];
        assert_true(projected(&w.problem, 3, V) > (1 - 1e-6) * fit.rss);
    }
    assert_true(fit.rss < projected(&w.problem, 3, w.V));
    free(turn);
    end(&w);
}

static void columns_of_zeros_change_nothing_but_the_solver(void **state)
{
    (void)state;
    planted_problem w = begin((plan){10, 10, 12, 600, SQUARE, .2, .2, .3});
    ur_newton wide = w.problem;
    double *x = numbers(600 * 26), *V = numbers(10 * 26);
    for (size_t i = 0; i < 600; i++)
        memcpy(x + 26 * i, w.x + 10 * i, 10 * sizeof *x);
    for (size_t j = 0; j < 10; j++)
        memcpy(V + 26 * j, w.start + 10 * j, 10 * sizeof *V);
    wide.x = x;
    wide.p = 26;
    ur_newton_fit dense = solve(&w.problem, 10, w.start, 1e-14);
    ur_newton_fit cg = solve(&wide, 10, V, 1e-14);
    assert_near(cg.rss / dense.rss, 1, 1e-12);
    for (size_t j = 0; j < 10; j++) {
        assert_true(farthest(10, cg.V + 26 * j, dense.V + 10 * j) < 1e-6);
        assert_true(norm(16, cg.V + 26 * j + 10) == 0);
    }
    assert_true(farthest(120, cg.U, dense.U) < 1e-6);
    assert_true(farthest(12, cg.e, dense.e) < 1e-6);
    free(x);
    free(V);
    end(&w);
}

static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    size_t d[] = {10, 26};
    int threads[] = {1, 2, 7};
    for (size_t s = 0; s < 2; s++) {
        planted_problem w = begin((plan){d[s], 10, 12, 5000, RELU, .1, .3, .5});
        ur_newton_fit fit[3];
        unrelu_error err = {0};
        w.problem.exec = &w.exec;
        for (size_t t = 0; t < 3; t++) {
            w.exec.threads = threads[t];
            fit[t] = new_fit(&w.problem, 10, w.start);
            must(ur_newton_solve(&w.problem, 5, 1e-8, 0, &fit[t], &err), &err);
            assert_memory_equal(fit[t].V, fit[0].V, 10 * d[s] * sizeof(double));
            assert_memory_equal(fit[t].U, fit[0].U, 120 * sizeof(double));
            assert_memory_equal(fit[t].e, fit[0].e, 12 * sizeof(double));
            assert_memory_equal(&fit[t].rss, &fit[0].rss, sizeof(double));
        }
        end(&w);
    }
}

static void constant_is_found(void **state)
{
    (void)state;
    planted_problem w = begin((plan){10, 5, 8, 200, RELU, .away = .3, .e = .25});
    ur_newton_fit fit = solve(&w.problem, w.k, w.start, 1e-10);
    for (size_t r = 0; r < 8; r++)
        assert_near(fit.e[r], .25 * (double)(1 + r), 1e-13);
    assert_true(farthest(50, fit.V, w.V) <= 1e-13);

    w.problem.constant = 0;
    fit = solve(&w.problem, w.k, w.start, 1e-10);
    assert_true(sqrt(fit.rss) > .01 * norm(200 * 8, w.a));
    end(&w);
}

static void weight_root_two_is_the_row_twice(void **state)
{
    (void)state;
    enum { N = 300, D = 6, M = 4, TWICE = 100 };
    planted_problem w = begin((plan){D, 3, M, N, SQUARE, .3, .3, .5});
    double weight[N], *x = numbers((N + TWICE) * D), *a = numbers((N + TWICE) * M);
    memcpy(x, w.x, N * D * sizeof *x);
    memcpy(x + N * D, w.x, TWICE * D * sizeof *x);
    memcpy(a, w.a, N * M * sizeof *a);
    memcpy(a + N * M, w.a, TWICE * M * sizeof *a);
    for (size_t i = 0; i < N; i++)
        weight[i] = i < TWICE ? sqrt(2) : 1;
    ur_newton twice = w.problem, weighted = w.problem;
    twice.n = N + TWICE;
    twice.x = x;
    twice.a = a;
    weighted.weight = weight;
    ur_newton_fit one = solve(&weighted, 3, w.start, 1e-14);
    ur_newton_fit two = solve(&twice, 3, w.start, 1e-14), plain = solve(&w.problem, 3, w.start, 0);
    assert_near(one.rss / two.rss, 1, 1e-12);
    assert_true(farthest(3 * D, one.V, two.V) < 1e-7);
    assert_true(farthest(3 * M, one.U, two.U) < 1e-7);
    assert_true(farthest(M, one.e, two.e) < 1e-7);
    assert_true(farthest(3 * D, one.V, plain.V) > 1e-3);

    double V_se[2][3 * D], U_se[2][3 * M], e_se[2][M];
    int singular;
    unrelu_error err = {0};
    must(ur_newton_errors(&weighted, &one, D, 1, V_se[0], U_se[0], e_se[0], &singular, &err), &err);
    must(ur_newton_errors(&twice, &one, D, 1, V_se[1], U_se[1], e_se[1], &singular, &err), &err);
    assert_true(farthest(3 * D, V_se[0], V_se[1]) < 1e-12);
    assert_true(farthest(3 * M, U_se[0], U_se[1]) < 1e-12);
    assert_true(farthest(M, e_se[0], e_se[1]) < 1e-12);
    free(x);
    free(a);
    end(&w);
}

/* unweighted, a few rows of expm1sq outweigh all others (its moments are infinite) */
static void weights_make_fast_growth_tractable(void **state)
{
    (void)state;
    unrelu_activation f = {.kind = UNRELU_EXPM1SQ};
    planted_problem w = begin((plan){6, 3, 4, 400, f, .away = .2});
    double weight[400];
    for (size_t i = 0; i < 400; i++) {
        double size = norm(4, w.a + 4 * i);
        weight[i] = size > 0 ? 1 / size : 0;
    }
    w.problem.weight = weight;
    ur_newton_fit fit = solve(&w.problem, 3, w.start, 1e-10);
    assert_true(farthest(18, fit.V, w.V) <= 1e-10);
    end(&w);
}

/* on at no sample, or at one, which its own feature spans */
static void neuron_without_information_stays_where_it_is(void **state)
{
    (void)state;
    size_t d[] = {10, 10, 52, 52};
    for (size_t s = 0; s < 4; s++) {
        planted_problem w = begin((plan){d[s], 4, 8, 400, RELU, .away = .2});
        size_t p = d[s] + 1;
        double *x = numbers(400 * p), *V = numbers(5 * p);
        for (size_t i = 0; i < 400; i++) {
            memcpy(x + i * p, w.x + i * d[s], d[s] * sizeof *x);
            x[i * p + d[s]] = 1 + (double)i / 400;
        }
        for (size_t j = 0; j < 4; j++)
            memcpy(V + (j < 2 ? j : j + 1) * p, w.start + j * d[s], d[s] * sizeof *V);
        V[2 * p + d[s]] = -1;
        if (s % 2)
            x[7 * p + d[s]] = -1;
        ur_newton problem = w.problem;
        problem.x = x;
        problem.p = p;
        ur_newton_fit fit = solve(&problem, 5, V, 1e-10);
        assert_true(sqrt(fit.rss) <= 1e-14 * norm(400 * 8, w.a));
        assert_true(farthest(p, fit.V + 2 * p, V + 2 * p) <= (s % 2 ? 1e-12 : 0));
        for (size_t r = 0; r < 8; r++)
            assert_near(fit.U[r * 5 + 2], 0, s % 2 ? 1e-13 : 0);
        free(x);
        free(V);
        end(&w);
    }
}

static void equal_neurons_share_their_output(void **state)
{
    (void)state;
    planted_problem w = begin((plan){10, 5, 8, 200, RELU, .away = .2});
    unrelu_error err = {0};
    memcpy(w.V + 10, w.V, 10 * sizeof *w.V);
    ur_newton_fit fit = new_fit(&w.problem, 5, w.V);
    must(ur_newton_outer(&w.problem, &fit, &err), &err);
    double start = fit.rss;
    assert_near(start / projected(&w.problem, 5, w.V), 1, 1e-12);
    assert_near(start / misfit(&w.problem, &fit), 1, 1e-12);
    for (size_t r = 0; r < 8; r++)
        assert_near(fit.U[r * 5], fit.U[r * 5 + 1], 1e-12);
    must(ur_newton_solve(&w.problem, 100, 1e-10, 0, &fit, &err), &err);
    assert_true(fit.rss < start);
    assert_true(isfinite(norm(50, fit.V)) && isfinite(norm(40, fit.U)));
    end(&w);
}

static void outer_keeps_V_and_is_least_squares(void **state)
{
    (void)state;
    size_t n[] = {300, 20500}; /* by QR, by refined normal equations */
    for (size_t s = 0; s < 2; s++) {
        planted_problem w = begin((plan){6, 3, 4, n[s], RELU, .1, .1, .5});
        unrelu_error err = {0};
        for (size_t i = 0; i < 6; i++)
            w.start[i] *= 3;
        ur_newton_fit fit = new_fit(&w.problem, 3, w.start);
        must(ur_newton_outer(&w.problem, &fit, &err), &err);
        assert_memory_equal(fit.V, w.start, 18 * sizeof *fit.V);
        assert_near(fit.rss / projected(&w.problem, 3, w.start), 1, 1e-12);
        assert_near(fit.rss / misfit(&w.problem, &fit), 1, 1e-12);
        end(&w);
    }
}

static void polish_squares_the_error_and_never_raises_rss(void **state)
{
    (void)state;
    plan o[] = {{10, 5, 8, 200, EXPM1, .away = 1e-5},
                {26, 10, 12, 500, EXPM1, .away = 1e-5},
                {10, 5, 8, 200, SQUARE, .away = 1e-5},
                {26, 10, 12, 500, SQUARE, .away = 1e-5}};
    for (size_t s = 0; s < 4; s++) {
        planted_problem w = begin(o[s]);
        unrelu_error err = {0};
        ur_newton_fit fit = new_fit(&w.problem, w.k, w.start);
        must(ur_newton_polish(&w.problem, &fit, &err), &err);
        assert_true(farthest(w.k * o[s].d, fit.V, w.V) < 1e-8);
        end(&w);
    }
    /* between kinks the model of noisy labels promises what is not there */
    planted_problem w = begin((plan){6, 3, 4, 300, RELU, .3, .3, 0});
    ur_newton_fit fit = solve(&w.problem, 3, w.start, 1e-10);
    double before = fit.rss;
    unrelu_error err = {0};
    must(ur_newton_polish(&w.problem, &fit, &err), &err);
    assert_true(fit.rss <= (1 + 1e-14) * before);
    end(&w);
}

static int is_cancelled(void *context)
{
    int *left = context;
    return --*left < 0;
}

static void steps_floor_and_cancel_end_it(void **state)
{
    (void)state;
    planted_problem w = begin((plan){10, 5, 8, 200, RELU, .away = .3});
    double whole = norm(200 * 8, w.a) * norm(200 * 8, w.a);
    unrelu_error err = {0};
    ur_newton_fit fit = new_fit(&w.problem, 5, w.start);
    must(ur_newton_solve(&w.problem, 2, 1e-10, 0, &fit, &err), &err);
    assert_int_equal(fit.steps, 2);
    assert_false(fit.converged);
    assert_true(fit.rss > 1e-8 * whole);
    must(ur_newton_solve(&w.problem, 100, 1e-10, 1e-6, &fit, &err), &err);
    assert_true(fit.converged);
    assert_true(fit.rss <= 1e-6 * whole);
    assert_true(fit.rss > 1e-20 * whole);
    memcpy(fit.V, w.start, 50 * sizeof *fit.V);
    must(ur_newton_solve(&w.problem, 0, 1e-10, 0, &fit, &err), &err);
    assert_int_equal(fit.steps, 0);
    assert_near(fit.rss / projected(&w.problem, 5, w.start), 1, 1e-12);

    must(ur_newton_solve(&w.problem, 100, .999, 0, &fit, &err), &err);
    assert_int_equal(fit.steps, 1);
    assert_true(fit.converged);

    int left = 2;
    w.exec.cancelled = is_cancelled;
    w.exec.context = &left;
    w.problem.exec = &w.exec;
    assert_int_equal(ur_newton_solve(&w.problem, 100, 1e-10, 0, &fit, &err), UNRELU_ECANCELLED);
    end(&w);
}

static void overflow_is_an_infinite_rss(void **state)
{
    (void)state;
    unrelu_activation f = {.kind = UNRELU_EXPM1SQ};
    planted_problem w = begin((plan){6, 3, 4, 100, f, .away = .1});
    unrelu_error err = {0};
    for (size_t i = 0; i < 18; i++)
        w.start[i] *= 20;
    ur_newton_fit fit = new_fit(&w.problem, 3, w.start);
    must(ur_newton_outer(&w.problem, &fit, &err), &err);
    assert_true(isinf(fit.rss));
    must(ur_newton_solve(&w.problem, 10, 1e-10, 0, &fit, &err), &err);
    assert_true(isinf(fit.rss));
    assert_false(fit.converged);
    must(ur_newton_polish(&w.problem, &fit, &err), &err);
    assert_true(isinf(fit.rss));
    end(&w);
}

/* ---- standard errors ---- */

/* A^-1 by Gauss-Jordan with row pivots, in place */
static void invert(size_t d, double *A)
{
    double *E = numbers(d * d);
    for (size_t i = 0; i < d; i++)
        E[i * d + i] = 1;
    for (size_t c = 0; c < d; c++) {
        size_t best = c;
        for (size_t i = c; i < d; i++)
            if (fabs(A[i * d + c]) > fabs(A[best * d + c]))
                best = i;
        for (size_t j = 0; j < d; j++) {
            double s = A[c * d + j], t = E[c * d + j];
            A[c * d + j] = A[best * d + j];
            E[c * d + j] = E[best * d + j];
            A[best * d + j] = s;
            E[best * d + j] = t;
        }
        double pivot = A[c * d + c];
        assert_true(fabs(pivot) > 1e-12);
        for (size_t j = 0; j < d; j++) {
            A[c * d + j] /= pivot;
            E[c * d + j] /= pivot;
        }
        for (size_t i = 0; i < d; i++) {
            double factor = A[i * d + c];
            for (size_t j = 0; j < d && i != c; j++) {
                A[i * d + j] -= factor * A[c * d + j];
                E[i * d + j] -= factor * E[c * d + j];
            }
        }
    }
    memcpy(A, E, d * d * sizeof *A);
    free(E);
}

/* the Jacobian J (n m x count) of (V, U, e) by differences, and the inverse KKT (all x all) of J'J
 * with the constraints' multipliers: its first count rows and columns are the covariance */
typedef struct {
    size_t count, all;
    double *J, *KKT;
} naive_information;

static naive_information differences(const ur_newton *problem, const ur_newton_fit *fit,
                                     size_t unit)
{
    size_t k = fit->k, p = problem->p, m = problem->m, nm = problem->n * m;
    size_t count = k * p + m * k + (problem->constant ? m : 0);
    size_t fixed = ur_activation_degree(problem->f) > 0 ? k : 0, all = count + fixed;
    double *at = numbers(k * p + m * k + m), *J = numbers(nm * count), *up = numbers(nm);
    double *down = numbers(nm), *KKT = numbers(all * all), h = 1e-6;
    memcpy(at, fit->V, k * p * sizeof *at);
    memcpy(at + k * p, fit->U, m * k * sizeof *at);
    memcpy(at + k * p + m * k, fit->e, m * sizeof *at);
    for (size_t c = 0; c < count; c++) {
        double value = at[c];
        at[c] = value + h;
        predict(problem, k, at, at + k * p, at + k * p + m * k, up);
        at[c] = value - h;
        predict(problem, k, at, at + k * p, at + k * p + m * k, down);
        at[c] = value;
        for (size_t i = 0; i < nm; i++)
            J[i * count + c] = (up[i] - down[i]) / (2 * h);
    }
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < count; b++)
            for (size_t i = 0; i < nm; i++)
                KKT[a * all + b] += J[i * count + a] * J[i * count + b];
    for (size_t j = 0; j < fixed; j++)
        for (size_t i = 0; i < unit; i++)
            KKT[(count + j) * all + j * p + i] = KKT[(j * p + i) * all + count + j] =
                fit->V[j * p + i];
    invert(all, KKT);
    free(at);
    free(up);
    free(down);
    return (naive_information){count, all, J, KKT};
}

static double *naive_errors(const ur_newton *problem, const ur_newton_fit *fit, size_t unit,
                            double sigma)
{
    naive_information naive = differences(problem, fit, unit);
    double *se = numbers(naive.count);
    for (size_t c = 0; c < naive.count; c++)
        se[c] = sigma * sqrt(naive.KKT[c * naive.all + c]);
    free(naive.J);
    free(naive.KKT);
    return se;
}

/* the largest eigenvalue of J_i (J'J)^-1 J_i' over all samples i, by many products */
static double naive_leverage(const ur_newton *problem, const ur_newton_fit *fit, size_t unit,
                             size_t *row)
{
    naive_information naive = differences(problem, fit, unit);
    size_t m = problem->m, count = naive.count;
    double largest = 0, *right = numbers(count);
    for (size_t i = 0; i < problem->n; i++) {
        const double *J = naive.J + i * m * count;
        double t[8] = {1, .7, -.4}, value = 0;
        for (int step = 0; step < 400; step++) {
            value = norm(m, t);
            memset(right, 0, count * sizeof *right);
            for (size_t a = 0; a < count; a++)
                for (size_t b = 0; b < count; b++)
                    for (size_t r = 0; r < m; r++)
                        right[a] += naive.KKT[a * naive.all + b] * J[r * count + b] * t[r] / value;
            for (size_t r = 0; r < m; r++) {
                t[r] = 0;
                for (size_t a = 0; a < count; a++)
                    t[r] += J[r * count + a] * right[a];
            }
        }
        if (norm(m, t) > largest) {
            largest = norm(m, t);
            *row = i;
        }
    }
    free(right);
    free(naive.J);
    free(naive.KKT);
    return largest;
}

/* a column of ones behind d inputs of different scales */
static planted_problem with_bias(unrelu_activation f, size_t n, double e)
{
    planted_problem w = begin((plan){4, 2, 3, n, f, .2, .1, e});
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < 3; j++)
            w.x[4 * i + j] = (j == 1 ? 3 : 1) * w.x[4 * i + j] + .5 * (double)j;
        w.x[4 * i + 3] = 1;
    }
    for (size_t j = 0; j < 2; j++) {
        double size = norm(3, w.V + 4 * j);
        for (size_t i = 0; i < 4; i++)
            w.V[4 * j + i] /= f.kind == UNRELU_EXPM1 ? 4 * size : size;
    }
    return w;
}

static void errors_equal_the_naive_information(void **state)
{
    (void)state;
    unrelu_activation f[] = {RELU, SQUARE, LEAKY, EXPM1};
    for (size_t t = 0; t < 8; t++) {
        planted_problem w = with_bias(f[t / 2], 60, t % 2 ? .5 : 0);
        ur_newton_fit fit = new_fit(&w.problem, 2, w.V);
        memcpy(fit.U, w.U, 6 * sizeof *fit.U);
        double V_se[8], U_se[6], e_se[3];
        int singular = 1;
        unrelu_error err = {0};
        must(ur_newton_errors(&w.problem, &fit, 3, .2, V_se, U_se, e_se, &singular, &err), &err);
        double *se = naive_errors(&w.problem, &fit, 3, .2);
        assert_false(singular);
        for (size_t i = 0; i < 8; i++)
            assert_near(V_se[i] / se[i], 1, 1e-6);
        for (size_t i = 0; i < 6; i++)
            assert_near(U_se[i] / se[8 + i], 1, 1e-6);
        for (size_t i = 0; i < 3; i++)
            if (t % 2)
                assert_near(e_se[i] / se[14 + i], 1, 1e-6);
            else
                assert_true(e_se[i] == 0);
        free(se);
        end(&w);
    }
}

static void leverages_equal_the_naive_ones(void **state)
{
    (void)state;
    unrelu_activation f[] = {RELU, SQUARE, LEAKY, EXPM1};
    for (size_t t = 0; t < 8; t++) {
        planted_problem w = with_bias(f[t / 2], 40, t % 2 ? .5 : 0);
        ur_newton_fit fit = new_fit(&w.problem, 2, w.V);
        ur_newton_hinge hinge;
        size_t row = 0;
        unrelu_error err = {0};
        memcpy(fit.U, w.U, 6 * sizeof *fit.U);
        must(ur_newton_leverage(&w.problem, &fit, &hinge, &err), &err);
        assert_false(hinge.singular);
        assert_near(hinge.leverage, naive_leverage(&w.problem, &fit, 3, &row), 1e-6);
        assert_int_equal(hinge.row, row);
        assert_true(hinge.blur < 1e-9);
        end(&w);
    }
}

/* Two neurons at an angle of 2 `apart` that `between` samples tell apart: without three of them
 * each of the rest has leverage 1. */
static ur_newton_hinge hinge_of(double apart, size_t between)
{
    enum { N = 40 };
    double x[2 * N], a[N], V[4] = {1, apart, 1, -apart}, U[2] = {.5, .5};
    for (size_t i = 0; i < N; i++) {
        x[2 * i + 1] = sin(3. * (double)i + 1);
        x[2 * i] = i < between
                       ? apart / 2 * x[2 * i + 1] * (i == 2 ? .3 : 1) * (i == 1 ? -1 : 1)
                       : (i % 2 ? 1 : -1) * (.1 + cos(5. * (double)i) * cos(5. * (double)i));
        a[i] = .5 * fmax(0, x[2 * i] + apart * x[2 * i + 1]) +
               .5 * fmax(0, x[2 * i] - apart * x[2 * i + 1]);
    }
    ur_newton problem = {.n = N, .p = 2, .m = 1, .x = x, .a = a, .f = RELU};
    ur_newton_fit fit = new_fit(&problem, 2, V);
    ur_newton_hinge hinge;
    unrelu_error err = {0};
    memcpy(fit.U, U, sizeof U);
    must(ur_newton_leverage(&problem, &fit, &hinge, &err), &err);
    return hinge;
}

static int is_hinge(ur_newton_hinge hinge)
{
    return hinge.singular || 1 - hinge.leverage < 1e-6 + hinge.blur;
}

static void a_network_that_hinges_on_a_sample_is_found_out(void **state)
{
    (void)state;
    for (size_t between = 1; between <= 3; between++) {
        ur_newton_hinge hinge = hinge_of(.02, between);
        assert_int_equal(is_hinge(hinge), between < 3);
        if (between == 3)
            assert_true(hinge.row < 3 && hinge.blur < 1e-6);
    }
}

/* However close the neurons are: rounding moves the leverage of 1 by up to 3e-2, and never by more
 * than the blur; that of three samples, .93, is sure until they are 1e-5 apart. */
static void rounding_hides_no_hinge(void **state)
{
    (void)state;
    for (double apart = .02; apart > 4e-7; apart *= .6) {
        ur_newton_hinge hinge = hinge_of(apart, 2);
        assert_true(is_hinge(hinge));
        assert_true(hinge.singular || fabs(1 - hinge.leverage) <= hinge.blur);
        if (apart > 5e-6)
            assert_false(is_hinge(hinge_of(apart, 3)));
    }
}

static void neuron_without_information_has_no_errors_of_its_own(void **state)
{
    (void)state;
    planted_problem w = with_bias(RELU, 60, 0);
    double V_se[2][12], U_se[2][9], V[12] = {0};
    int singular = 0;
    unrelu_error err = {0};
    ur_newton_fit two = new_fit(&w.problem, 2, w.V);
    memcpy(two.U, w.U, 6 * sizeof *two.U);
    must(ur_newton_errors(&w.problem, &two, 3, .2, V_se[0], U_se[0], NULL, &singular, &err), &err);
    assert_false(singular);

    memcpy(V, w.V, 8 * sizeof *V);
    V[8] = 1;
    V[11] = -1e3; /* off at every sample */
    ur_newton_fit three = new_fit(&w.problem, 3, V);
    for (size_t r = 0; r < 3; r++)
        for (size_t j = 0; j < 2; j++)
            three.U[3 * r + j] = w.U[2 * r + j];
    must(ur_newton_errors(&w.problem, &three, 3, .2, V_se[1], U_se[1], NULL, &singular, &err),
         &err);
    assert_true(singular);
    assert_true(farthest(8, V_se[0], V_se[1]) < 1e-12);
    for (size_t i = 8; i < 12; i++)
        assert_true(isnan(V_se[1][i]));
    for (size_t r = 0; r < 3; r++) {
        assert_near(U_se[1][3 * r], U_se[0][2 * r], 1e-12);
        assert_near(U_se[1][3 * r + 1], U_se[0][2 * r + 1], 1e-12);
        assert_true(isnan(U_se[1][3 * r + 2]));
    }

    /* on at one sample: that is as good as no such sample for the others */
    size_t top = 0;
    double weight[60], second = -INFINITY;
    for (size_t i = 0; i < 60; i++)
        if (w.x[4 * i] > w.x[4 * top])
            top = i;
    for (size_t i = 0; i < 60; i++) {
        weight[i] = i != top;
        second = i != top && w.x[4 * i] > second ? w.x[4 * i] : second;
    }
    three.V[11] = -(w.x[4 * top] + second) / 2;
    for (size_t r = 0; r < 3; r++)
        three.U[3 * r + 2] = 1;
    must(ur_newton_errors(&w.problem, &three, 3, .2, V_se[1], U_se[1], NULL, &singular, &err),
         &err);
    w.problem.weight = weight;
    must(ur_newton_errors(&w.problem, &two, 3, .2, V_se[0], U_se[0], NULL, &singular, &err), &err);
    w.problem.weight = NULL;
    assert_true(farthest(8, V_se[0], V_se[1]) < 1e-10);
    assert_near(U_se[1][0], U_se[0][0], 1e-10);
    assert_true(isnan(V_se[1][8]) && isnan(U_se[1][2]));

    memcpy(three.V + 8, three.V, 4 * sizeof *V); /* the first neuron again */
    must(ur_newton_errors(&w.problem, &three, 3, .2, V_se[1], U_se[1], NULL, &singular, &err),
         &err);
    assert_true(singular);
    assert_true(isnan(V_se[1][0]) && isnan(U_se[1][0]));
    end(&w);
}

static void errors_of_too_many_parameters_are_refused(void **state)
{
    (void)state;
    enum { D = 100, K = 61 };
    planted_problem w = begin((plan){D, K, 1, 4, RELU, .away = .1});
    ur_newton_fit fit = new_fit(&w.problem, K, w.V);
    double *V_se = numbers(D * K), U_se[K];
    int singular = 0;
    unrelu_error err = {0};
    must(ur_newton_errors(&w.problem, &fit, D, 1, V_se, U_se, NULL, &singular, &err), &err);
    assert_true(singular);
    assert_true(isnan(V_se[0]) && isnan(U_se[K - 1]));
    free(V_se);
    end(&w);
}

static int pin(void **state)
{
    (void)state;
    UR_BLAS_PINNED;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noiseless_labels_are_fitted_to_rounding),
        cmocka_unit_test(so_are_they_by_conjugate_gradients),
        cmocka_unit_test(nearly_equal_neurons_cost_no_digits),
        cmocka_unit_test(gradient_vanishes_at_the_optimum_of_noisy_labels),
        cmocka_unit_test(no_neighbour_of_the_noisy_relu_optimum_is_lower),
        cmocka_unit_test(columns_of_zeros_change_nothing_but_the_solver),
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(constant_is_found),
        cmocka_unit_test(weight_root_two_is_the_row_twice),
        cmocka_unit_test(weights_make_fast_growth_tractable),
        cmocka_unit_test(neuron_without_information_stays_where_it_is),
        cmocka_unit_test(equal_neurons_share_their_output),
        cmocka_unit_test(outer_keeps_V_and_is_least_squares),
        cmocka_unit_test(polish_squares_the_error_and_never_raises_rss),
        cmocka_unit_test(steps_floor_and_cancel_end_it),
        cmocka_unit_test(overflow_is_an_infinite_rss),
        cmocka_unit_test(errors_equal_the_naive_information),
        cmocka_unit_test(leverages_equal_the_naive_ones),
        cmocka_unit_test(a_network_that_hinges_on_a_sample_is_found_out),
        cmocka_unit_test(rounding_hides_no_hinge),
        cmocka_unit_test(neuron_without_information_has_no_errors_of_its_own),
        cmocka_unit_test(errors_of_too_many_parameters_are_refused),
    };
    return cmocka_run_group_tests(tests, pin, end_arena);
}
