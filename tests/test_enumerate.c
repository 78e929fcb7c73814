/* SPDX-License-Identifier: Apache-2.0 */
/* Enumeration: planted networks come back, whatever is repeated, zero or badly conditioned; "no
 * network fits" is said as a proof only where algebra says so too, and never of a planted one. */
#include "networks.h"

#include "base/random.h"
#include "dense/linear.h"
#include "network/hard/enumerate/enumerate.h"

static unrelu_recover_options by_enumeration(void)
{
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    o.method = UNRELU_RECOVER_ENUMERATE;
    return o;
}

static int is_warned(const unrelu_network *model, const char *code)
{
    for (size_t i = 0; i < model->warning_count; i++)
        if (strcmp(model->warnings[i].code, code) == 0)
            return 1;
    return 0;
}

/* |A - U f(V X + c) - e| / |A| by plain loops */
static double misfit(const unrelu_network *model, const double *x, const double *a, size_t n)
{
    size_t d = model->d, k = model->k, m = model->m;
    double rss = 0, size = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) {
            double sum = model->e[j];
            for (size_t l = 0; l < k; l++) {
                double t = model->c[l];
                for (size_t g = 0; g < d; g++)
                    t += model->V[l * d + g] * x[i * d + g];
                sum += t > 0 ? model->U[j * k + l] * t : 0;
            }
            rss += pow(sum - a[i * m + j], 2);
            size += pow(a[i * m + j], 2);
        }
    return sqrt(rss / size);
}

/* labels of the truth by plain loops, with or without its biases */
static void relabel(planted_network *p, int hidden, int output)
{
    for (size_t l = 0; l < p->k && !hidden; l++)
        p->truth->c[l] = 0;
    for (size_t j = 0; j < p->m && !output; j++)
        p->truth->e[j] = 0;
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < p->m; j++) {
            double sum = p->truth->e[j];
            for (size_t l = 0; l < p->k; l++) {
                double t = p->truth->c[l];
                for (size_t g = 0; g < p->d; g++)
                    t += p->truth->V[l * p->d + g] * p->x[i * p->d + g];
                sum += t > 0 ? p->truth->U[j * p->k + l] * t : 0;
            }
            p->a[i * p->m + j] = sum;
        }
}

static unrelu_network *enumerate(const double *x, const double *a, size_t n, size_t d, size_t m,
                                 const unrelu_recover_options *o)
{
    unrelu_network *model;
    unrelu_error err = {0};
    must(try_recover(x, a, n, d, m, o, NULL, &model, &err), &err);
    return model;
}

/* ---- planted networks ---- */

static void planted_networks_come_back(void **state)
{
    static const size_t sizes[][4] = {/* d, k, m, n */ {4, 1, 1, 60},
                                      {5, 2, 3, 80},
                                      {8, 4, 4, 120},
                                      {6, 9, 10, 300},
                                      {10, 8, 9, 400},
                                      {12, 12, 12, 900}};
    (void)state;
    unrelu_recover_options o = by_enumeration();
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            const size_t *z = sizes[s];
            planted_network p = plant_network(z[0], z[1], z[2], z[3], 0, seed);
            unrelu_network *model = recover(&p, &o);
            assert_int_equal(model->verdict, UNRELU_VERDICT_EXACT);
            assert_int_equal(model->proof, 0);
            assert_true(misfit(model, p.x, p.a, p.n) <= 1e-12);
            assert_true(error_of_V(p.truth, model) <= 1e-10);
            assert_non_null(strstr(model->guarantee, "Theorem 1"));
            assert_non_null(strstr(model->how_k, "rank of the labels"));
            unrelu_network_free(model);
            planted_network_free(&p);
        }
}

/* Labels of six to eight decimals: Y z is 0 to within what that leaves, and not to within a
 * hundredth of it. */
static void labels_of_few_decimals_come_back(void **state)
{
    static const struct {
        size_t k, m;
        uint64_t seed;
    } known[] = {{2, 3, 2}, {4, 4, 3}, {2, 3, 4}};
    (void)state;
    unrelu_recover_options o = by_enumeration();
    o.biases = UNRELU_BIASES_NONE;
    for (size_t c = 0; c < 3; c++)
        for (int decimals = 6; decimals <= 8; decimals++) {
            planted_network p = plant_network(4, known[c].k, known[c].m, 150, 0, known[c].seed);
            double units = pow(10, decimals);
            for (size_t i = 0; i < p.n * p.m; i++)
                p.a[i] = rint(p.a[i] * units) / units;
            unrelu_network *model = recover(&p, &o);
            assert_int_equal(model->verdict, UNRELU_VERDICT_EXACT);
            assert_true(error_of_V(p.truth, model) <= 100 / units);
            unrelu_network_free(model);
            planted_network_free(&p);
        }
}

/* delta solves share = 10 k log(k / delta) / n; the share is counted, over rows of V and planes */
static void lemma_4_is_computed_and_told(void **state)
{
    (void)state;
    const double share = .4, n = 900, k = 4;
    double delta = ur_rank_delta(share, (size_t)n, (size_t)k);
    assert_near(10 * k * log(k / delta) / n, share, 1e-12);
    assert_near(ur_rank_delta(share, 10, 4), 1, 0); /* 10 k log(k) / n is above the share */

    planted_network p = plant_network(5, 3, 4, 600, 0, 4);
    unrelu_recover_options o = by_enumeration();
    unrelu_network *model = recover(&p, &o);
    double least = 1, found;
    for (size_t j = 0; j < 3; j++) { /* the rarest neuron bounds it from above */
        size_t on = 0;
        for (size_t i = 0; i < p.n; i++)
            on += ur_short_dot(5, p.truth->V + j * 5, p.x + i * 5) > 0;
        least = fmin(least, (double)on / (double)p.n);
    }
    const char *at = strstr(model->assumption, "as at least ");
    assert_non_null(at);
    found = strtod(at + strlen("as at least "), NULL);
    assert_true(found <= least + 5e-4 && found > .4);
    at = strstr(model->assumption, "with probability O(");
    assert_non_null(at);
    assert_near(strtod(at + strlen("with probability O("), NULL) / ur_rank_delta(found, p.n, 3), 1,
                .1);
    unrelu_network_free(model);

    ur_data data = {.n = p.n, .d = p.d, .x = p.x};
    double low, mixed[2] = {0};
    unrelu_error err = {0};
    for (size_t i = 0; i < p.n * p.d; i++) /* all behind one plane, though not behind an axis */
        p.x[i] += 1.5;
    must(ur_least_share(&data, 0, NULL, &low, &err), &err);
    for (size_t i = 0; i < p.n; i++) { /* the naive count of the least axis and of the sum */
        double sum = 0;
        for (size_t j = 0; j < p.d; j++)
            sum += p.x[i * p.d + j];
        mixed[0] += p.x[i * p.d] < 0;
        mixed[1] += sum < 0;
    }
    assert_true(low <= mixed[0] / 600 && low < .01);
    assert_true(mixed[0] / 600 > .02); /* an axis alone would say more */
    planted_network_free(&p);
}

static void nested_sampling_and_programmes_find_many_neurons(void **state)
{
    (void)state;
    unrelu_recover_options o = by_enumeration();
    for (uint64_t seed = 1; seed <= 3; seed++) {
        planted_network p = plant_network(20, 18, 20, 2000, 0, seed);
        unrelu_network *model = recover(&p, &o);
        assert_int_equal(model->verdict, UNRELU_VERDICT_EXACT);
        assert_true(error_of_V(p.truth, model) <= 1e-10);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
}

static void repeated_scaled_and_zero_rows_change_nothing(void **state)
{
    enum { D = 6, K = 4, M = 5, N = 100, ALL = 3 * N + 10 };
    static const double scale[] = {1, 1, 1e-3};
    (void)state;
    unrelu_recover_options o = by_enumeration();
    planted_network p = plant_network(D, K, M, N, 0, 3);
    double *x = calloc(ALL * D, sizeof *x), *a = calloc(ALL * M, sizeof *a);
    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < N; i++) {
            for (size_t j = 0; j < D; j++)
                x[(10 + c * N + i) * D + j] = scale[c] * p.x[i * D + j];
            for (size_t j = 0; j < M; j++)
                a[(10 + c * N + i) * M + j] = scale[c] * p.a[i * M + j];
        }
    unrelu_network *model = enumerate(x, a, ALL, D, M, &o);
    assert_non_null(model->V);
    assert_true(error_of_V(p.truth, model) <= 1e-10);
    unrelu_network_free(model);
    free(x);
    free(a);
    planted_network_free(&p);
}

/* integers of both signs, from networks of integers */
static void small_integers_are_met(void **state)
{
    enum { D = 4, K = 3, M = 4, N = 40 };
    (void)state;
    unrelu_recover_options o = by_enumeration();
    for (uint64_t seed = 1; seed <= 10; seed++) {
        double x[N * D], a[N * M] = {0}, V[K * D], U[M * K], u[N * D + K * D + M * K];
        ur_random_uniforms(seed, 7, 0, sizeof u / sizeof *u, u);
        for (size_t i = 0; i < N * D; i++)
            x[i] = floor(7 * u[i]) - 3;
        for (size_t i = 0; i < K * D; i++)
            V[i] = floor(7 * u[N * D + i]) - 3;
        for (size_t i = 0; i < M * K; i++)
            U[i] = floor(7 * u[N * D + K * D + i]) - 3;
        for (size_t i = 0; i < N; i++)
            for (size_t l = 0; l < K; l++) {
                double t = 0;
                for (size_t g = 0; g < D; g++)
                    t += V[l * D + g] * x[i * D + g];
                for (size_t j = 0; j < M && t > 0; j++)
                    a[i * M + j] += U[j * K + l] * t;
            }
        unrelu_network *model = enumerate(x, a, N, D, M, &o);
        assert_non_null(model->V);
        assert_true(misfit(model, x, a, N) <= 1e-12);
        unrelu_network_free(model);
    }
}

/* y of a row of zeros was once rounding noise here, and a planted network "proved" not to exist */
static void badly_conditioned_networks_are_found_and_never_proved_away(void **state)
{
    static const double kappa[][2] = {{10, 1e3}, {100, 1e3}, {1e3, 1e3}, {1e4, 1}, {1e6, 1e5}};
    (void)state;
    unrelu_recover_options o = by_enumeration();
    for (size_t s = 0; s < sizeof kappa / sizeof *kappa; s++)
        for (uint64_t seed = 1; seed <= 6; seed++) {
            unrelu_network_plant_options plan;
            unrelu_network_plant_options_init(&plan, sizeof plan);
            plan.d = 10;
            plan.k = 6;
            plan.m = 8;
            plan.seed = seed;
            plan.kappa_v = kappa[s][0];
            plan.kappa_u = kappa[s][1];
            planted_network p = plant_network_with(plan, 500);
            unrelu_network *model = recover(&p, &o);
            assert_int_equal(model->proof, 0);
            if (s < 3)
                assert_true(error_of_V(p.truth, model) <= 1e-9);
            if (model->verdict == UNRELU_VERDICT_EXACT)
                assert_true(error_of_V(p.truth, model) <= 1e-6);
            unrelu_network_free(model);
            planted_network_free(&p);
        }
}

/* ---- biases ---- */

static void biases_come_back(void **state)
{
    static const struct {
        int hidden, output;
        unrelu_biases biases;
    } kinds[] = {{1, 0, UNRELU_BIASES_HIDDEN},
                 {0, 1, UNRELU_BIASES_OUTPUT},
                 {1, 1, UNRELU_BIASES_BOTH},
                 {0, 0, UNRELU_BIASES_OUTPUT}};
    (void)state;
    for (size_t s = 0; s < sizeof kinds / sizeof *kinds; s++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            unrelu_network_plant_options plan;
            unrelu_network_plant_options_init(&plan, sizeof plan);
            unrelu_network_distance far;
            unrelu_error err = {0};
            plan.d = 6;
            plan.k = 4;
            plan.m = 6;
            plan.bias = .4;
            plan.seed = seed;
            planted_network p = plant_network_with(plan, 400);
            relabel(&p, kinds[s].hidden, kinds[s].output);
            unrelu_recover_options o = by_enumeration();
            o.biases = kinds[s].biases;
            unrelu_network *model = recover(&p, &o);
            assert_int_equal(model->k, 4);
            assert_int_equal(model->verdict, UNRELU_VERDICT_EXACT);
            must(unrelu_network_compare(p.truth, model, &far, &err), &err);
            assert_true(far.V_max <= 1e-10 && far.c_max <= 1e-10 && far.e_max <= 1e-10);
            unrelu_network_free(model);
            planted_network_free(&p);
        }
}

/* ---- what cannot be ---- */

static void labels_of_rank_below_k_are_refused_with_the_way_out(void **state)
{
    (void)state;
    unrelu_recover_options o = by_enumeration();
    unrelu_network *model;
    unrelu_error err = {0};
    planted_network p = plant_network(5, 3, 4, 80, 0, 1);
    o.k = 4;
    assert_int_equal(try_recover(p.x, p.a, p.n, p.d, p.m, &o, NULL, &model, &err), UNRELU_EDATA);
    assert_non_null(strstr(err.text, "section 3"));
    assert_non_null(strstr(err.text, "`method` one-sparse"));
    planted_network_free(&p);
}

static void labels_of_rank_above_k_prove_that_none_fits(void **state)
{
    (void)state;
    unrelu_recover_options o = by_enumeration();
    planted_network p = plant_network(5, 3, 4, 80, 0, 1);
    o.k = 2;
    unrelu_network *model = recover(&p, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_FAILED);
    assert_int_equal(model->proof, 1);
    assert_non_null(strstr(model->failure, "rank 3"));
    assert_null(model->V);
    unrelu_network_free(model);
    planted_network_free(&p);
}

/* u f(v x) has one sign in every column, and is 0 or linear on each line through 0 */
static void one_neuron_is_disproved_where_algebra_does(void **state)
{
    static const double both_signs[][2] = {{1, 1}, {-1, -1}, {2, -3}, {-2, 1}, {1, 3}};
    static const double x[][2] = {{1, 0}, {0, 1}, {1, 1}, {-1, 2}, {2, -1}};
    static const double bent[][1] = {{1}, {1}, {3}, {1}, {1}}; /* 3 is not 1 + 1 */
    static const double good[][1] = {{1}, {2}, {3}, {3}, {0}}; /* v = (1, 2) */
    (void)state;
    unrelu_recover_options o = by_enumeration();
    o.k = 1;
    unrelu_network *model = enumerate(x[0], bent[0], 5, 2, 1, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_FAILED);
    assert_int_equal(model->proof, 1);
    assert_non_null(strstr(model->failure, "this is a proof"));
    unrelu_network_free(model);
    double signs[5];
    for (size_t i = 0; i < 5; i++)
        signs[i] = both_signs[i][0];
    model = enumerate(x[0], signs, 5, 2, 1, &o);
    assert_int_equal(model->proof, 1);
    unrelu_network_free(model);
    model = enumerate(x[0], good[0], 5, 2, 1, &o);
    assert_int_equal(model->proof, 0);
    assert_non_null(model->V);
    assert_near(model->V[0] * model->U[0], 1, 1e-12);
    assert_near(model->V[1] * model->U[0], 2, 1e-12);
    unrelu_network_free(model);
}

static void noisy_labels_are_disproved(void **state)
{
    (void)state;
    unrelu_recover_options o = by_enumeration();
    for (uint64_t seed = 1; seed <= 5; seed++) {
        planted_network p = plant_network(10, 5, 5, 100, .1, seed);
        unrelu_network *model = recover(&p, &o);
        assert_int_equal(model->verdict, UNRELU_VERDICT_FAILED);
        assert_int_equal(model->proof, 1);
        assert_null(model->V);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
}

static void a_small_budget_says_how_far_it_came(void **state)
{
    (void)state;
    unrelu_recover_options o = by_enumeration();
    planted_network p = plant_network(12, 12, 12, 400, 0, 1);
    o.budget = 3;
    unrelu_network *model = recover(&p, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_FAILED);
    assert_int_equal(model->proof, 0);
    assert_non_null(strstr(model->failure, "of 12 neurons"));
    assert_non_null(strstr(model->failure, "3 sampled planes"));
    assert_non_null(strstr(model->failure, "`budget`"));
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void too_few_samples_are_met_and_called_not_unique(void **state)
{
    (void)state;
    unrelu_recover_options o = by_enumeration();
    for (uint64_t seed = 1; seed <= 5; seed++) {
        planted_network p = plant_network(10, 3, 4, 14, 0, seed);
        unrelu_network *model = recover(&p, &o);
        assert_int_equal(model->verdict, UNRELU_VERDICT_UNCERTIFIED);
        assert_true(is_warned(model, "not-identifiable"));
        assert_true(misfit(model, p.x, p.a, p.n) <= 1e-12);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
}

typedef struct {
    const char *stage; /* at which it is stopped */
    int reached;
} stopper;

static void watch(void *context, const char *stage, double fraction)
{
    stopper *s = context;
    (void)fraction;
    s->reached |= strcmp(stage, s->stage) == 0;
}

static int is_stopped(void *context)
{
    return ((const stopper *)context)->reached;
}

static void the_search_can_be_cancelled(void **state)
{
    static const char *const stages[] = {"sampling", "rays"};
    (void)state;
    unrelu_recover_options o = by_enumeration();
    planted_network p = plant_network(20, 20, 20, 300, .1, 1);
    for (size_t i = 0; i < 2; i++) {
        stopper s = {stages[i], 0};
        unrelu_exec exec;
        unrelu_exec_init(&exec, sizeof exec);
        unrelu_network *model;
        unrelu_error err = {0};
        exec.context = &s;
        exec.progress = watch;
        exec.cancelled = is_stopped;
        assert_int_equal(try_recover(p.x, p.a, p.n, p.d, p.m, &o, &exec, &model, &err),
                         UNRELU_ECANCELLED);
        assert_int_equal(s.reached, 1);
    }
    planted_network_free(&p);
}

static void threads_do_not_change_a_bit(void **state)
{
    static const int threads[] = {1, 2, 7};
    static const size_t sizes[][4] = {{12, 13, 14, 600}, {20, 18, 20, 1500}};
    (void)state;
    unrelu_recover_options o = by_enumeration();
    for (size_t s = 0; s < 2; s++) {
        const size_t *z = sizes[s];
        planted_network p = plant_network(z[0], z[1], z[2], z[3], 0, 4);
        unrelu_network *models[3];
        for (size_t i = 0; i < 3; i++) {
            unrelu_exec exec;
            unrelu_exec_init(&exec, sizeof exec);
            unrelu_error err = {0};
            exec.threads = threads[i];
            must(try_recover(p.x, p.a, p.n, p.d, p.m, &o, &exec, &models[i], &err), &err);
            assert_non_null(models[i]->V);
            assert_int_equal(models[i]->k, models[0]->k);
            assert_memory_equal(models[i]->V, models[0]->V, p.k * p.d * sizeof(double));
            assert_memory_equal(models[i]->U, models[0]->U, p.m * p.k * sizeof(double));
        }
        for (size_t i = 0; i < 3; i++)
            unrelu_network_free(models[i]);
        planted_network_free(&p);
    }
}

/* ---- inside ---- */

typedef struct {
    planted_network p;
    ur_arena arena;
    ur_data data;
    ur_frame frame;
    double *y;
    size_t rank;
    ur_neurons neurons;
} opened;

static void open_data(opened *s, const double *x, const double *a, size_t n, size_t d, size_t m)
{
    unrelu_source *inputs = NULL, *labels = NULL;
    unrelu_error err = {0};
    must(unrelu_source_memory(x, n, d, NULL, &inputs, &err), &err);
    must(unrelu_source_memory(a, n, m, NULL, &labels, &err), &err);
    must(ur_data_load(inputs, labels, NULL, &s->arena, &s->data, &err), &err);
    unrelu_source_close(inputs);
    unrelu_source_close(labels);
    must(ur_frame_make(&s->data, n, (ur_terms){0, 0}, 1, &s->arena, &s->frame, &err), &err);
    s->y = calloc(n * (m + 1), sizeof *s->y);
    must(ur_frame_labels(&s->frame, s->data.tolerance, &s->rank, s->y, NULL, &err), &err);
    must(ur_neurons_open(&s->frame, s->y, s->rank, 1e-9, 1000000, 1, NULL, &s->arena, &s->neurons,
                         &err),
         &err);
}

static opened open_planted(size_t d, size_t k, size_t m, size_t n, uint64_t seed)
{
    opened s = {.p = plant_network(d, k, m, n, 0, seed)};
    open_data(&s, s.p.x, s.p.a, n, d, m);
    assert_int_equal(s.rank, k);
    return s;
}

static void opened_free(opened *s)
{
    ur_arena_end(&s->arena);
    free(s->y);
    planted_network_free(&s->p);
}

/* z of planted neuron j: y'f(X v_j) */
static void true_z(const opened *s, size_t j, double *z)
{
    const planted_network *p = &s->p;
    memset(z, 0, s->rank * sizeof *z);
    for (size_t i = 0; i < p->n; i++) {
        double t = 0;
        for (size_t g = 0; g < p->d; g++)
            t += p->truth->V[j * p->d + g] * p->x[i * p->d + g];
        for (size_t l = 0; l < s->rank && t > 0; l++)
            z[l] += s->y[i * s->rank + l] * t;
    }
}

static void only_neurons_are_taken_each_once(void **state)
{
    (void)state;
    opened s = open_planted(6, 4, 5, 120, 2);
    double z[4], sum[4] = {0};
    int grew;
    unrelu_error err = {0};
    for (size_t j = 0; j < 4; j++) {
        true_z(&s, j, z);
        for (size_t l = 0; l < 4; l++) {
            sum[l] += z[l];
            z[l] = -z[l];
        }
        must(ur_neurons_try(&s.neurons, z, &grew, &err), &err);
        assert_int_equal(grew, 0); /* -f(v x) is none */
    }
    must(ur_neurons_try(&s.neurons, sum, &grew, &err), &err);
    assert_int_equal(grew, 0); /* the sum of all is positive and no neuron */
    for (size_t j = 0; j < 4; j++)
        for (int again = 0; again < 2; again++) {
            true_z(&s, j, z);
            for (size_t l = 0; l < 4; l++)
                z[l] *= 3 + 1e-11 * (double)l; /* any length, not quite the direction */
            must(ur_neurons_try(&s.neurons, z, &grew, &err), &err);
            assert_int_equal(grew, !again);
            assert_int_equal(s.neurons.found, j + 1);
            assert_int_equal(s.neurons.unique[j], 1);
        }
    opened_free(&s);
}

/* labels 1 and 2 times the same, -1 times it, and zeros: two directions a row */
static void rows_are_kept_once_a_direction(void **state)
{
    enum { D = 4, M = 3, N = 30, ALL = 3 * N + 5 };
    static const double scale[] = {1, 2, -1};
    (void)state;
    double x[ALL * D], a[ALL * M] = {0};
    ur_random_normals(1, 8, 0, ALL * D, x);
    ur_random_normals(1, 9, 0, N * M, a);
    for (size_t c = 1; c < 3; c++)
        for (size_t i = 0; i < N * M; i++)
            a[c * N * M + i] = scale[c] * a[i];
    opened s = {0};
    open_data(&s, x, a, ALL, D, M);
    const ur_neurons *q = &s.neurons;
    assert_int_equal(q->rows, 2 * N);
    for (size_t i = 0; i < q->rows; i++) {
        const double *row = q->Y + i * q->k;
        double size = 0;
        for (size_t l = 0; l < q->k; l++)
            size += row[l] * row[l];
        assert_near(size, 1, 1e-12);
        assert_true(q->of[i] < 3 * N);
        for (size_t j = 0; j < i; j++) {
            double inner = 0;
            for (size_t l = 0; l < q->k; l++)
                inner += row[l] * q->Y[j * q->k + l];
            assert_true(inner < 1 - 1e-9);
        }
    }
    opened_free(&s);
}

/* Two directions 3e-9 apart are two, 3e-11 are one; rows of 3e-11 of the longest are labels, of
 * 3e-13 they are zeros. */
static void rows_are_told_apart_to_ten_digits_and_from_zeros_to_twelve(void **state)
{
    enum { N = 6, K = 2 };
    (void)state;
    static const double y[N * K] = {1, 0,     0, 1,     .6,         .8, /* */
                                    1, 3e-11, 1, -3e-9, .8 * 3e-13, .6 * 3e-13};
    static const double faint[K] = {.8 * 3e-11, .6 * 3e-11};
    double x[N], with_faint[N * K];
    ur_frame frame = {.n = N, .p = 1, .q = 1, .d = 1, .m = K, .x = x};
    unrelu_error err = {0};
    ur_random_normals(1, 8, 0, N, x);
    for (int more = 0; more < 2; more++) {
        UR_ARENA(arena);
        ur_neurons q;
        memcpy(with_faint, y, sizeof y);
        if (more)
            memcpy(with_faint + (N - 1) * K, faint, sizeof faint);
        must(ur_neurons_open(&frame, with_faint, K, 1e-9, 10, 1, NULL, &arena, &q, &err), &err);
        assert_int_equal(q.rows, 4 + more);
    }
}

/* neurons of which 1e-6 is not spanned by another one are found beside it */
static void neurons_that_nearly_agree_are_two(void **state)
{
    enum { N = 60, D = 3, K = 2 };
    (void)state;
    UR_ARENA(arena);
    double x[N * D], h[N * K], y[N * K], v[K][D] = {{1, .5, -.3}, {1, .5, -.3 + 3e-6}};
    ur_frame frame = {.n = N, .p = D, .q = D, .d = D, .m = K, .x = x};
    ur_neurons q;
    unrelu_error err = {0};
    int grew;
    ur_random_normals(1, 8, 0, N * D, x);
    for (size_t i = 0; i < N * K; i++) {
        h[i] = 0;
        for (size_t g = 0; g < D; g++)
            h[i] += v[i % K][g] * x[i / K * D + g];
        h[i] = fmax(0, h[i]);
    }
    memcpy(y, h, sizeof h);
    must(ur_orthonormalise(N, K, y, &err), &err);
    must(ur_neurons_open(&frame, y, K, 1e-9, 10, 1, NULL, &arena, &q, &err), &err);
    for (size_t j = 0; j < K; j++) {
        double z[K] = {0};
        for (size_t i = 0; i < N; i++)
            for (size_t l = 0; l < K; l++)
                z[l] += y[i * K + l] * h[i * K + j];
        must(ur_neurons_try(&q, z, &grew, &err), &err);
        assert_int_equal(grew, 1);
        must(ur_neurons_try(&q, z, &grew, &err), &err); /* the same again is none */
        assert_int_equal(grew, 0);
    }
    /* off by 3e-8, as rounding would have it, it is none either */
    double near[K] = {q.z[0] - 3e-8 * q.z[1], q.z[1] + 3e-8 * q.z[0]};
    q.found = q.basis.count = 1;
    must(ur_neurons_try(&q, near, &grew, &err), &err);
    assert_int_equal(grew, 0);
}

/* inputs on one side of the kink that span a direction by 3e-8 determine v, by 3e-10 they do not */
static void a_direction_that_inputs_hardly_have_is_not_determined(void **state)
{
    enum { N = 40 };
    (void)state;
    static const double width[] = {3e-8, 3e-10};
    for (int c = 0; c < 2; c++) {
        UR_ARENA(arena);
        double x[N * 2], y[N], one = 1;
        ur_frame frame = {.n = N, .p = 2, .q = 2, .d = 2, .m = 1, .x = x};
        ur_neurons q;
        unrelu_error err = {0};
        int grew;
        ur_random_normals(1, 8, 0, N * 2, x);
        for (size_t i = 0; i < N; i++) {
            x[2 * i + 1] *= width[c];
            y[i] = fmax(0, x[2 * i]);
        }
        must(ur_neurons_open(&frame, y, 1, 1e-9, 10, 1, NULL, &arena, &q, &err), &err);
        must(ur_neurons_try(&q, &one, &grew, &err), &err);
        assert_int_equal(grew, 1);
        assert_int_equal(q.unique[0], c == 0);
    }
}

static void planes_give_the_planted_neurons(void **state)
{
    (void)state;
    opened s = open_planted(6, 5, 5, 200, 5);
    ur_planes planes = {.rows = s.neurons.rows,
                        .k = 5,
                        .Y = s.neurons.Y,
                        .tolerance = 1e-7,
                        .seed = 9,
                        .stride = 5};
    double found[UR_PLANES_HITS * 5], z[5];
    size_t hits = 0, good = 0;
    uint64_t used = 0;
    unrelu_error err = {0};
    must(ur_planes_search(&planes, 0, 1000, NULL, found, &hits, &used, &err), &err);
    assert_true(hits > 0 && used <= 1000);
    for (size_t h = 0; h < hits; h++)
        for (size_t j = 0; j < 5; j++) {
            double inner = 0, size = 0;
            true_z(&s, j, z);
            for (size_t l = 0; l < 5; l++) {
                inner += z[l] * found[h * 5 + l];
                size += z[l] * z[l];
            }
            good += inner / sqrt(size) > 1 - 1e-12;
        }
    assert_int_equal(good, hits);
    planes.known = found; /* what is known is not given again */
    planes.count = hits;
    double more[UR_PLANES_HITS * 5];
    size_t others = 0;
    must(ur_planes_search(&planes, 0, 1000, NULL, more, &others, &used, &err), &err);
    for (size_t h = 0; h < others; h++)
        for (size_t l = 0; l < hits; l++) {
            double inner = 0;
            for (size_t g = 0; g < 5; g++)
                inner += more[h * 5 + g] * found[l * 5 + g];
            assert_true(inner < 1 - 1e-9);
        }
    opened_free(&s);
}

/* ten tolerances: a hit that is off a known one by 1e-5 is another, by 1e-7 it is the same */
static void hits_are_known_to_six_digits(void **state)
{
    (void)state;
    static const double off[] = {1e-5, 1e-7};
    opened s = open_planted(6, 5, 5, 200, 5);
    double found[UR_PLANES_HITS * 5], more[UR_PLANES_HITS * 5], known[5];
    size_t hits = 0, others = 0;
    uint64_t used = 0;
    unrelu_error err = {0};
    ur_planes planes = {.rows = s.neurons.rows,
                        .k = 5,
                        .Y = s.neurons.Y,
                        .tolerance = 1e-7,
                        .seed = 9,
                        .stride = 5};
    must(ur_planes_search(&planes, 0, 1000, NULL, found, &hits, &used, &err), &err);
    assert_true(hits > 0);
    planes.known = known;
    planes.count = 1;
    for (size_t c = 0; c < 2; c++) {
        size_t again = 0;
        for (size_t l = 0; l < 5; l++)
            known[l] = found[l] + (l == 2 ? off[c] : 0);
        must(ur_planes_search(&planes, 0, 1000, NULL, more, &others, &used, &err), &err);
        for (size_t h = 0; h < others; h++) {
            double far = 0;
            for (size_t l = 0; l < 5; l++)
                far = fmax(far, fabs(more[h * 5 + l] - found[l]));
            again += far < 1e-9;
        }
        assert_int_equal(again, c == 0);
    }
    opened_free(&s);
}

/* each of the three ways alone finds what is there */
static void every_way_finds_all_by_itself(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        opened s = open_planted(10, 8, 9, 1000, 6);
        unrelu_error err = {0};
        int spanned = 0;
        must(way == 0   ? ur_sample_neurons(&s.neurons, ur_sample_trials(s.neurons.k), &err)
             : way == 1 ? ur_nested_neurons(&s.neurons, ur_sample_trials(s.neurons.k), &err)
                        : ur_ray_neurons(&s.neurons, &spanned, &err),
             &err);
        assert_int_equal(s.neurons.found, 8);
        assert_int_equal(spanned, 0);
        opened_free(&s);
    }
}

static void print_labels(size_t n, double *a, const char *format, double size)
{
    for (size_t i = 0; i < n; i++) {
        char text[32];
        snprintf(text, sizeof text, format, size * a[i]);
        a[i] = strtod(text, NULL);
    }
}

/* six digits of labels near 1e12: integers by their look */
static void rounded_labels_that_look_like_integers_prove_nothing(void **state)
{
    (void)state;
    unrelu_recover_options o = by_enumeration();
    for (uint64_t seed = 1; seed <= 5; seed++) {
        planted_network p = plant_network(4, 2, 3, 200, 0, seed);
        print_labels(p.n * p.m, p.a, "%.6g", 1e12);
        for (size_t i = 0; i < p.n * p.m; i++)
            assert_true(p.a[i] == rint(p.a[i]) || fabs(p.a[i]) < 1e6);
        unrelu_network *model = recover(&p, &o);
        assert_false(model->proof);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
}

/* ---- tolerances, each from both sides ---- */

/* whether it is a proof that no network of k neurons gives two functions, or noise, of which the
 * labels have the second at size `weak` */
static int is_proved(double weak, int noise, size_t k)
{
    enum { N = 40, D = 3 };
    double x[N * D], a[N * 2], g[N * 2];
    unrelu_recover_options o = by_enumeration();
    o.k = k;
    ur_random_normals(1, 8, 0, N * D, x);
    ur_random_normals(1, 9, 0, N * 2, g);
    for (size_t i = 0; i < N; i++) {
        double first = noise ? g[2 * i] : fmax(0, x[i * D] + .5 * x[i * D + 1]);
        double second = noise ? g[2 * i + 1] : fmax(0, x[i * D + 2] - .3 * x[i * D]);
        a[2 * i] = first;
        a[2 * i + 1] = first + weak * second;
    }
    unrelu_network *model = enumerate(x, a, N, D, 2, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_FAILED);
    int proof = model->proof;
    unrelu_network_free(model);
    return proof;
}

/* labels of rank 2 are no network of one neuron: a second direction of 1e-8 of the first is a
 * proof, one of 4e-10, within ten times the tolerance of the rank, is none */
static void a_direction_near_the_tolerance_of_the_rank_proves_nothing(void **state)
{
    (void)state;
    assert_true(is_proved(2e-8, 0, 1));
    assert_false(is_proved(6e-10, 0, 1));
}

/* noise is no network: labels of condition 5e3 prove it; in those of 4e5 the last digit of a label
 * is a 1e-10th, and what counts as 0 is not a hundred times that */
static void labels_too_ill_conditioned_for_their_digits_prove_nothing(void **state)
{
    (void)state;
    assert_true(is_proved(3e-4, 1, 0));
    assert_false(is_proved(4e-6, 1, 0));
}

/* Noise of this size as a file would have it. Small integers are exact; large ones, and decimals,
 * may have been rounded, and then what counts as 0 is no more than 20 times that. */
static int is_printed_noise_disproved(const char *format, double size)
{
    enum { N = 40, D = 3 };
    double x[N * D], a[N * 2];
    unrelu_recover_options o = by_enumeration();
    ur_random_normals(1, 8, 0, N * D, x);
    ur_random_normals(1, 9, 0, N * 2, a);
    print_labels(N * 2, a, format, size);
    unrelu_network *model = enumerate(x, a, N, D, 2, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_FAILED);
    int proof = model->proof;
    unrelu_network_free(model);
    return proof;
}

static void only_integers_up_to_a_million_are_exact_labels(void **state)
{
    (void)state;
    assert_true(is_printed_noise_disproved("%.0f", 1e5));
    assert_false(is_printed_noise_disproved("%.0f", 1e7));
    assert_false(is_printed_noise_disproved("%.9g", 1));
}

static void neurons_of_rounded_labels_vanish_to_their_digits(void **state)
{
    (void)state;
    unrelu_recover_options o = by_enumeration();
    for (int digits = 6; digits <= 8; digits += 2) {
        planted_network p = plant_network(4, 3, 4, 200, 0, 1);
        print_labels(p.n * p.m, p.a, digits == 6 ? "%.6g" : "%.8g", 1);
        unrelu_network *model = recover(&p, &o);
        assert_int_equal(model->verdict, UNRELU_VERDICT_EXACT);
        assert_int_equal(model->k, 3);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
}

/* Neuron z = e_1 vanishes on rows that have a second direction by `width` only; z comes with an
 * error along it. */
static int is_refined(double width)
{
    enum { N = 90, D = 3 };
    UR_ARENA(arena);
    double x[N * D], y[N * D], z[D] = {1, 0, 3e-5};
    ur_frame frame = {.n = N, .p = D, .q = D, .d = D, .m = D, .x = x};
    ur_neurons q;
    unrelu_error err = {0};
    int grew;
    ur_random_normals(1, 8, 0, N * D, x);
    for (size_t i = 0; i < N; i++) {
        if (x[i * D] < 0) {
            x[i * D + 1] = fabs(x[i * D + 1]);
            x[i * D + 2] *= width;
        }
        for (size_t j = 0; j < D; j++)
            y[i * D + j] = fmax(0, x[i * D + j]);
    }
    must(ur_neurons_open(&frame, y, D, 1e-9, 10, 1, NULL, &arena, &q, &err), &err);
    must(ur_neurons_try(&q, z, &grew, &err), &err);
    return grew;
}

/* zeros that span their hyperplane by 1e-5 give z back, by 1e-7 they do not */
static void zeros_that_span_a_hyperplane_make_a_candidate_exact(void **state)
{
    (void)state;
    assert_true(is_refined(1e-5));
    assert_false(is_refined(1e-7));
}

static int is_met(double off)
{
    enum { N = 40, D = 2 };
    UR_ARENA(arena);
    double x[N * D], y[N], one = 1;
    ur_frame frame = {.n = N, .p = D, .q = D, .d = D, .m = 1, .x = x};
    ur_neurons q;
    unrelu_error err = {0};
    int grew;
    ur_random_normals(1, 8, 0, N * D, x);
    for (size_t i = 0; i < N; i++)
        y[i] = fmax(0, x[i * D]) * (i % 7 == 3 ? 1 + off : 1);
    must(ur_neurons_open(&frame, y, 1, 1e-9, 10, 1, NULL, &arena, &q, &err), &err);
    must(ur_neurons_try(&q, &one, &grew, &err), &err);
    return grew;
}

/* labels that are off by three tolerances are met, by a hundred they are not */
static void a_neuron_meets_its_labels_to_ten_tolerances(void **state)
{
    (void)state;
    assert_true(is_met(3e-9));
    assert_false(is_met(1e-7));
}

/* a z that is off by 6e-8 is one that is known to a few digits, off by 3e-6 it is none */
static void a_rough_candidate_is_known_to_a_hundred_tolerances(void **state)
{
    (void)state;
    static const double off[] = {6e-8, 3e-6};
    for (size_t c = 0; c < 2; c++) {
        opened s = open_planted(6, 4, 5, 80, 5);
        double z[4], size = 0;
        unrelu_error err = {0};
        int grew;
        true_z(&s, 1, z);
        for (size_t l = 0; l < 4; l++)
            size = hypot(size, z[l]);
        z[2] += off[c] * size;
        must(ur_neurons_try(&s.neurons, z, &grew, &err), &err);
        assert_int_equal(grew, 0);
        must(ur_neurons_try_rough(&s.neurons, z, &grew, &err), &err);
        assert_int_equal(grew, c == 0);
        opened_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_networks_come_back),
        cmocka_unit_test(labels_of_few_decimals_come_back),
        cmocka_unit_test(lemma_4_is_computed_and_told),
        cmocka_unit_test(nested_sampling_and_programmes_find_many_neurons),
        cmocka_unit_test(repeated_scaled_and_zero_rows_change_nothing),
        cmocka_unit_test(small_integers_are_met),
        cmocka_unit_test(badly_conditioned_networks_are_found_and_never_proved_away),
        cmocka_unit_test(biases_come_back),
        cmocka_unit_test(labels_of_rank_below_k_are_refused_with_the_way_out),
        cmocka_unit_test(labels_of_rank_above_k_prove_that_none_fits),
        cmocka_unit_test(one_neuron_is_disproved_where_algebra_does),
        cmocka_unit_test(noisy_labels_are_disproved),
        cmocka_unit_test(a_small_budget_says_how_far_it_came),
        cmocka_unit_test(too_few_samples_are_met_and_called_not_unique),
        cmocka_unit_test(the_search_can_be_cancelled),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(only_neurons_are_taken_each_once),
        cmocka_unit_test(rows_are_kept_once_a_direction),
        cmocka_unit_test(rows_are_told_apart_to_ten_digits_and_from_zeros_to_twelve),
        cmocka_unit_test(neurons_that_nearly_agree_are_two),
        cmocka_unit_test(a_direction_that_inputs_hardly_have_is_not_determined),
        cmocka_unit_test(planes_give_the_planted_neurons),
        cmocka_unit_test(hits_are_known_to_six_digits),
        cmocka_unit_test(every_way_finds_all_by_itself),
        cmocka_unit_test(rounded_labels_that_look_like_integers_prove_nothing),
        cmocka_unit_test(only_integers_up_to_a_million_are_exact_labels),
        cmocka_unit_test(neurons_of_rounded_labels_vanish_to_their_digits),
        cmocka_unit_test(a_direction_near_the_tolerance_of_the_rank_proves_nothing),
        cmocka_unit_test(labels_too_ill_conditioned_for_their_digits_prove_nothing),
        cmocka_unit_test(zeros_that_span_a_hyperplane_make_a_candidate_exact),
        cmocka_unit_test(a_neuron_meets_its_labels_to_ten_tolerances),
        cmocka_unit_test(a_rough_candidate_is_known_to_a_hundred_tolerances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
