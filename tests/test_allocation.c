/* SPDX-License-Identifier: Apache-2.0 */
/* Every public entry point with each of its allocations failing in turn: ENOMEM (or EIO from a
 * library that hides it), outputs zeroed, nothing leaked, and success once none fails. Leaks
 * are the sanitizer build's to find. */
#include "allocations.h"
#include "mixtures.h"
#include "networks.h"

#include <unistd.h>

/* ---- the world of one test ---- */

enum { N = 400, D = 3 };

static struct {
    char directory[64], npy[96], csv[96], npz[128], model[96], summary[96], out[96];
    unrelu_gaussian *truth, *learned;
    unrelu_gaussian_options options;
    double *x;
} w;

static unrelu_status fit_file(const char *path, unrelu_error *err)
{
    unrelu_source *source = NULL;
    unrelu_gaussian *m = NULL;
    unrelu_exec exec = {.size = sizeof exec, .threads = 1};
    unrelu_status status = unrelu_source_open(path, NULL, &source, err);
    if (status == UNRELU_OK)
        status = unrelu_gaussian_fit(source, &w.options, &exec, &m, err);
    if (status != UNRELU_OK)
        assert_null(m);
    unrelu_gaussian_free(m);
    unrelu_source_close(source);
    return status;
}

static unrelu_status fit_npy(unrelu_error *err)
{
    return fit_file(w.npy, err);
}
static unrelu_status fit_csv(unrelu_error *err)
{
    return fit_file(w.csv, err);
}
static unrelu_status fit_npz(unrelu_error *err) /* one array of several */
{
    return fit_file(w.npz, err);
}

static unrelu_status fit_memory_two_threads(unrelu_error *err)
{
    unrelu_source *source = NULL;
    unrelu_gaussian *m = NULL;
    unrelu_exec exec = {.size = sizeof exec, .threads = 2};
    unrelu_status status = unrelu_source_memory(w.x, N, D, NULL, &source, err);
    if (status == UNRELU_OK)
        status = unrelu_gaussian_fit(source, &w.options, &exec, &m, err);
    unrelu_gaussian_free(m);
    unrelu_source_close(source);
    return status;
}

static unrelu_status summarise(unrelu_error *err)
{
    unrelu_source *source = NULL;
    unrelu_summary *a = NULL, *b = NULL;
    unrelu_gaussian *m = NULL;
    unrelu_exec exec = {.size = sizeof exec, .threads = 1};
    unrelu_status status = unrelu_source_open(w.npy, NULL, &source, err);
    if (status == UNRELU_OK)
        status = unrelu_summary_collect(source, NULL, 10, &exec, &a, err);
    if (status == UNRELU_OK)
        status = unrelu_summary_save(a, w.summary, err);
    if (status == UNRELU_OK)
        status = unrelu_summary_load(w.summary, &b, err);
    if (status == UNRELU_OK)
        status = unrelu_summary_merge(a, b, err);
    if (status == UNRELU_OK)
        status = unrelu_gaussian_fit_summary(a, NULL, &exec, &m, err);
    unrelu_gaussian_free(m);
    unrelu_summary_free(a);
    unrelu_summary_free(b);
    unrelu_source_close(source);
    return status;
}

static unrelu_status save_and_load(unrelu_error *err)
{
    unrelu_gaussian *m = NULL;
    char kind[32];
    unrelu_status status = unrelu_gaussian_save(w.learned, w.model, err);
    if (status == UNRELU_OK)
        status = unrelu_gaussian_load(w.model, &m, err);
    if (status == UNRELU_OK)
        status = unrelu_file_kind(w.model, kind, sizeof kind, err);
    unrelu_gaussian_free(m);
    return status;
}

static unrelu_status plant_sample_compare(unrelu_error *err)
{
    unrelu_gaussian_plant_options o;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    unrelu_gaussian *m = NULL;
    unrelu_gaussian_distance far;
    unrelu_sampler *sampler = NULL;
    double x[3 * 5];
    unrelu_exec exec = {.size = sizeof exec, .threads = 1};
    unrelu_status status = unrelu_gaussian_plant(&o, &m, err);
    if (status == UNRELU_OK)
        status = unrelu_gaussian_sampler(m, 1, &sampler, err);
    if (status == UNRELU_OK)
        status = unrelu_sampler_draw(sampler, 0, 3, &exec, x, err);
    if (status == UNRELU_OK)
        status = unrelu_gaussian_compare(m, m, &far, err);
    if (status == UNRELU_OK)
        status = unrelu_gaussian_eigenvalues(m, x, err);
    unrelu_sampler_free(sampler);
    unrelu_gaussian_free(m);
    return status;
}

static unrelu_status write_samples(unrelu_error *err)
{
    unrelu_sink *sink = NULL;
    unrelu_status status = unrelu_sink_open(w.out, N, D, w.truth->names, &sink, err);
    if (status == UNRELU_OK)
        status = unrelu_sink_write(sink, w.x, N, err);
    if (status == UNRELU_OK)
        return unrelu_sink_commit(sink, err);
    unrelu_sink_abort(sink);
    return status;
}

static void every_public_function_survives_a_failed_allocation(void **state)
{
    (void)state;
    exhaust(write_samples);
    exhaust(save_and_load);
    exhaust(plant_sample_compare);
    exhaust(summarise);
}

static void every_method_of_fit_survives_a_failed_allocation(void **state)
{
    (void)state;
    unrelu_gaussian_options_init(&w.options, sizeof w.options);
    exhaust(fit_npy);
    exhaust(fit_csv);
    exhaust(fit_npz);
    exhaust(fit_memory_two_threads);
    w.options.norms = UNRELU_NORMS_TRUNCATED;
    w.x[0] = NAN;
    exhaust(fit_memory_two_threads);
    w.x[0] = 0;
    w.options.norms = UNRELU_NORMS_CENSORED;
    w.options.rank = 2;
    exhaust(fit_npy);
    w.options.rank = 0;
    w.options.robust = 1;
    w.options.additive_noise = UNRELU_NOISE_AUTO;
    exhaust(fit_npy);
    unrelu_gaussian_options_init(&w.options, sizeof w.options);
    w.options.norms = UNRELU_NORMS_MEDIAN;
    w.options.angles = UNRELU_ANGLES_SIGNS;
    exhaust(fit_npy);
    w.options.norms = UNRELU_NORMS_SGD;
    w.options.literal = 1;
    exhaust(fit_npy);
}

/* ---- networks ---- */

static struct {
    planted_network planted;
    unrelu_recover_options options;
    int threads;
    unrelu_verdict verdict; /* where nothing fails */
    double error;           /* of V, at most */
} net;

static unrelu_status recover_network(unrelu_error *err)
{
    const planted_network *p = &net.planted;
    unrelu_exec exec = {.size = sizeof exec, .threads = net.threads};
    unrelu_network *model;
    unrelu_status status =
        try_recover(p->x, p->a, p->n, p->d, p->m, &net.options, &exec, &model, err);
    atomic_store(&countdown, 0);
    if (atomic_load(&failed)) { /* none can be done without */
        assert_int_equal(status, UNRELU_ENOMEM);
        assert_null(model);
        return status;
    }
    must(status, err);
    assert_int_equal(model->verdict, net.verdict);
    if (net.error < INFINITY)
        assert_near(error_of_V(p->truth, model), 0, net.error);
    unrelu_network_free(model);
    return status;
}

static void begin_network(size_t n, double noise, double bias)
{
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = 4;
    o.k = 2;
    o.m = 3;
    o.kappa_v = 1;
    o.noise = noise;
    o.bias = bias;
    o.seed = 5;
    net.planted = plant_network_with(o, n);
    unrelu_recover_options_init(&net.options, sizeof net.options);
    net.options.k = 2;
    net.threads = 1;
    net.verdict = noise > 0 ? UNRELU_VERDICT_NOISY : UNRELU_VERDICT_EXACT;
    net.error = noise > 0 ? 1 : 1e-9;
}

static void relabel(void)
{
    planted_network *p = &net.planted;
    unrelu_error err = {0};
    must(unrelu_network_predict(p->truth, p->x, p->n, NULL, p->a, &err), &err);
}

static void an_exact_recovery_survives_a_failed_allocation(void **state)
{
    (void)state;
    begin_network(60, 0, 0);
    exhaust(recover_network);
    net.threads = 2;
    exhaust(recover_network);
    planted_network_free(&net.planted);
    begin_network(200, 0, .5); /* without biases first, then with them; a hold-out */
    net.options.k = 0;
    exhaust_by(recover_network, 1000, 7);
    planted_network_free(&net.planted);
    begin_network(200, 0, 0); /* coinciding neurons, with a warning */
    memcpy(net.planted.truth->V + 4, net.planted.truth->V, 4 * sizeof(double));
    relabel();
    net.error = INFINITY;
    exhaust(recover_network);
    planted_network_free(&net.planted);
}

/* v, -v with u, -u: what is linear in x */
static void a_recovery_with_a_linear_part_survives_a_failed_allocation(void **state)
{
    (void)state;
    begin_network(200, 0, 0);
    unrelu_network *truth = net.planted.truth;
    for (size_t j = 0; j < 4; j++)
        truth->V[4 + j] = -truth->V[j];
    for (size_t j = 0; j < 3; j++)
        truth->U[j * 2 + 1] = -truth->U[j * 2];
    relabel();
    net.verdict = UNRELU_VERDICT_UNCERTIFIED;
    exhaust_by(recover_network, 400, 11);
    planted_network_free(&net.planted);
}

static void a_noisy_recovery_survives_a_failed_allocation(void **state)
{
    (void)state;
    begin_network(80, .1, 0);
    net.options.labels = UNRELU_LABELS_NOISY;
    net.options.biases = UNRELU_BIASES_NONE;
    exhaust_by(recover_network, 60, 53);
    net.options.biases = UNRELU_BIASES_AUTO;
    net.options.labels = UNRELU_LABELS_AUTO;
    net.options.k = 0;
    net.error = INFINITY;
    exhaust_by(recover_network, 60, 311);
    net.options.labels = UNRELU_LABELS_NOISELESS; /* no network, a sentence */
    net.options.k = 2;
    net.verdict = UNRELU_VERDICT_FAILED;
    exhaust_by(recover_network, 60, 311);
    planted_network_free(&net.planted);
}

static void a_robust_recovery_survives_a_failed_allocation(void **state)
{
    (void)state;
    begin_network(80, .1, 0);
    net.options.robust = 1;
    net.options.labels = UNRELU_LABELS_NOISY;
    net.options.biases = UNRELU_BIASES_NONE;
    exhaust_by(recover_network, 200, 53);
    net.options.k = 0;
    net.error = INFINITY;
    exhaust_by(recover_network, 1, 997);
    planted_network_free(&net.planted);
}

/* labels that are a function and of no network of two neurons: a fit to most rows beside it */
static void an_approximate_recovery_survives_a_failed_allocation(void **state)
{
    (void)state;
    begin_network(80, 0, 0);
    planted_network *p = &net.planted;
    for (size_t i = 0; i < p->n * p->m; i++)
        p->a[i] = sin(2 * p->x[i / p->m * p->d] + (double)(i % p->m));
    net.options.labels = UNRELU_LABELS_NOISY;
    net.options.biases = UNRELU_BIASES_BOTH;
    net.verdict = UNRELU_VERDICT_APPROXIMATE;
    net.error = INFINITY;
    exhaust_by(recover_network, 60, 53);
    planted_network_free(p);
}

static unrelu_status plan_samples(unrelu_error *err)
{
    static const unrelu_plan_model models[] = {UNRELU_PLAN_GAUSSIAN, UNRELU_PLAN_NETWORK,
                                               UNRELU_PLAN_MIXTURE};
    unrelu_status status = UNRELU_OK;
    for (size_t i = 0; status == UNRELU_OK && i < sizeof models / sizeof *models; i++) {
        unrelu_plan_options o;
        unrelu_plan *plan = NULL;
        unrelu_plan_options_init(&o, sizeof o);
        o.model = models[i];
        o.d = 5;
        o.k = 3;
        o.p = 3;
        o.error = .1;
        o.kappa = 4;
        o.b_count = 2; /* bounds for b >= 0 give a reason, which is a text */
        o.b[0] = -1;
        o.b[1] = .5;
        status = unrelu_plan_make(&o, &plan, err);
        if (status == UNRELU_OK)
            assert_non_null(unrelu_plan_bound_at(plan, 0));
        else
            assert_null(plan);
        unrelu_plan_free(plan);
    }
    return status;
}

static void a_plan_survives_a_failed_allocation(void **state)
{
    (void)state;
    exhaust(plan_samples);
}

static void every_method_of_recovery_survives_a_failed_allocation(void **state)
{
    (void)state;
    static const unrelu_recover_method methods[] = {
        UNRELU_RECOVER_MOMENTS,   UNRELU_RECOVER_ICA,    UNRELU_RECOVER_TENSOR,
        UNRELU_RECOVER_SYMMETRIC, UNRELU_RECOVER_LIFTED, UNRELU_RECOVER_FACETS};
    begin_network(300, 0, 0);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        net.options.method = methods[i];
        exhaust_by(recover_network, 500, 7);
    }
    net.options.exactify = UNRELU_EXACTIFY_SYSTEMS;
    net.options.method = UNRELU_RECOVER_LIFTED;
    exhaust_by(recover_network, 500, 7);
    net.options.exactify = UNRELU_EXACTIFY_NONE;
    net.options.method = UNRELU_RECOVER_TENSOR;
    net.verdict = UNRELU_VERDICT_NOISY;
    net.error = 1;
    exhaust_by(recover_network, 500, 7);
    planted_network_free(&net.planted);
}

/* ---- mixtures ---- */

static struct {
    planted_mixture planted;
    unrelu_unmix_options options;
    int threads;
    unrelu_verdict verdict; /* where nothing fails */
    unrelu_status status;
} mix;

static unrelu_status unmix_samples(unrelu_error *err)
{
    const planted_mixture *p = &mix.planted;
    unrelu_exec exec = {.size = sizeof exec, .threads = mix.threads};
    unrelu_mixture *model;
    unrelu_status status = try_unmix(p->x, p->n, p->truth->d, &mix.options, &exec, &model, err);
    atomic_store(&countdown, 0);
    skip_what_is_left_out(err);
    if (status != UNRELU_OK)
        assert_null(model);
    if (atomic_load(&failed)) { /* none can be done without */
        assert_int_equal(status, UNRELU_ENOMEM);
        return status;
    }
    assert_int_equal(status, mix.status);
    if (status == UNRELU_OK)
        assert_int_equal(model->verdict, mix.verdict);
    unrelu_mixture_free(model);
    return UNRELU_OK;
}

static void begin_mixture(size_t d, size_t p, size_t k, size_t n, double noise, uint64_t seed)
{
    mix.planted = plant_mixture(d, p, k, n, 0, noise, seed);
    unrelu_unmix_options_init(&mix.options, sizeof mix.options);
    mix.threads = 1;
    mix.verdict = noise > 0 ? UNRELU_VERDICT_NOISY : UNRELU_VERDICT_EXACT;
    mix.status = UNRELU_OK;
}

static void an_exact_unmixing_survives_a_failed_allocation(void **state)
{
    (void)state;
    begin_mixture(5, 3, 0, 90, 0, 1);
    exhaust_by(unmix_samples, 150, 11);
    mix.threads = 2;
    exhaust_by(unmix_samples, 50, 29);
    planted_mixture_free(&mix.planted);
    begin_mixture(5, 3, 2, 200, 0, 2); /* more facets than units */
    mix.verdict = UNRELU_VERDICT_AMBIGUOUS;
    exhaust_by(unmix_samples, 150, 11);
    planted_mixture_free(&mix.planted);
    begin_mixture(5, 3, 2, 200, 0, 3); /* one that is no unit, by its ridges */
    mix.verdict = UNRELU_VERDICT_AMBIGUOUS;
    exhaust_by(unmix_samples, 50, 29);
    planted_mixture_free(&mix.planted);
    begin_mixture(6, 4, 0, 14, 0, 1); /* too few samples: a sentence */
    mix.status = UNRELU_EDATA;
    exhaust_by(unmix_samples, 50, 29);
    planted_mixture_free(&mix.planted);
}

static void a_noisy_unmixing_survives_a_failed_allocation(void **state)
{
    (void)state;
    begin_mixture(5, 3, 0, 90, .01, 1);
    exhaust_by(unmix_samples, 150, 11);
    planted_mixture_free(&mix.planted);
    begin_mixture(3, 3, 0, 90, 0, 1); /* without noise first, then with that of the rounding */
    for (size_t i = 0; i < 270; i++)
        mix.planted.x[i] = (double)(float)mix.planted.x[i];
    mix.verdict = UNRELU_VERDICT_NOISY;
    exhaust_by(unmix_samples, 50, 29);
    planted_mixture_free(&mix.planted);
}

static void a_separable_unmixing_survives_a_failed_allocation(void **state)
{
    (void)state;
    begin_mixture(5, 3, 0, 90, 0, 1);
    mix.options.method = UNRELU_UNMIX_SEPARABLE;
    exhaust_by(unmix_samples, 150, 11);
    planted_mixture_free(&mix.planted);
    begin_mixture(5, 3, 0, 200, 1e-3, 1);
    mix.options.method = UNRELU_UNMIX_SEPARABLE;
    exhaust_by(unmix_samples, 150, 11);
    planted_mixture_free(&mix.planted);
    begin_mixture(8, 6, 0, 120, 0, 1); /* not separable: a sentence that needs the facets */
    mix.options.method = UNRELU_UNMIX_SEPARABLE;
    mix.status = UNRELU_EDATA;
    exhaust_by(unmix_samples, 50, 29);
    planted_mixture_free(&mix.planted);
}

static unrelu_status plant_sample_compare_mixture(unrelu_error *err)
{
    unrelu_mixture_plant_options o;
    unrelu_mixture_plant_options_init(&o, sizeof o);
    unrelu_mixture *m = NULL;
    unrelu_mixture_distance far;
    unrelu_sampler *sampler = NULL;
    double x[3 * 10];
    unrelu_exec exec = {.size = sizeof exec, .threads = 1};
    o.noise = .1;
    unrelu_status status = unrelu_mixture_plant(&o, &m, err);
    if (status != UNRELU_OK)
        assert_null(m);
    if (status == UNRELU_OK)
        status = unrelu_mixture_sampler(m, 1, &sampler, err);
    if (status == UNRELU_OK)
        status = unrelu_sampler_draw(sampler, 0, 3, &exec, x, err);
    if (status == UNRELU_OK)
        status = unrelu_mixture_compare(m, m, &far, err);
    unrelu_sampler_free(sampler);
    unrelu_mixture_free(m);
    return status;
}

static unrelu_mixture *learned_mixture;

static unrelu_status save_and_load_mixture(unrelu_error *err)
{
    unrelu_mixture *m = NULL;
    char kind[32];
    unrelu_status status = unrelu_mixture_save(learned_mixture, w.model, err);
    if (status == UNRELU_OK)
        status = unrelu_mixture_load(w.model, &m, err);
    if (status != UNRELU_OK)
        assert_null(m);
    if (status == UNRELU_OK)
        status = unrelu_file_kind(w.model, kind, sizeof kind, err);
    unrelu_mixture_free(m);
    return status;
}

static void tools_of_mixtures_survive_a_failed_allocation(void **state)
{
    (void)state;
    exhaust(plant_sample_compare_mixture);
    begin_mixture(6, 3, 0, 200, .035, 2); /* with errors of A and a warning */
    learned_mixture = unmix(&mix.planted, NULL);
    assert_true(learned_mixture->warning_count > 0 && learned_mixture->A_se);
    exhaust(save_and_load_mixture);
    unrelu_mixture_free(learned_mixture);
    planted_mixture_free(&mix.planted);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(w.directory, sizeof w.directory, "/tmp/unrelu_allocation_XXXXXX");
    if (!mkdtemp(w.directory))
        return -1;
    const struct {
        char *path;
        const char *name;
    } names[] = {{w.npy, "x.npy"},
                 {w.csv, "x.csv"},
                 {w.model, "m.npz"},
                 {w.summary, "s.npz"},
                 {w.out, "y.csv"}};
    for (size_t i = 0; i < 5; i++)
        snprintf(names[i].path, sizeof w.npy, "%s/%s", w.directory, names[i].name);
    unrelu_gaussian_plant_options o;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    o.d = D;
    w.truth = plant(o);
    w.x = draw(w.truth, N, 3);
    unrelu_gaussian_options_init(&w.options, sizeof w.options);
    w.options.rank = 2;
    w.learned = fit(w.x, N, D, &w.options); /* with flags, warnings and W */
    unrelu_error saved = {0};
    snprintf(w.npz, sizeof w.npz, "%s/array.npz", w.directory);
    must(unrelu_gaussian_save(w.learned, w.npz, &saved), &saved);
    strcat(w.npz, ":observed");
    const char *files[] = {w.npy, w.csv};
    for (size_t i = 0; i < 2; i++) {
        unrelu_sink *sink = NULL;
        unrelu_error err = {0};
        must(unrelu_sink_open(files[i], N, D, w.truth->names, &sink, &err), &err);
        must(unrelu_sink_write(sink, w.x, N, &err), &err);
        must(unrelu_sink_commit(sink, &err), &err);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -r '%s'", w.directory);
    unrelu_gaussian_free(w.truth);
    unrelu_gaussian_free(w.learned);
    free(w.x);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_public_function_survives_a_failed_allocation),
        cmocka_unit_test(every_method_of_fit_survives_a_failed_allocation),
        cmocka_unit_test(an_exact_recovery_survives_a_failed_allocation),
        cmocka_unit_test(a_recovery_with_a_linear_part_survives_a_failed_allocation),
        cmocka_unit_test(a_noisy_recovery_survives_a_failed_allocation),
        cmocka_unit_test(a_robust_recovery_survives_a_failed_allocation),
        cmocka_unit_test(an_approximate_recovery_survives_a_failed_allocation),
        cmocka_unit_test(a_plan_survives_a_failed_allocation),
        cmocka_unit_test(every_method_of_recovery_survives_a_failed_allocation),
        cmocka_unit_test(an_exact_unmixing_survives_a_failed_allocation),
        cmocka_unit_test(a_noisy_unmixing_survives_a_failed_allocation),
        cmocka_unit_test(a_separable_unmixing_survives_a_failed_allocation),
        cmocka_unit_test(tools_of_mixtures_survive_a_failed_allocation),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
