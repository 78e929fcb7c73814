/* SPDX-License-Identifier: Apache-2.0 */
/* Models and summaries in memory are their files, byte by byte. */
#include "planted.h"

#include "files.h"
#include "mixtures.h"
#include "networks.h"

#include <limits.h>

/* the bytes of a file that was saved are those that were packed, and so are those of what is
 * unpacked from them */
#define CHECK_KIND(kind, thing)                                                                    \
    do {                                                                                           \
        unrelu_error err_ = {0};                                                                   \
        unrelu_##kind *again_ = NULL;                                                              \
        void *bytes_ = NULL, *twice_ = NULL;                                                       \
        size_t size_ = 0, size_twice_ = 0, size_file_ = 0;                                         \
        const char *path_ = files_path("m.npz");                                                   \
        must(unrelu_##kind##_save(thing, path_, &err_), &err_);                                    \
        must(unrelu_##kind##_pack(thing, &bytes_, &size_, &err_), &err_);                          \
        unsigned char *file_ = files_read(path_, &size_file_);                                     \
        assert_int_equal(size_, size_file_);                                                       \
        assert_memory_equal(bytes_, file_, size_);                                                 \
        must(unrelu_##kind##_unpack(bytes_, size_, &again_, &err_), &err_);                        \
        must(unrelu_##kind##_pack(again_, &twice_, &size_twice_, &err_), &err_);                   \
        assert_int_equal(size_, size_twice_);                                                      \
        assert_memory_equal(bytes_, twice_, size_);                                                \
        unrelu_##kind##_free(again_);                                                              \
        check_damage_of_##kind(bytes_, size_);                                                     \
        unrelu_free(bytes_);                                                                       \
        unrelu_free(twice_);                                                                       \
        free(file_);                                                                               \
    } while (0)

/* one byte in so many is damaged, which has no factor of 8: each bit of a byte has its turn */
enum { STRIDE = 7 };

/* What is cut off, or of another kind, is refused with a sentence, and nothing is handed out; where
 * one bit is another, a checksum says so, or it is none of the content's. */
#define DAMAGE_OF(kind)                                                                            \
    static void check_damage_of_##kind(const void *bytes, size_t size)                             \
    {                                                                                              \
        static const char text[] = "no archive";                                                   \
        unrelu_error err = {0};                                                                    \
        unrelu_##kind *model = NULL;                                                               \
        assert_int_equal(unrelu_##kind##_unpack(bytes, size / 2, &model, &err), UNRELU_EFORMAT);   \
        assert_non_null(strstr(err.text, "in memory"));                                            \
        assert_null(model);                                                                        \
        assert_int_equal(unrelu_##kind##_unpack(text, sizeof text, &model, &err), UNRELU_EFORMAT); \
        assert_null(model);                                                                        \
        assert_int_equal(unrelu_##kind##_unpack(text, 0, &model, &err), UNRELU_EFORMAT);           \
        assert_null(model);                                                                        \
        assert_int_equal(unrelu_##kind##_unpack(NULL, 9, &model, &err), UNRELU_EFORMAT);           \
        assert_null(model);                                                                        \
        unsigned char *copy = malloc(size);                                                        \
        assert_non_null(copy);                                                                     \
        for (size_t i = 0; i < size; i += STRIDE) {                                                \
            unsigned char *cut = malloc(i > 0 ? i : 1);                                            \
            assert_non_null(cut);                                                                  \
            memcpy(cut, bytes, i);                                                                 \
            assert_int_equal(unrelu_##kind##_unpack(cut, i, &model, &err), UNRELU_EFORMAT);        \
            assert_null(model);                                                                    \
            free(cut);                                                                             \
            memcpy(copy, bytes, size);                                                             \
            copy[i] ^= (unsigned char)(1U << i % CHAR_BIT);                                        \
            unrelu_status status = unrelu_##kind##_unpack(copy, size, &model, &err);               \
            assert_true(status == UNRELU_OK || (status == UNRELU_EFORMAT && *err.text));           \
            assert_int_equal(status == UNRELU_OK, model != NULL);                                  \
            unrelu_##kind##_free(model);                                                           \
        }                                                                                          \
        free(copy);                                                                                \
    }
DAMAGE_OF(gaussian)
DAMAGE_OF(network)
DAMAGE_OF(mixture)
DAMAGE_OF(summary)

static unrelu_gaussian_plant_options three(void)
{
    unrelu_gaussian_plant_options o;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    o.d = 3;
    o.kappa = 2;
    return o;
}

static void gaussians_and_summaries(void **state)
{
    (void)state;
    enum { N = 500 };
    unrelu_error err = {0};
    unrelu_source *source = NULL;
    unrelu_summary *summary = NULL;
    unrelu_gaussian *truth = plant(three()), *model;
    double *x = draw(truth, N, 1);
    model = fit(x, N, 3, NULL);
    CHECK_KIND(gaussian, truth);
    CHECK_KIND(gaussian, model);
    must(unrelu_source_memory(x, N, 3, NULL, &source, &err), &err);
    must(unrelu_summary_collect(source, NULL, 10, NULL, &summary, &err), &err);
    CHECK_KIND(summary, summary);
    unrelu_summary_free(summary);
    unrelu_source_close(source);
    unrelu_gaussian_free(model);
    unrelu_gaussian_free(truth);
    free(x);
}

static void networks(void **state)
{
    (void)state;
    planted_network p = plant_network(3, 2, 2, 300, 0, 1);
    unrelu_network *model = NULL;
    unrelu_error err = {0};
    must(try_recover(p.x, p.a, p.n, p.d, p.m, NULL, NULL, &model, &err), &err);
    CHECK_KIND(network, p.truth);
    CHECK_KIND(network, model);
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void mixtures(void **state)
{
    (void)state;
    planted_mixture p = plant_mixture(4, 2, 0, 300, 0, 0, 1);
    CHECK_KIND(mixture, p.truth);
    unrelu_mixture_free(p.truth);
    free(p.x);
}

static void one_kind_is_not_read_as_another(void **state)
{
    (void)state;
    unrelu_gaussian *truth = plant(three());
    unrelu_network *network = NULL;
    unrelu_error err = {0};
    void *bytes = NULL;
    size_t size = 0;
    must(unrelu_gaussian_pack(truth, &bytes, &size, &err), &err);
    assert_int_equal(unrelu_network_unpack(bytes, size, &network, &err), UNRELU_EFORMAT);
    assert_string_equal(err.text, "model in memory is of kind 'rectified-gaussian', where a "
                                  "network is needed");
    unrelu_free(bytes);
    unrelu_gaussian_free(truth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaussians_and_summaries),
        cmocka_unit_test(networks),
        cmocka_unit_test(mixtures),
        cmocka_unit_test(one_kind_is_not_read_as_another),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
