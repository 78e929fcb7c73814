/* SPDX-License-Identifier: Apache-2.0 */
/* Files of models and summaries whose numbers cannot be: each is refused by the name of its member
 * and the value, and what the library writes of unusual samples is not. */
#include "archives.h"
#include "mixtures.h"
#include "networks.h"
#include "planted.h"

#include "gaussian/summary/gaussian_summary.h"
#include "write/npz_write.h"

#include <math.h>

static void expect_sentence(unrelu_status status, const unrelu_error *err, const char *sentence)
{
    char text[600];
    snprintf(text, sizeof text, "%s: %s", files_path("m.npz"), sentence);
    assert_string_equal(err->text, text);
    assert_int_equal(status, UNRELU_EFORMAT);
}

/* one number of a model at a time is another one, and is then as it was */
typedef struct {
    const char *member;
    size_t at;
    double value;
    const char *sentence; /* NULL: it is read */
} change;

static double *member_of(const unrelu_model *model, const change *c)
{
    double *x = (double *)(uintptr_t)unrelu_model_array(model, c->member, NULL, NULL);
    assert_non_null(x);
    return x + c->at;
}

/* ---- rectified Gaussians ---- */

enum { N = 400, D = 3 };

static unrelu_gaussian *learned(const char *option, const char *value)
{
    unrelu_gaussian_plant_options p;
    unrelu_gaussian_options o;
    unrelu_error err = {0};
    unrelu_gaussian_plant_options_init(&p, sizeof p);
    unrelu_gaussian_options_init(&o, sizeof o);
    p.d = D;
    p.seed = 7;
    if (option)
        must(unrelu_gaussian_options_set(&o, option, value, &err), &err);
    unrelu_gaussian *truth = plant(p);
    double *x = draw(truth, N, 3);
    for (size_t i = 0; option && i < N * D; i++)
        x[i] += 0.01; /* for powers */
    unrelu_gaussian *m = fit(x, N, D, &o);
    unrelu_gaussian_free(truth);
    free(x);
    return m;
}

static void expect_changes_of_gaussian(unrelu_gaussian *m, const change *changes, size_t count)
{
    const char *path = files_path("m.npz");
    for (size_t i = 0; i < count; i++) {
        unrelu_gaussian *again;
        unrelu_error err = {0};
        double *x = member_of(&m->model, &changes[i]), before = *x;
        *x = changes[i].value;
        must(unrelu_gaussian_save(m, path, &err), &err);
        *x = before;
        unrelu_status status = unrelu_gaussian_load(path, &again, &err);
        if (changes[i].sentence)
            expect_sentence(status, &err, changes[i].sentence);
        else
            must(status, &err);
        unrelu_gaussian_free(again);
    }
}

static void gaussians_that_cannot_be_are_refused(void **state)
{
    (void)state;
    const double r = 0.25, tiny = 0x1p-30;
    static const change changes[] = {
        {"scale", 1, -1,
         "scale has -1 at row 2, column 1, where a finite number of at least 0 is "
         "needed"},
        {"scale", 0, INFINITY,
         "scale has inf at row 1, column 1, where a finite number of at "
         "least 0 is needed"},
        {"scale", 2, NAN,
         "scale has nan at row 3, column 1, where a number is needed unless the "
         "column has the flag no-truncated-mle"},
        {"scale", 2, 0, NULL},
        {"b", 0, -INFINITY, "b has -inf at row 1, column 1, where a finite number is needed"},
        {"b", 1, NAN,
         "b has nan at row 2, column 1, where a number is needed unless the column "
         "has the flag no-truncated-mle"},
        {"sigma", 4, -2, "sigma has -2 at row 2, column 2, where a variance is needed"},
        {"sigma", 4, INFINITY, NULL}, /* documented: sigma-range */
        {"sigma", 4, 0, NULL},
        {"sigma", 4, NAN,
         "sigma has nan at row 2, column 2, where a number is needed unless the "
         "column has the flag no-truncated-mle"},
        {"correlation", 1, 1.5,
         "correlation has 1.5 at row 1, column 2, where a correlation, "
         "from -1 to 1 and 1 on the diagonal, is needed"},
        {"correlation", 1, -1.01,
         "correlation has -1.01 at row 1, column 2, where a correlation, "
         "from -1 to 1 and 1 on the diagonal, is needed"},
        {"correlation", 8, 0.5,
         "correlation has 0.5 at row 3, column 3, where a correlation, "
         "from -1 to 1 and 1 on the diagonal, is needed"},
        {"b_se", 2, -0.5,
         "b_se has -0.5 at row 3, column 1, where a number of at least 0, or NaN "
         "is needed"},
        {"b_se", 2, NAN, NULL},
        {"n_pair", 0, N + 1, "n_pair has 401 at row 1, column 1, where at most 400 are possible"},
        {"n_pair", 0, -1, "n_pair has -1 at row 1, column 1, where a count is needed"},
        {"observed", 1, 0.5, "observed has 0.5 at row 2, column 1, where a count is needed"},
        {"observed", 1, N + 2,
         "observed has 402 at row 2, column 1, where at most 400 are "
         "possible"},
        {"observed", 1, 0, "positive has 205 at row 2, column 1, where 0 cells are observed"},
        {"lambda_min", 0, -INFINITY, "lambda_min is -inf, where a finite number is needed"},
        {"lambda_min", 0, NAN, NULL},
    };
    unrelu_gaussian *m = learned(NULL, NULL);
    m->positive[1] = 205;
    expect_changes_of_gaussian(m, changes, sizeof changes / sizeof *changes);
    /* halves of a matrix: to 1e-6 */
    m->correlation[1] = m->correlation[3] = r;
    const change turned[] = {
        {"correlation", 3, r + tiny, NULL},
        {"correlation", 3, r + 1e-5,
         "correlation has 0.25001 at row 2, column 1 and 0.25 at row "
         "1, column 2, where a symmetric matrix is needed"},
        {"correlation", 3, r + 2e-7, NULL},
    };
    expect_changes_of_gaussian(m, turned, 3);
    unrelu_gaussian_free(m);
}

static void flags_and_powers_that_are_none_are_refused(void **state)
{
    (void)state;
    unrelu_gaussian *again, *m = learned("transform", "boxcox:0.5");
    unrelu_error err = {0};
    const char *path = files_path("m.npz");
    static const change powers[] = {
        {"lambda", 1, 10, NULL},
        {"lambda", 1, 10.5,
         "lambda has 10.5 at row 2, column 1, where a power from -10 to 10 is "
         "needed"},
        {"lambda", 0, NAN, "lambda has nan at row 1, column 1, where a finite number is needed"},
    };
    expect_changes_of_gaussian(m, powers, 3);
    m->pair_flags[1] = 4;
    must(unrelu_gaussian_save(m, path, &err), &err);
    expect_sentence(unrelu_gaussian_load(path, &again, &err), &err,
                    "pair_flags has 4 at row 1, column 2, where 8 and 16 are the only flags");
    unrelu_gaussian_free(m);
}

/* one member of a file of zeros and ones is a text of another kind */
static void unknown_flags_are_refused(void **state)
{
    (void)state;
    static const double one = 1, zero = 0;
    static const uint8_t none = 0;
    const size_t shape[] = {1, 1};
    for (int unknown = 0; unknown < 2; unknown++) {
        ur_npz_writer *w;
        unrelu_gaussian *m;
        unrelu_error err = {0};
        const char *path = files_path("m.npz");
        must(ur_npz_writer_open(path, &w, &err), &err);
        ur_npz_add_string(w, "kind", "rectified-gaussian");
        for (const char *const *name = (const char *const[]){"b", "scale", NULL}; *name; name++)
            ur_npz_add(w, *name, &one, 1, shape);
        for (const char *const *name = (const char *const[]){"sigma", "correlation", NULL}; *name;
             name++)
            ur_npz_add(w, *name, &one, 2, shape);
        for (const char *const *name = (const char *const[]){"norms", "angles", "method", NULL};
             *name; name++)
            ur_npz_add_string(w, *name, "none");
        for (const char *const *name =
                 (const char *const[]){"rows_dropped", "repaired", "lambda_min", "n", NULL};
             *name; name++)
            ur_npz_add_number(w, *name, zero);
        ur_npz_add_bytes(w, "pair_flags", &none, 2, shape);
        ur_npz_add_string(w, "flags", unknown ? "no-zeros,run-me" : "no-zeros,misfit");
        ur_npz_add_strings(w, "warning_codes", NULL, 0);
        ur_npz_add_strings(w, "warning_messages", NULL, 0);
        must(ur_npz_commit(w, &err), &err);
        unrelu_status status = unrelu_gaussian_load(path, &m, &err);
        if (unknown)
            expect_sentence(status, &err, "flags has 'run-me' for column 1, which is no flag");
        else
            must(status, &err);
        unrelu_gaussian_free(m);
    }
}

/* variances beyond a double, a multiple of another column, a constant one, one that is seldom on,
 * five rows: NaN, inf and 0 that are documented */
static void what_unusual_samples_give_is_read(void **state)
{
    (void)state;
    static const char *const options[][2] = {
        {NULL, NULL},     {"norms", "truncated"}, {"norms", "median"},
        {"norms", "sgd"}, {"angles", "signs"},    {"method", "paper"},
        {"rank", "2"},    {"robust", "1"},        {"transform", "boxcox"}};
    unrelu_gaussian_plant_options p;
    unrelu_gaussian_plant_options_init(&p, sizeof p);
    p.d = 6;
    p.seed = 5;
    unrelu_gaussian *truth = plant(p);
    static const double units[] = {1e200, 1e-200, 1, 1e154, 1e-170, 1e300};
    size_t read = 0;
    for (int kind = 0; kind < 4; kind++)
        for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
            size_t n = kind == 3 ? 5 : 300;
            double *x = draw(truth, n, 11);
            for (size_t i = 0; i < n; i++) {
                double *row = x + 6 * i;
                for (size_t j = 0; j < 6; j++)
                    row[j] = kind == 1 ? row[j] * units[j] : kind == 3 ? row[j] + 0.01 : row[j];
                if (kind == 2) {
                    row[0] = 2.5;
                    row[1] = 3 * row[2];
                    row[3] = i % 40 ? 0 : row[3];
                }
            }
            unrelu_gaussian_options given;
            unrelu_gaussian *m = NULL, *again;
            unrelu_error err = {0};
            const char *path = files_path("m.npz");
            unrelu_gaussian_options_init(&given, sizeof given);
            if (options[o][0])
                unrelu_gaussian_options_set(&given, options[o][0], options[o][1], &err);
            if (try_fit(x, n, 6, &given, &m, &err) == UNRELU_OK) {
                must(unrelu_gaussian_save(m, path, &err), &err);
                must(unrelu_gaussian_load(path, &again, &err), &err);
                unrelu_gaussian_free(again);
                read++;
            }
            unrelu_gaussian_free(m);
            free(x);
        }
    assert_true(read >= 20);
    unrelu_gaussian_free(truth);
}

/* ---- networks and mixtures ---- */

static void networks_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const change changes[] = {
        {"U", 0, INFINITY, "U has inf at row 1, column 1, where a finite number is needed"},
        {"V", 1, NAN, "V has nan at row 1, column 2, where a finite number is needed"},
        {"active", 1, 1.5,
         "active has 1.5 at row 2, column 1, where a share, from 0 to 1 is "
         "needed"},
        {"active", 1, NAN, NULL},
        {"U_se", 0, -1,
         "U_se has -1 at row 1, column 1, where a number of at least 0, or NaN is "
         "needed"},
        {"noise", 0, -1, "noise is -1, where a finite number of at least 0 is needed"},
        {"residual", 0, -0.5, "residual is -0.5, where a number of at least 0, or NaN is needed"},
    };
    planted_network p = plant_network(4, 2, 3, 500, 0.1, 3);
    unrelu_network *again, *m = recover(&p, NULL);
    unrelu_error err = {0};
    const char *path = files_path("m.npz");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        double *x = member_of(&m->model, &changes[i]), before = *x;
        *x = changes[i].value;
        must(unrelu_network_save(m, path, &err), &err);
        *x = before;
        unrelu_status status = unrelu_network_load(path, &again, &err);
        if (changes[i].sentence)
            expect_sentence(status, &err, changes[i].sentence);
        unrelu_network_free(again);
    }
    size_t checked = m->samples_checked;
    m->samples_checked = m->n + 1;
    must(unrelu_network_save(m, path, &err), &err);
    expect_sentence(unrelu_network_load(path, &again, &err), &err,
                    "samples_checked is 501, where at most 500 are possible");
    m->samples_checked = checked;
    m->inputs_rank = 5;
    must(unrelu_network_save(m, path, &err), &err);
    expect_sentence(unrelu_network_load(path, &again, &err), &err,
                    "inputs_rank is 5, where at most 4 are possible");
    unrelu_network_free(m);
    planted_network_free(&p);
}

static void mixtures_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const change changes[] = {
        {"A", 0, NAN, "A has nan at row 1, column 1, where a finite number is needed"},
        {"noise", 0, -2, "noise is -2, where a finite number of at least 0 is needed"},
        {"scale", 1, -1,
         "scale has -1 at row 2, column 1, where a finite number of at least 0 is "
         "needed"},
        {"correlation", 1, 3,
         "correlation has 3 at row 1, column 2, where a correlation, from -1 "
         "to 1 and 1 on the diagonal, is needed"},
    };
    planted_mixture p = plant_mixture(5, 3, 3, 10, 0, 0, 3);
    unrelu_mixture *again;
    unrelu_error err = {0};
    const char *path = files_path("m.npz");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        double *x = member_of(&p.truth->model, &changes[i]), before = *x;
        *x = changes[i].value;
        must(unrelu_mixture_save(p.truth, path, &err), &err);
        *x = before;
        expect_sentence(unrelu_mixture_load(path, &again, &err), &err, changes[i].sentence);
        unrelu_mixture_free(again);
    }
    planted_mixture_free(&p);
}

/* ---- summaries ---- */

static void summaries_that_cannot_be_are_refused(void **state)
{
    (void)state;
    const double x[] = {1, 0, 2, 3, 0, 4, 5, 6};
    unrelu_source *source;
    unrelu_summary *s, *again;
    unrelu_error err = {0};
    const char *path = files_path("m.npz");
    must(unrelu_source_memory(x, 4, 2, NULL, &source, &err), &err);
    must(unrelu_summary_collect(source, NULL, 1, NULL, &s, &err), &err);
    ur_moments_view v = ur_moments_view_of(&s->plan, ur_moments_group(&s->plan, s->s, 0));
    struct {
        double *at, value;
        const char *sentence;
    } changes[] = {
        {&v.gg[1], 4,
         "gg counts 4 rows where columns 1 and 2 are both above their limits, which 3 "
         "and 3 are: the summary is damaged"},
        {&v.square[1], -1,
         "square has -1 for column 2, where a sum of squares is needed: the "
         "summary is damaged"},
        {&v.positive[0], 5,
         "column 1 counts 5 positive of 4 observed cells in 4 rows: the summary "
         "is damaged"},
    };
    for (size_t i = 0; i < 3; i++) {
        double before = *changes[i].at;
        *changes[i].at = changes[i].value;
        must(unrelu_summary_save(s, path, &err), &err);
        *changes[i].at = before;
        expect_sentence(unrelu_summary_load(path, &again, &err), &err, changes[i].sentence);
    }
    must(unrelu_summary_save(s, path, &err), &err);
    must(unrelu_summary_load(path, &again, &err), &err);
    unrelu_summary_free(again);
    unrelu_summary_free(s);
    unrelu_source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaussians_that_cannot_be_are_refused),
        cmocka_unit_test(flags_and_powers_that_are_none_are_refused),
        cmocka_unit_test(unknown_flags_are_refused),
        cmocka_unit_test(what_unusual_samples_give_is_read),
        cmocka_unit_test(networks_that_cannot_be_are_refused),
        cmocka_unit_test(mixtures_that_cannot_be_are_refused),
        cmocka_unit_test(summaries_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
