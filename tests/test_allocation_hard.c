/* SPDX-License-Identifier: Apache-2.0 */
/* The hard cases with each allocation failing in turn: ENOMEM, nothing set, nothing leaked (the
 * sanitizer build's to find), and the same result as ever once none fails. */
#include "allocations.h"
#include "files.h"
#include "networks.h"

/* ---- formulas ---- */

static char cnf[512], npz[512], csv[512];

static unrelu_status formula_there_and_back(unrelu_error *err)
{
    static const int literals[] = {1, -2, 3};
    unrelu_hardness *h = NULL, *read = NULL;
    unrelu_source *source = NULL;
    double V[12], W[12], residual = -1;
    int back[3] = {0};
    unrelu_status status = unrelu_hardness_encode(cnf, 0, &h, err);
    if (status == UNRELU_OK)
        status = unrelu_hardness_save(h, npz, err);
    if (status == UNRELU_OK)
        status = unrelu_hardness_load(npz, &read, err);
    if (status == UNRELU_OK)
        status = unrelu_hardness_assign(read, literals, 3, V, err);
    if (status == UNRELU_OK)
        status = unrelu_source_open(csv, NULL, &source, err);
    if (status == UNRELU_OK)
        status = unrelu_hardness_read(read, source, W, err);
    if (status == UNRELU_OK)
        status = unrelu_hardness_residual(read, W, &residual, err);
    if (status == UNRELU_OK)
        status = unrelu_hardness_decode(read, W, back, err);
    atomic_store(&countdown, 0);
    if (status == UNRELU_OK) {
        assert_memory_equal(V, W, sizeof V);
        assert_true(residual == 0);
        assert_memory_equal(back, literals, sizeof back);
    }
    unrelu_source_close(source);
    unrelu_hardness_free(h);
    unrelu_hardness_free(read);
    return status;
}

static void formulas_survive_a_failed_allocation(void **state)
{
    (void)state;
    strcpy(cnf, files_text("f.cnf", "p cnf 3 4\n1 2 0 -1\n 3 0\n-2 -3 0 1 1 -2 0\n"));
    strcpy(csv, files_text("v.csv", "1,-1,1,-1,1,-0.5\n-1,1,-1,1,-0.5,1\n"));
    strcpy(npz, files_path("i.npz"));
    exhaust(formula_there_and_back);
}

/* ---- recoveries ---- */

static struct {
    planted_network planted;
    unrelu_recover_options options;
    unrelu_verdict verdict; /* where nothing fails */
    double error;           /* of V, at most */
    int rational;           /* 1: as fractions; -1: a warning why not */
    size_t asked, keep;     /* it is told to keep what it has at this question; 0: never */
} net;

static int keep_then(void *context)
{
    (void)context;
    return ++net.asked >= net.keep ? UNRELU_STOP_AND_KEEP : UNRELU_GO_ON;
}

static int is_warned(const unrelu_network *model, const char *code)
{
    int found = 0;
    for (size_t i = 0; i < model->warning_count; i++)
        found |= strcmp(model->warnings[i].code, code) == 0;
    return found;
}

static unrelu_status recover_network(unrelu_error *err)
{
    const planted_network *p = &net.planted;
    unrelu_exec exec = {.size = sizeof exec, .threads = 1};
    unrelu_network *model;
    net.asked = 0;
    exec.cancelled = net.keep > 0 ? keep_then : NULL;
    unrelu_status status =
        try_recover(p->x, p->a, p->n, p->d, p->m, &net.options, &exec, &model, err);
    atomic_store(&countdown, 0);
    if (atomic_load(&failed)) { /* none can be done without */
        assert_int_equal(status, UNRELU_ENOMEM);
        assert_null(model);
        return status;
    }
    must(status, err);
    if (model->verdict != net.verdict)
        fail_msg("the verdict is %s: %s", unrelu_verdict_name(model->verdict), model->failure);
    if (net.error < INFINITY)
        assert_near(error_of_V(p->truth, model), 0, net.error);
    assert_int_equal(model->V_rational != NULL, net.rational > 0);
    assert_int_equal(is_warned(model, "certify"), net.rational < 0);
    unrelu_network_free(model);
    return status;
}

static void begin(size_t n, size_t d, size_t k, size_t m, double noise)
{
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = d;
    o.k = k;
    o.m = m;
    o.kappa_v = 1;
    o.noise = noise;
    o.seed = 5;
    net.planted = plant_network_with(o, n);
    unrelu_recover_options_init(&net.options, sizeof net.options);
    net.options.k = k;
    net.verdict = UNRELU_VERDICT_EXACT;
    net.error = 1e-9;
    net.rational = 0;
    net.keep = 0;
}

/* integers up to 5 in X, V and U */
static void make_whole(void)
{
    planted_network *p = &net.planted;
    unrelu_error err = {0};
    for (size_t i = 0; i < p->n * p->d; i++)
        p->x[i] = rint(2 * p->x[i]);
    for (size_t i = 0; i < p->k * p->d; i++)
        p->truth->V[i] = rint(3 * p->truth->V[i]);
    for (size_t i = 0; i < p->m * p->k; i++)
        p->truth->U[i] = rint(3 * p->truth->U[i]);
    must(unrelu_network_predict(p->truth, p->x, p->n, NULL, p->a, &err), &err);
    net.options.certify = 1;
    net.rational = 1;
    net.verdict = UNRELU_VERDICT_UNCERTIFIED; /* rows on kinks */
}

static void exact_arithmetic_survives_a_failed_allocation(void **state)
{
    (void)state;
    begin(60, 4, 2, 3, 0);
    make_whole();
    exhaust_by(recover_network, 200, 23);
    for (size_t i = 0; i < net.planted.n; i++) /* several solutions */
        net.planted.x[i * 4 + 3] = net.planted.x[i * 4];
    unrelu_error err = {0};
    must(unrelu_network_predict(net.planted.truth, net.planted.x, net.planted.n, NULL,
                                net.planted.a, &err),
         &err);
    net.verdict = UNRELU_VERDICT_UNCERTIFIED; /* a column is there twice */
    net.error = INFINITY;
    exhaust_by(recover_network, 20, 61);
    net.planted.x[40] = 1.0 / 1234567; /* no fraction: a sentence */
    must(unrelu_network_predict(net.planted.truth, net.planted.x, net.planted.n, NULL,
                                net.planted.a, &err),
         &err);
    net.rational = -1;
    exhaust_by(recover_network, 20, 61);
    planted_network_free(&net.planted);
}

static void an_enumeration_survives_a_failed_allocation(void **state)
{
    (void)state;
    begin(60, 4, 2, 3, 0);
    net.options.method = UNRELU_RECOVER_ENUMERATE;
    exhaust_by(recover_network, 300, 7);
    for (size_t i = 0; i < net.planted.n * 4; i++) /* X >= 0: faces beside the rays */
        net.planted.x[i] = fabs(net.planted.x[i]);
    for (size_t i = 0; i < 4; i++)
        net.planted.truth->V[i] = fabs(net.planted.truth->V[i]);
    unrelu_error err = {0};
    must(unrelu_network_predict(net.planted.truth, net.planted.x, net.planted.n, NULL,
                                net.planted.a, &err),
         &err);
    net.verdict = UNRELU_VERDICT_UNCERTIFIED;
    exhaust_by(recover_network, 100, 31);
    net.planted.a[3] += 1; /* a proof that there is none */
    net.verdict = UNRELU_VERDICT_FAILED;
    net.error = INFINITY;
    exhaust_by(recover_network, 100, 31);
    planted_network_free(&net.planted);
}

static void one_sparse_recoveries_survive_a_failed_allocation(void **state)
{
    (void)state;
    begin(300, 3, 3, 2, 0);
    net.options.method = UNRELU_RECOVER_ONE_SPARSE;
    exhaust_by(recover_network, 300, 13);
    net.options.literal = 1;
    exhaust_by(recover_network, 300, 13);
    planted_network_free(&net.planted);
}

static void recoveries_from_any_noise_survive_a_failed_allocation(void **state)
{
    (void)state;
    begin(80, 3, 2, 2, .1);
    net.options.method = UNRELU_RECOVER_ANY_NOISE;
    net.verdict = UNRELU_VERDICT_NOISY;
    net.error = INFINITY;
    exhaust_by(recover_network, 100, 61);
    net.options.biases = UNRELU_BIASES_OUTPUT;
    exhaust_by(recover_network, 20, 151);
    planted_network_free(&net.planted);
}

static void recoveries_from_sparse_noise_survive_a_failed_allocation(void **state)
{
    (void)state;
    begin(300, 3, 2, 20, 0);
    for (size_t i = 0; i < net.planted.n * 20; i += 37)
        net.planted.a[i] += i % 2 ? 5 : -5;
    net.options.method = UNRELU_RECOVER_SPARSE_NOISE;
    exhaust_by(recover_network, 200, 31);
    net.options.pcp = 1; /* approximate */
    net.verdict = UNRELU_VERDICT_NOISY;
    net.error = INFINITY;
    exhaust_by(recover_network, 100, 61);
    planted_network_free(&net.planted);
}

static void recoveries_without_signs_survive_a_failed_allocation(void **state)
{
    (void)state;
    begin(160, 3, 4, 1, 0);
    net.options.method = UNRELU_RECOVER_SIGNLESS;
    exhaust_by(recover_network, 200, 31);
    net.options.k = 0;
    net.keep = 25; /* a student is there, which is no network yet */
    net.verdict = UNRELU_VERDICT_INCOMPLETE;
    net.error = INFINITY;
    exhaust_by(recover_network, 100, 13);
    planted_network_free(&net.planted);
}

/* ---- files ---- */

static char path[512];

static unrelu_status save_and_load(unrelu_error *err)
{
    unrelu_network *m = NULL;
    unrelu_status status = unrelu_network_save(net.planted.truth, path, err);
    if (status == UNRELU_OK)
        status = unrelu_network_load(path, &m, err);
    if (status != UNRELU_OK)
        assert_null(m);
    unrelu_network_free(m);
    return status;
}

static void a_file_of_a_hard_case_survives_a_failed_allocation(void **state)
{
    (void)state;
    begin(60, 2, 2, 2, 0);
    unrelu_network *truth = net.planted.truth;
    truth->n = 60;
    truth->corrupted = 2;
    truth->E_row = (double[]){0, 59};
    truth->E_column = (double[]){1, 0};
    truth->E_value = (double[]){-3, 0.1};
    static const char *const V[] = {"-2", "-2", "-2", "-2"}, *const U[] = {"1/3", "1/3", "1/3",
                                                                           "1/3"};
    truth->V_rational = V;
    truth->U_rational = U;
    strcpy(path, files_path("net.npz"));
    exhaust(save_and_load);
    planted_network_free(&net.planted);
}

static char weights[512], graph[512];

static unrelu_status export_and_load(unrelu_error *err)
{
    unrelu_network *m = NULL;
    unrelu_status status = unrelu_network_export(net.planted.truth, graph, 0, err);
    if (status == UNRELU_OK)
        status = unrelu_network_export(net.planted.truth, weights, 1, err);
    if (status == UNRELU_OK)
        status = unrelu_network_load(weights, &m, err);
    if (status != UNRELU_OK)
        assert_null(m);
    unrelu_network_free(m);
    return status;
}

static void files_for_other_programs_survive_a_failed_allocation(void **state)
{
    (void)state;
    begin(60, 2, 2, 2, 0);
    strcpy(weights, files_path("net.safetensors"));
    strcpy(graph, files_path("net.onnx"));
    exhaust(export_and_load);
    planted_network_free(&net.planted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_survive_a_failed_allocation),
        cmocka_unit_test(exact_arithmetic_survives_a_failed_allocation),
        cmocka_unit_test(an_enumeration_survives_a_failed_allocation),
        cmocka_unit_test(one_sparse_recoveries_survive_a_failed_allocation),
        cmocka_unit_test(recoveries_from_any_noise_survive_a_failed_allocation),
        cmocka_unit_test(recoveries_without_signs_survive_a_failed_allocation),
        cmocka_unit_test(recoveries_from_sparse_noise_survive_a_failed_allocation),
        cmocka_unit_test(a_file_of_a_hard_case_survives_a_failed_allocation),
        cmocka_unit_test(files_for_other_programs_survive_a_failed_allocation),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
