/* SPDX-License-Identifier: Apache-2.0 */
/* Recoveries that a limit or a caller ends: what they had is a network, its residual is that of its
 * weights, and the sentence says what is missing. The clock is the test's. */
#include "networks.h"

#include "base/system.h"

#include <unistd.h>

/* ---- a clock that goes on by one second whenever it is asked ---- */

static double seconds;
double __wrap_ur_seconds(void);
double __wrap_ur_seconds(void)
{
    return seconds += 1;
}

/* ---- a caller who stops ---- */

typedef struct {
    unrelu_wish wish;
    size_t asked, at;           /* from which question on */
    size_t found, wanted, told; /* from so many neurons on, SIZE_MAX: never; what counts told */
    double residual;            /* the least that was told */
} caller;

static int answer(void *context)
{
    caller *c = context;
    return c->asked++ >= c->at || c->told >= c->found ? (int)c->wish : UNRELU_GO_ON;
}

static void listen(void *context, const unrelu_counts *counts)
{
    caller *c = context;
    assert_true(counts->fraction <= 1); /* below 0: the end is not known */
    c->told = counts->found;
    c->wanted = counts->wanted;
    if (isfinite(counts->residual))
        c->residual = fmin(c->residual, counts->residual);
}

static unrelu_status run(const planted_network *p, const unrelu_recover_options *options, caller *c,
                         unrelu_network **model, unrelu_error *err)
{
    unrelu_exec exec = {.size = sizeof exec, .threads = 1, .cancelled = answer, .counts = listen};
    exec.context = c;
    c->residual = INFINITY;
    *err = (unrelu_error){0};
    return try_recover(p->x, p->a, p->n, p->d, p->m, options, &exec, model, err);
}

static planted_network planted(size_t d, size_t k, size_t m, size_t n, double noise)
{
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = d;
    o.k = k;
    o.m = m;
    o.bias = 0.5;
    o.noise = noise;
    return plant_network_with(o, n);
}

static const char *stopped(const unrelu_network *m)
{
    for (size_t i = 0; i < m->warning_count; i++)
        if (strcmp(m->warnings[i].code, "stopped") == 0)
            return m->warnings[i].message;
    return "";
}

static void assert_says(const unrelu_network *m, const char *words)
{
    if (!strstr(stopped(m), words))
        fail_msg("'%s' is not in '%s'", words, stopped(m));
}

/* of the weights, over all rows */
static double residual_of(const planted_network *p, const unrelu_network *m)
{
    double rss = 0, size = 0;
    unrelu_error err = {0};
    double *y = malloc(p->n * p->m * sizeof *y);
    assert_non_null(y);
    must(unrelu_network_predict(m, p->x, p->n, NULL, y, &err), &err);
    for (size_t i = 0; i < p->n * p->m; i++) {
        rss += (p->a[i] - y[i]) * (p->a[i] - y[i]);
        size += p->a[i] * p->a[i];
    }
    free(y);
    return sqrt(rss / size);
}

static void assert_incomplete(const planted_network *p, const unrelu_network *m)
{
    assert_int_equal(m->verdict, UNRELU_VERDICT_INCOMPLETE);
    assert_non_null(m->U);
    assert_null(m->U_se);
    assert_true(m->noise == 0);
    assert_near(m->residual, residual_of(p, m), 1e-9 * m->residual + 1e-14);
    assert_string_equal(m->guarantee_holds, "untested");
}

/* ---- tests ---- */

/* Fewer labels than neurons: the student of that time, with the part of it that is linear. Without
 * that part, or with another one, its residual is several times what was told of it. */
static void a_student_is_kept_as_close_as_it_was(void **state)
{
    (void)state;
    planted_network p = planted(10, 16, 1, 1100, 0);
    unrelu_recover_options o;
    unrelu_network *m;
    unrelu_error err;
    unrelu_recover_options_init(&o, sizeof o);
    caller c = {.wish = UNRELU_STOP_AND_KEEP, .at = SIZE_MAX, .found = 9};
    must(run(&p, &o, &c, &m, &err), &err);
    assert_incomplete(&p, m);
    assert_true(m->residual < 2 * c.residual);
    assert_true(m->linear_rank == 1);
    assert_says(m, "it was interrupted");
    assert_says(m, "a part linear in x");
    unrelu_network_free(m);
    planted_network_free(&p);
}

/* of a stopped run whose second label is the first one, and this much of an input more */
static size_t linear_rank_of(double more, int single)
{
    planted_network p = planted(10, 16, 2, 1100, 0);
    unrelu_recover_options o;
    unrelu_network *m;
    unrelu_error err;
    unrelu_recover_options_init(&o, sizeof o);
    o.method = UNRELU_RECOVER_SIGNLESS;
    for (size_t i = 0; i < p.n; i++) {
        p.a[2 * i + 1] = 1.7 * p.a[2 * i] + more * p.x[10 * i];
        for (size_t r = 0; r < 2 && single; r++)
            p.a[2 * i + r] = (double)(float)p.a[2 * i + r];
    }
    caller c = {.wish = UNRELU_STOP_AND_KEEP, .at = SIZE_MAX, .found = 9};
    must(run(&p, &o, &c, &m, &err), &err);
    assert_incomplete(&p, m);
    size_t rank = m->linear_rank;
    unrelu_network_free(m);
    planted_network_free(&p);
    return rank;
}

/* What is linear in the two is so in one direction, but for what may be rounding: 3e-9 of an input,
 * or the digits of single precision. 3e-7 of an input is more, in doubles. */
static void rounding_is_no_linear_part(void **state)
{
    (void)state;
    assert_int_equal(linear_rank_of(3e-9, 0), 1);
    assert_int_equal(linear_rank_of(0, 1), 1);
    assert_int_equal(linear_rank_of(3e-7, 0), 2);
}

/* neurons are exact one by one, whatever is missing */
static void found_neurons_are_kept_and_the_missing_counted(void **state)
{
    (void)state;
    planted_network p = planted(20, 20, 24, 600, 0);
    unrelu_recover_options o;
    unrelu_network *m;
    unrelu_error err;
    char words[64];
    unrelu_recover_options_init(&o, sizeof o);
    o.biases = UNRELU_BIASES_BOTH;
    caller c = {.wish = UNRELU_STOP_AND_KEEP, .at = SIZE_MAX, .found = 5};
    must(run(&p, &o, &c, &m, &err), &err);
    assert_incomplete(&p, m);
    assert_int_equal(c.wanted, 20);
    assert_true(m->k >= 5 && m->k < 20);
    snprintf(words, sizeof words, "%zu of 20 neurons are found", m->k);
    assert_says(m, words);
    for (size_t l = 0; l < m->k; l++) {
        double least = INFINITY;
        for (size_t j = 0; j < 20; j++) {
            double far = fabs(m->c[l] - p.truth->c[j]);
            for (size_t i = 0; i < 20; i++)
                far = fmax(far, fabs(m->V[l * 20 + i] - p.truth->V[j * 20 + i]));
            least = fmin(least, far);
        }
        assert_true(least < 1e-9);
    }
    unrelu_network_free(m);
    planted_network_free(&p);
}

static void a_time_limit_keeps_what_there_is(void **state)
{
    (void)state;
    planted_network p = planted(6, 4, 5, 300, 0.1);
    unrelu_recover_options o;
    unrelu_network *m;
    unrelu_error err = {0};
    unrelu_recover_options_init(&o, sizeof o);
    caller c = {.at = SIZE_MAX, .found = SIZE_MAX};
    must(unrelu_recover_options_set(&o, "time-limit", "1e9", &err), &err);
    o.labels = UNRELU_LABELS_NOISY;
    double before = seconds;
    must(run(&p, &o, &c, &m, &err), &err);
    assert_int_equal(m->verdict, UNRELU_VERDICT_NOISY);
    assert_true(m->V_se != NULL);
    unrelu_network_free(m);
    o.time_limit = floor((seconds - before) / 2); /* it asks once for each second */
    must(run(&p, &o, &c, &m, &err), &err);
    assert_incomplete(&p, m);
    assert_says(m, "the time limit of");
    assert_says(m, "standard errors");
    assert_true(m->residual < 0.5);
    unrelu_network_free(m);
    o.time_limit = 20;
    must(run(&p, &o, &c, &m, &err), &err);
    assert_int_equal(m->verdict, UNRELU_VERDICT_FAILED);
    assert_non_null(strstr(m->failure, "the time limit of 20 s was reached before"));
    unrelu_network_free(m);
    o.time_limit = 1;
    assert_int_equal(run(&p, &o, &c, &m, &err), UNRELU_EDATA);
    assert_non_null(strstr(err.text, "while the data were read"));
    planted_network_free(&p);
}

/* Whenever it is stopped: nothing was found yet, or it is the closest so far, or the verdict was
 * spoken already and stays. It never fits worse than nothing. */
static void any_moment_has_an_answer(void **state)
{
    const double noises[] = {0, 0, 0.1};
    const size_t sizes[][4] = {{5, 4, 6, 200}, {4, 6, 1, 400}, {4, 3, 4, 200}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        planted_network p = planted(sizes[i][0], sizes[i][1], sizes[i][2], sizes[i][3], noises[i]);
        caller all = {.at = SIZE_MAX, .found = SIZE_MAX};
        unrelu_network *m, *whole;
        unrelu_error err;
        size_t kept = 0, met = 0;
        must(run(&p, NULL, &all, &whole, &err), &err);
        for (size_t at = 0; at < all.asked;
             at = at < 4 || at + 8 > all.asked ? at + 1 : at + at / 4) {
            caller one = {.wish = UNRELU_STOP_AND_KEEP, .at = at, .found = SIZE_MAX};
            unrelu_status status = run(&p, NULL, &one, &m, &err);
            if (status == UNRELU_ECANCELLED)
                continue;
            must(status, &err);
            kept++;
            if (m->verdict == UNRELU_VERDICT_INCOMPLETE) {
                assert_incomplete(&p, m);
                met += strstr(stopped(m), "the labels are met") != NULL;
                assert_int_equal(strstr(stopped(m), "the labels are met") != NULL,
                                 m->residual < 1e-12);
            } else
                assert_int_equal(m->verdict, whole->verdict);
            assert_true(m->residual < 1);
            unrelu_network_free(m);
        }
        assert_true(kept > 0);
        assert_int_equal(met > 0, noises[i] == 0);
        unrelu_network_free(whole);
        planted_network_free(&p);
    }
}

static void a_stop_that_keeps_nothing_is_one(void **state)
{
    (void)state;
    planted_network p = planted(6, 4, 5, 300, 0.1);
    unrelu_network *m;
    unrelu_error err;
    caller c = {.wish = UNRELU_STOP, .at = 200, .found = SIZE_MAX};
    assert_int_equal(run(&p, NULL, &c, &m, &err), UNRELU_ECANCELLED);
    c = (caller){.wish = UNRELU_STOP_AND_KEEP, .at = 0, .found = SIZE_MAX};
    assert_int_equal(run(&p, NULL, &c, &m, &err), UNRELU_ECANCELLED);
    planted_network_free(&p);
}

static void an_incomplete_network_is_a_file_like_others(void **state)
{
    (void)state;
    planted_network p = planted(10, 16, 1, 1100, 0);
    unrelu_network *m, *again;
    unrelu_error err;
    char path[] = "/tmp/unrelu-unfinished-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    caller c = {.wish = UNRELU_STOP_AND_KEEP, .at = SIZE_MAX, .found = 5};
    must(run(&p, NULL, &c, &m, &err), &err);
    must(unrelu_network_save(m, path, &err), &err);
    must(unrelu_network_load(path, &again, &err), &err);
    assert_int_equal(again->verdict, UNRELU_VERDICT_INCOMPLETE);
    assert_string_equal(stopped(again), stopped(m));
    unlink(path);
    unrelu_network_free(m);
    unrelu_network_free(again);
    planted_network_free(&p);
}

/* none is gone to in silence, and those that do not apply say so */
static void every_branch_is_told(void **state)
{
    static const char *const branches[] = {"exact, biases none",
                                           "exact, biases both",
                                           "signless: ",
                                           "maximum likelihood: ",
                                           "one-sparse: not tried, as what",
                                           "enumerate: not tried, as what"};
    const size_t count = sizeof branches / sizeof *branches;
    (void)state;
    planted_network p = planted(5, 3, 4, 300, 0.1);
    unrelu_array member;
    unrelu_network *m = recover(&p, NULL);
    assert_int_equal(m->verdict, UNRELU_VERDICT_NOISY);
    assert_int_equal(m->tried_count, count);
    for (size_t i = 0; i < count; i++)
        if (strncmp(m->tried[i], branches[i], strlen(branches[i])) != 0)
            fail_msg("'%s' does not begin with '%s'", m->tried[i], branches[i]);
    assert_true(unrelu_model_member(&m->model, "tried", &member));
    assert_true(member.type == UNRELU_TEXTS && member.shape[0] == count);
    unrelu_network_free(m);
    planted_network_free(&p);
}

/* of noisy labels: how many neurons, and the residual of the fit that is kept on some of the rows
 */
static void fits_of_noisy_labels_are_told(void **state)
{
    (void)state;
    planted_network p = planted(5, 3, 4, 300, 0.1);
    unrelu_recover_options o;
    unrelu_network *m;
    unrelu_error err;
    caller c = {.at = SIZE_MAX, .found = SIZE_MAX};
    unrelu_recover_options_init(&o, sizeof o);
    o.labels = UNRELU_LABELS_NOISY;
    must(run(&p, &o, &c, &m, &err), &err);
    assert_int_equal(c.told, m->k);
    assert_true(fabs(c.residual / m->residual - 1) < .1);
    unrelu_network_free(m);
    planted_network_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_of_noisy_labels_are_told),
        cmocka_unit_test(a_student_is_kept_as_close_as_it_was),
        cmocka_unit_test(rounding_is_no_linear_part),
        cmocka_unit_test(found_neurons_are_kept_and_the_missing_counted),
        cmocka_unit_test(a_time_limit_keeps_what_there_is),
        cmocka_unit_test(any_moment_has_an_answer),
        cmocka_unit_test(a_stop_that_keeps_nothing_is_one),
        cmocka_unit_test(every_branch_is_told),
        cmocka_unit_test(an_incomplete_network_is_a_file_like_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
