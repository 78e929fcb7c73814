/* SPDX-License-Identifier: Apache-2.0 */
/* What other languages call, with each of its allocations failing in turn: samples of any order in
 * memory, models and summaries as bytes, imputations and likelihoods in arrays. Nothing is handed
 * out where one fails, and the same comes as ever once none does. */
#include "allocations.h"
#include "mixtures.h"
#include "networks.h"

enum { N = 60, D = 3, DRAWS = 2 };

static struct {
    unrelu_gaussian *truth, *learned;
    unrelu_impute_options options;
    float narrow[N * D];
    double low[N * D], high[N * D]; /* intervals of the cells */
} w;

/* ---- samples ---- */

static unrelu_status open_intervals(unrelu_source **out, unrelu_error *err)
{
    static const char *const names[] = {"a", "b", "c"};
    const ptrdiff_t item = sizeof(double);
    const unrelu_matrix low = {w.low, UNRELU_DOUBLES, D * item, item};
    const unrelu_matrix high = {w.high, UNRELU_DOUBLES, D * item, item};
    unrelu_status status = unrelu_source_matrix(&low, &high, N, D, names, NULL, out, err);
    assert_int_equal(status == UNRELU_OK, *out != NULL);
    return status;
}

static unrelu_status fit_and_close(unrelu_source *source, unrelu_error *err)
{
    unrelu_exec exec = {.size = sizeof exec, .threads = 1};
    unrelu_gaussian *m = NULL;
    unrelu_status status = unrelu_gaussian_fit(source, NULL, &exec, &m, err);
    atomic_store(&countdown, 0);
    assert_int_equal(status == UNRELU_OK, m != NULL);
    unrelu_gaussian_free(m);
    unrelu_source_close(source);
    return status;
}

static unrelu_status fit_intervals(unrelu_error *err)
{
    unrelu_source *source = NULL;
    unrelu_status status = open_intervals(&source, err);
    return status == UNRELU_OK ? fit_and_close(source, err) : status;
}

/* floats, backwards, two columns of three by name */
static unrelu_status fit_converted(unrelu_error *err)
{
    static const char *const names[] = {"a", "b", "c"};
    const ptrdiff_t item = sizeof(float);
    const unrelu_matrix x = {w.narrow + N * D - 1, UNRELU_FLOATS, -D * item, -item};
    unrelu_source *source = NULL;
    unrelu_source_options options;
    unrelu_source_options_init(&options, sizeof options);
    options.columns = "c,a";
    unrelu_status status = unrelu_source_matrix(&x, NULL, N, D, names, &options, &source, err);
    assert_int_equal(status == UNRELU_OK, source != NULL);
    return status == UNRELU_OK ? fit_and_close(source, err) : status;
}

static void samples_in_memory_survive_a_failed_allocation(void **state)
{
    (void)state;
    exhaust(fit_intervals);
    exhaust(fit_converted);
}

/* ---- bytes ---- */

static unrelu_summary *summary;
static planted_network net;
static planted_mixture mix;

#define THERE_AND_BACK(kind, thing)                                                                \
    static unrelu_status kind##_there_and_back(unrelu_error *err)                                  \
    {                                                                                              \
        void *bytes = NULL;                                                                        \
        size_t size = 0;                                                                           \
        unrelu_##kind *again = NULL;                                                               \
        unrelu_status status = unrelu_##kind##_pack(thing, &bytes, &size, err);                    \
        assert_int_equal(status == UNRELU_OK, bytes != NULL);                                      \
        if (status == UNRELU_OK) {                                                                 \
            status = unrelu_##kind##_unpack(bytes, size, &again, err);                             \
            assert_int_equal(status == UNRELU_OK, again != NULL);                                  \
        }                                                                                          \
        unrelu_##kind##_free(again);                                                               \
        unrelu_free(bytes);                                                                        \
        return status;                                                                             \
    }
THERE_AND_BACK(gaussian, w.learned)
THERE_AND_BACK(summary, summary)
THERE_AND_BACK(network, net.truth)
THERE_AND_BACK(mixture, mix.truth)

static void bytes_survive_a_failed_allocation(void **state)
{
    (void)state;
    unrelu_error err = {0};
    unrelu_source *source = NULL;
    double *x = draw(w.truth, N, 2);
    must(unrelu_source_memory(x, N, D, NULL, &source, &err), &err);
    must(unrelu_summary_collect(source, NULL, 10, NULL, &summary, &err), &err);
    unrelu_source_close(source);
    free(x);
    net = plant_network(3, 2, 2, 10, 0, 1);
    mix = plant_mixture(4, 2, 0, 10, 0, 0, 1);
    exhaust(gaussian_there_and_back);
    exhaust(summary_there_and_back);
    exhaust(network_there_and_back);
    exhaust(mixture_there_and_back);
    unrelu_summary_free(summary);
    planted_network_free(&net);
    planted_mixture_free(&mix);
}

/* ---- answers ---- */

typedef unrelu_status (*question)(unrelu_source *, const unrelu_exec *, double *, unrelu_error *);

static struct {
    question run;
    size_t count;
    double wanted[DRAWS * N * D]; /* where nothing fails */
} q;

static unrelu_status ask(double *answer, unrelu_error *err)
{
    unrelu_exec exec = {.size = sizeof exec, .threads = 1};
    unrelu_source *source = NULL;
    unrelu_status status = open_intervals(&source, err);
    if (status == UNRELU_OK)
        status = q.run(source, &exec, answer, err);
    atomic_store(&countdown, 0);
    unrelu_source_close(source);
    return status;
}

static unrelu_status ask_again(unrelu_error *err)
{
    double got[DRAWS * N * D];
    unrelu_status status = ask(got, err);
    if (atomic_load(&failed)) /* none can be done without */
        assert_int_equal(status, UNRELU_ENOMEM);
    else
        assert_memory_equal(got, q.wanted, q.count * sizeof *got);
    return status;
}

static void exhaust_question(question run, size_t count)
{
    unrelu_error err = {0};
    q.run = run;
    q.count = count;
    must(ask(q.wanted, &err), &err);
    exhaust(ask_again);
}

static unrelu_status impute(unrelu_source *source, const unrelu_exec *exec, double *x,
                            unrelu_error *err)
{
    return unrelu_gaussian_impute_memory(w.learned, source, &w.options, x, exec, NULL, err);
}

static unrelu_status score(unrelu_source *source, const unrelu_exec *exec, double *loglik,
                           unrelu_error *err)
{
    return unrelu_gaussian_score(w.learned, source, NULL, exec, loglik, NULL, err);
}

static void answers_in_memory_survive_a_failed_allocation(void **state)
{
    (void)state;
    unrelu_impute_options_init(&w.options, sizeof w.options);
    exhaust_question(impute, N * D);
    w.options.draws = DRAWS;
    exhaust_question(impute, DRAWS * N * D);
    exhaust_question(score, N);
}

/* ---- */

/* values, limits below and above, intervals, holes; a row of which all is hidden */
static void make_intervals(void)
{
    double *x = draw(w.truth, N, 1);
    for (size_t c = 0; c < N * D; c++) {
        w.narrow[c] = (float)x[c];
        w.low[c] = x[c] > 0 ? x[c] : -INFINITY;
        w.high[c] = x[c];
        if (c % 11 == 3)
            w.low[c] = w.high[c] = NAN;
        else if (c % 7 == 2)
            w.high[c] = x[c] + 1;
        else if (c % 13 == 4)
            w.high[c] = x[c] > 0 ? INFINITY : x[c];
    }
    for (size_t c = 0; c < D; c++) {
        w.low[c] = -INFINITY;
        w.high[c] = 0;
    }
    free(x);
}

static int make_world(void **state)
{
    (void)state;
    unrelu_gaussian_plant_options o;
    unrelu_source *source = NULL;
    unrelu_error err = {0};
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    o.d = D;
    o.kappa = 2;
    o.bias = 1;
    w.truth = plant(o);
    make_intervals();
    must(open_intervals(&source, &err), &err);
    must(unrelu_gaussian_fit(source, NULL, NULL, &w.learned, &err), &err);
    unrelu_source_close(source);
    return 0;
}

static int free_world(void **state)
{
    (void)state;
    unrelu_gaussian_free(w.truth);
    unrelu_gaussian_free(w.learned);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_in_memory_survive_a_failed_allocation),
        cmocka_unit_test(bytes_survive_a_failed_allocation),
        cmocka_unit_test(answers_in_memory_survive_a_failed_allocation),
    };
    return cmocka_run_group_tests(tests, make_world, free_world);
}
