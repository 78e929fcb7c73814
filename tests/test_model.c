/* SPDX-License-Identifier: Apache-2.0 */
#include "members.h"
#include "mixtures.h"
#include "networks.h"

static void members_are_found_by_name_with_shape_and_type(void **state)
{
    (void)state;
    unrelu_gaussian_plant_options o;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    o.d = 3;
    o.k = 2;
    o.seed = 5;
    unrelu_gaussian *m = plant(o);
    size_t rows, columns;
    unrelu_array found;
    assert_string_equal(m->model.kind, "rectified-gaussian");
    assert_ptr_equal(unrelu_model_array(&m->model, "W", &rows, &columns), m->W);
    assert_true(rows == 3 && columns == 2);
    assert_ptr_equal(unrelu_model_array(&m->model, "b", &rows, &columns), m->b);
    assert_true(rows == 3 && columns == 1);
    assert_ptr_equal(unrelu_model_array(&m->model, "sigma", NULL, NULL), m->sigma);
    assert_null(unrelu_model_array(&m->model, "b_se", &rows, &columns));  /* not estimated */
    assert_null(unrelu_model_array(&m->model, "names", &rows, &columns)); /* texts */
    assert_null(unrelu_model_array(&m->model, "nothing", &rows, &columns));
    assert_true(unrelu_model_member(&m->model, "names", &found));
    assert_true(found.type == UNRELU_TEXTS && found.dimensions == 1 && found.shape[0] == 3);
    assert_string_equal(((const char *const *)found.data)[2], "x3");
    assert_true(unrelu_model_member(&m->model, "seed", &found));
    assert_true(found.type == UNRELU_UINT64S && found.dimensions == 0);
    assert_true(*(const uint64_t *)found.data == 5);
    assert_true(unrelu_model_member(&m->model, "transform", &found));
    assert_string_equal(*(const char *const *)found.data, "none");
    unrelu_gaussian_free(m);
}

static void every_member_is_listed_once(void **state)
{
    (void)state;
    planted_mixture p = plant_mixture(6, 3, 0, 200, 0, 0.01, 1);
    planted_network n = plant_network(4, 2, 3, 60, 0, 1);
    unrelu_mixture *m = unmix(&p, NULL);
    unrelu_error err = {0};
    unrelu_goodness *g;
    unrelu_source *source = NULL;
    for (size_t i = 0; i < 200 * 6; i++)
        p.x[i] = fmax(0, p.x[i]);
    unrelu_gaussian *fitted = fit(p.x, 200, 6, NULL);
    must(unrelu_source_memory(p.x, 200, 6, NULL, &source, &err), &err);
    must(unrelu_gaussian_goodness(fitted, source, NULL, NULL, &g, &err), &err);
    const unrelu_model *models[] = {&m->model, &n.truth->model, &fitted->model, &g->model};
    for (size_t k = 0; k < 4; k++) {
        unrelu_array one, found;
        size_t count = 0;
        for (; unrelu_model_at(models[k], count, &one); count++) {
            assert_true(unrelu_model_member(models[k], one.name, &found));
            assert_ptr_equal(one.data, found.data); /* so no name occurs twice */
        }
        assert_true(count > 9);
    }
    unrelu_source_close(source);
    unrelu_goodness_free(g);
    unrelu_gaussian_free(fitted);
    unrelu_mixture_free(m);
    planted_network_free(&n);
    planted_mixture_free(&p);
}

/* what both have is the mixture's own; the rest is there under the names of the file */
static void a_mixture_lists_its_hidden_layer(void **state)
{
    (void)state;
    planted_mixture p = plant_mixture(6, 3, 0, 200, 0, 0, 1);
    size_t rows, columns;
    unrelu_array found;
    assert_ptr_equal(unrelu_model_array(&p.truth->model, "A", &rows, &columns), p.truth->A);
    assert_true(rows == 6 && columns == 3);
    assert_ptr_equal(unrelu_model_array(&p.truth->model, "sigma", &rows, &columns),
                     p.truth->hidden->sigma);
    assert_true(rows == 3 && columns == 3);
    assert_true(unrelu_model_member(&p.truth->model, "names", &found));
    assert_int_equal(found.shape[0], 6);
    assert_true(unrelu_model_member(&p.truth->model, "verdict", &found));
    assert_string_equal(*(const char *const *)found.data, "planted");
    planted_mixture_free(&p);
}

static void models_of_any_kind_are_freed_and_warn_alike(void **state)
{
    (void)state;
    static double x[40]; /* a constant column, which a fit warns of */
    for (size_t i = 0; i < 20; i++) {
        x[2 * i] = 1;
        x[2 * i + 1] = fmax(0, sin((double)i));
    }
    unrelu_gaussian *m = fit(x, 20, 2, NULL);
    size_t count;
    const unrelu_warning *warnings = unrelu_model_warnings(&m->model, &count);
    assert_true(count > 0 && count == m->warning_count && warnings == m->warnings);
    unrelu_model_free(&m->model);
    unrelu_model_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_found_by_name_with_shape_and_type),
        cmocka_unit_test(every_member_is_listed_once),
        cmocka_unit_test(a_mixture_lists_its_hidden_layer),
        cmocka_unit_test(models_of_any_kind_are_freed_and_warn_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
