/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of PyTorch, in .safetensors files that are written here byte by byte and in .npz ones. */
#include "networks.h"

#include "base/limits.h"
#include "files.h"
#include "network/model/network.h"
#include "network/model/onnx.h"
#include "read/safetensors.h"
#include "write/npz_write.h"

static const double HIDDEN[] = {3, 4, 0, -1, 2, 2}; /* 3 neurons, 2 inputs */
static const double SHIFT[] = {0.5, -0.25, 0}, OUTER[] = {1, -2, 0.5}, LEVEL[] = {7};

/* a .safetensors file of this header and these numbers */
static const char *tensors(const char *name, const char *header, const void *data, size_t size)
{
    unsigned char bytes[4096] = {0};
    size_t length = strlen(header);
    for (size_t i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(length >> 8 * i);
    memcpy(bytes + 8, header, length);
    if (size > 0)
        memcpy(bytes + 8 + length, data, size);
    return files_write(name, bytes, 8 + length + size);
}

static unrelu_network *load(const char *path)
{
    unrelu_network *m = NULL;
    unrelu_error err = {0};
    must(unrelu_network_load(path, &m, &err), &err);
    return m;
}

static void assert_refused(const char *path, const char *because)
{
    unrelu_network *m = NULL;
    unrelu_error err = {0};
    assert_int_equal(unrelu_network_load(path, &m, &err), UNRELU_EFORMAT);
    assert_null(m);
    if (!strstr(err.text, because))
        fail_msg("'%s' is not in: %s", because, err.text);
}

/* y of x = (1, 1) by the formula: relu(7.5), relu(-1.25), relu(4) */
static void assert_is_the_network(const unrelu_network *m)
{
    const double x[] = {1, 1};
    double y = 0;
    unrelu_error err = {0};
    assert_int_equal(m->d, 2);
    assert_int_equal(m->k, 3);
    assert_int_equal(m->m, 1);
    must(unrelu_network_predict(m, x, 1, NULL, &y, &err), &err);
    assert_near(y, 7.5 + 0.5 * 4 + 7, 1e-14);
    for (size_t j = 0; j < m->k; j++)
        assert_near(hypot(m->V[2 * j], m->V[2 * j + 1]), 1, 1e-15);
}

static const char FOUR[] =
    "{\"__metadata__\":{\"format\":\"pt\"},"
    "\"0.weight\":{\"dtype\":\"F64\",\"shape\":[3,2],\"data_offsets\":[0,48]},"
    "\"0.bias\":{\"dtype\":\"F64\",\"shape\":[3],\"data_offsets\":[48,72]},"
    "\"2.weight\":{\"shape\":[1,3],\"dtype\":\"F64\",\"data_offsets\":[72,96]},"
    "\"2.bias\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[96,104]}}   ";

static size_t four(double *data)
{
    memcpy(data, HIDDEN, sizeof HIDDEN);
    memcpy(data + 6, SHIFT, sizeof SHIFT);
    memcpy(data + 9, OUTER, sizeof OUTER);
    memcpy(data + 12, LEVEL, sizeof LEVEL);
    return 13 * sizeof *data;
}

static void safetensors_are_read(void **state)
{
    (void)state;
    double data[13];
    size_t size = four(data);
    const char *path = tensors("net.safetensors", FOUR, data, size);
    char kind[32];
    unrelu_error err = {0};
    unrelu_network *m = load(path);
    assert_is_the_network(m);
    unrelu_network_free(m);
    must(unrelu_file_kind(path, kind, sizeof kind, &err), &err);
    assert_string_equal(kind, "network");
}

static void npz_of_numpy_is_read(void **state)
{
    (void)state;
    const char *path = files_path("net.npz");
    const size_t V[] = {3, 2}, U[] = {1, 3}, c[] = {3}, e[] = {1};
    ur_npz_writer *w;
    unrelu_error err = {0};
    must(ur_npz_writer_open(path, &w, &err), &err);
    ur_npz_add(w, "fc2.bias", LEVEL, 1, e);
    ur_npz_add(w, "fc2.weight", OUTER, 2, U);
    ur_npz_add(w, "fc1.bias", SHIFT, 1, c);
    ur_npz_add(w, "fc1.weight", HIDDEN, 2, V);
    must(ur_npz_commit(w, &err), &err);
    unrelu_network *m = load(path);
    assert_is_the_network(m);
    unrelu_network_free(m);
}

/* 1, -2, 1/3 (rounded) and a subnormal number, as numpy has them */
static void short_numbers_are_widened(void **state)
{
    (void)state;
    const uint16_t half[] = {0x3c00, 0xc000, 0x3555, 0x0001, 0x7c00},
                   brain[] = {0x3f80, 0xc000, 0x3eab};
    const float single[] = {1, -2, 1.f / 3};
    double out[5];
    ur_safetensors_convert(UR_TENSOR_F16, (const unsigned char *)half, 5, out);
    assert_true(out[0] == 1);
    assert_true(out[1] == -2);
    assert_true(out[2] == 0.333251953125);
    assert_true(out[3] == 0x1p-24);
    assert_true(isinf(out[4]));
    ur_safetensors_convert(UR_TENSOR_BF16, (const unsigned char *)brain, 3, out);
    assert_true(out[0] == 1);
    assert_true(out[1] == -2);
    assert_true(out[2] == 0.333984375);
    ur_safetensors_convert(UR_TENSOR_F32, (const unsigned char *)single, 3, out);
    assert_true(out[2] == (double)single[2]);
}

/* an autoencoder: its two matrices could come in either order */
static void names_decide_where_shapes_do_not(void **state)
{
    (void)state;
    static const char numbered[] = "{\"l.10.weight\":{\"dtype\":\"F64\",\"shape\":[1,1],"
                                   "\"data_offsets\":[0,8]},"
                                   "\"l.9.weight\":{\"dtype\":\"F64\",\"shape\":[1,1],"
                                   "\"data_offsets\":[8,16]}}",
                      words[] = "{\"out.weight\":{\"dtype\":\"F64\",\"shape\":[1,1],"
                                "\"data_offsets\":[0,8]},"
                                "\"in.weight\":{\"dtype\":\"F64\",\"shape\":[1,1],"
                                "\"data_offsets\":[8,16]}}";
    const double data[] = {-5, 1};
    unrelu_network *m = load(tensors("a.safetensors", numbered, data, sizeof data));
    assert_true(m->V[0] == 1);
    assert_true(m->U[0] == -5);
    unrelu_network_free(m);
    assert_refused(tensors("b.safetensors", words, data, sizeof data), "either may be the first");
}

/* what is exported is read again bit by bit, with its activation */
static void exported_weights_come_back(void **state)
{
    (void)state;
    static const char *const activations[] = {"relu", "power:2", "leaky:0.1", "expm1", "tanh"};
    const char *path = files_path("again.safetensors");
    unrelu_error err = {0};
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++) {
        unrelu_network_plant_options o;
        unrelu_network *truth;
        unrelu_network_plant_options_init(&o, sizeof o);
        o.d = 5;
        o.k = 4;
        o.m = 3;
        o.bias = 1;
        must(unrelu_activation_parse(activations[i], &o.activation, &err), &err);
        must(unrelu_network_plant(&o, &truth, &err), &err);
        must(unrelu_network_export(truth, path, 0, &err), &err);
        unrelu_network *m = load(path);
        assert_string_equal(m->activation_name, activations[i]);
        assert_memory_equal(m->V, truth->V, 20 * sizeof *m->V);
        assert_memory_equal(m->U, truth->U, 12 * sizeof *m->U);
        assert_memory_equal(m->c, truth->c, 4 * sizeof *m->c);
        assert_memory_equal(m->e, truth->e, 3 * sizeof *m->e);
        unrelu_network_free(m);
        unrelu_network_free(truth);
    }
}

static void exports_that_cannot_be_are_refused(void **state)
{
    (void)state;
    double data[13];
    size_t size = four(data);
    unrelu_error err = {0};
    unrelu_network *m = load(tensors("net.safetensors", FOUR, data, size));
    assert_int_equal(unrelu_network_export(m, files_path("net.bin"), 0, &err), UNRELU_EUSAGE);
    assert_non_null(strstr(err.text, ".safetensors"));
    assert_int_equal(unrelu_network_export(m, NULL, 0, &err), UNRELU_EUSAGE);
    m->e[0] = 1e300;
    assert_int_equal(unrelu_network_export(m, files_path("net.onnx"), 1, &err), UNRELU_EUSAGE);
    assert_string_equal(err.option, "float32");
    assert_int_not_equal(access(files_path("net.onnx"), F_OK), 0);
    must(unrelu_network_export(m, files_path("net.onnx"), 0, &err), &err);
    unrelu_network_free(m);
}

/* whose numbers nobody has to hold for this */
static void graphs_beyond_what_readers_take_are_refused(void **state)
{
    (void)state;
    const char *path = files_path("large.onnx");
    const ur_weights large = {.d = 1 << 20, .k = 1 << 9, .m = 1};
    unrelu_error err = {0};
    assert_int_equal(ur_onnx_write(path, &large, 0, &err), UNRELU_EUSAGE);
    assert_non_null(strstr(err.text, "4294975496 bytes, and an .onnx file ends at 2147483647"));
    assert_string_equal(err.option, "float32");
    assert_int_equal(ur_onnx_write(path, &large, 1, &err), UNRELU_EUSAGE);
    assert_non_null(strstr(err.text, "write .safetensors"));
    assert_int_not_equal(access(path, F_OK), 0);
}

static unrelu_status load_scaled(double v, double u, double c, unrelu_error *err)
{
    static const char header[] =
        "{\"0.weight\":{\"dtype\":\"F64\",\"shape\":[1,2],\"data_offsets\":[0,16]},"
        "\"2.weight\":{\"dtype\":\"F64\",\"shape\":[2,1],\"data_offsets\":[16,32]},"
        "\"0.bias\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[32,40]}}";
    const double data[] = {v, v, u, u, c};
    unrelu_network *m = NULL;
    unrelu_status status =
        unrelu_network_load(tensors("scaled.safetensors", header, data, sizeof data), &m, err);
    unrelu_network_free(m);
    return status;
}

/* finite as they are, and not where V has rows of length 1 */
static void weights_beyond_a_double_are_refused(void **state)
{
    (void)state;
    unrelu_error err = {0};
    must(load_scaled(1, 1e308, 1e308, &err), &err);
    assert_int_equal(load_scaled(1e308, 1e308, 0, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "beyond the range of a double"));
    assert_int_equal(load_scaled(1e-300, 1, 1e300, &err), UNRELU_EFORMAT);
}

/* the most that a file may hold, in the worst order for a sort by insertion: it would take an hour
 */
static void a_million_neurons_are_put_in_order(void **state)
{
    (void)state;
    enum { MANY = UR_COLUMNS_MOST };
    char header[256];
    const size_t bytes = MANY * sizeof(double);
    snprintf(header, sizeof header,
             "{\"0.weight\":{\"dtype\":\"F64\",\"shape\":[%d,1],\"data_offsets\":[0,%zu]},"
             "\"2.weight\":{\"dtype\":\"F64\",\"shape\":[1,%d],\"data_offsets\":[%zu,%zu]}}",
             MANY, bytes, MANY, bytes, 2 * bytes);
    const size_t length = strlen(header);
    unsigned char *file = calloc(1, 8 + length + 2 * bytes);
    for (size_t i = 0; i < 8; i++)
        file[i] = (unsigned char)(length >> 8 * i);
    memcpy(file + 8, header, length);
    for (size_t i = 0; i < MANY; i++) {
        const double v = -1, u = (double)i;
        memcpy(file + 8 + length + i * sizeof v, &v, sizeof v);
        memcpy(file + 8 + length + bytes + i * sizeof u, &u, sizeof u);
    }
    unrelu_network *m = load(files_write("many.safetensors", file, 8 + length + 2 * bytes));
    free(file);
    for (size_t i = 0; i < MANY; i++)
        assert_true(m->U[i] == (double)(MANY - 1 - i));
    unrelu_network_free(m);
}

#define ONE(name, shape, from, to)                                                                 \
    "\"" name "\":{\"dtype\":\"F64\",\"shape\":" shape ",\"data_offsets\":[" from "," to "]}"

static void other_networks_are_refused(void **state)
{
    (void)state;
    const double data[8] = {1, 1, 1, 1, 1, 1, 1, INFINITY};
    const struct {
        const char *header, *because;
    } cases[] = {
        {"{" ONE("0.weight", "[1,2]", "0", "16") "}", "1 array called *.weight"},
        {"{" ONE("0.weight", "[1,1]", "0", "8") "," ONE("2.weight", "[1,1]", "8", "16") "," ONE(
             "4.weight", "[1,1]", "16", "24") "}",
         "3 arrays called *.weight"},
        {"{" ONE("0.weight", "[1,2]", "0", "16") "," ONE("2.weight", "[1,1]", "16", "24") "," ONE(
             "1.running_mean", "[1]", "24", "32") "}",
         "'1.running_mean' beside"},
        {"{" ONE("0.weight", "[2]", "0", "16") "," ONE("2.weight", "[1,1]", "16", "24") "}",
         "1 dimensions"},
        {"{" ONE("0.weight", "[2,2]", "0", "32") "," ONE("2.weight", "[1,3]", "32", "56") "}",
         "not two layers in a row"},
        {"{" ONE("0.weight", "[1,2]", "0", "16") "," ONE("2.weight", "[1,1]", "56", "64") "}",
         "inf"},
        {"{" ONE("0.weight", "[1,2]", "0", "16") "," ONE("2.weight", "[1,1]", "16", "24") "," ONE(
             "0.bias", "[2]", "24", "40") "}",
         "holds 2 numbers, expected 1"},
        {"{" ONE("0.weight", "[0,2]", "0", "0") "," ONE("2.weight", "[1,0]", "0", "0") "}",
         "no numbers"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(tensors("x.safetensors", cases[i].header, data, sizeof data),
                       cases[i].because);
}

static void damaged_headers_are_refused(void **state)
{
    (void)state;
    const double data[2] = {1, 1};
    const struct {
        const char *header, *because;
    } cases[] = {
        {"{\"a\":3}", "'{' is needed at byte 6"},
        {"{\"a\":{\"dtype\":\"F64\"}}", "dtype, shape and data_offsets"},
        {"{\"a\":{\"dtype\":\"F64\",\"dtype\":\"F64\"}}", "each once"},
        {"{\"a", "the end of a text"},
        {"{\"a\n\":1}", "control characters"},
        {"{" ONE("a", "[1]", "0", "99") "}", "lies at bytes 0 to 99"},
        {"{" ONE("a", "[1]", "8", "0") "}", "lies at bytes 8 to 0"},
        {"{" ONE("a", "[3]", "0", "16") "}", "not what its shape and type"},
        {"{" ONE("a", "[99999999999,99999999999]", "0", "16") "}", "not what its shape and type"},
        {"{" ONE("a", "[99999999999999999999]", "0", "16") "}", "a smaller number"},
        {"{" ONE("a", "[-1]", "0", "16") "}", "a whole number"},
        {"{" ONE("a", "[1]", "0", "8") "} x", "the end of the header"},
        {"{" ONE("a", "[1]", "0", "8") "," ONE("b", "[1]", "8", "16") "," ONE("a", "[0]", "8",
                                                                              "8") "}",
         "two arrays called 'a'"},
        {"{" ONE("b", "[1]", "8", "16") "," ONE("a", "[2]", "0", "16") "}",
         "'a' and 'b' share bytes from 8 on"},
        {"{" ONE("a", "[1]", "0", "8") ",}", "'\"' is needed"},
        {"{\"a\":{\"dtype\":\"a type that has no end\",\"shape\":[1],\"data_offsets\":[0,8]}}",
         "a type such as F32"},
        {"{\"a\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0]}}", "two offsets"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(tensors("x.safetensors", cases[i].header, data, sizeof data),
                       cases[i].because);
    unsigned char length[] = {255, 0, 0, 0, 0, 0, 0, 0, '{', '}'};
    assert_refused(files_write("cut.safetensors", length, sizeof length), "cut short");
}

static void other_types_are_refused_where_they_are_wanted(void **state)
{
    (void)state;
    static const char header[] =
        "{\"0.weight\":{\"dtype\":\"I64\",\"shape\":[1,1],\"data_offsets\":[0,8]}," ONE(
            "2.weight", "[1,1]", "8", "16") "}";
    const double data[2] = {1, 1};
    assert_refused(tensors("x.safetensors", header, data, sizeof data), "of type I64");
}

static void weights_are_no_samples(void **state)
{
    (void)state;
    double data[13];
    size_t size = four(data);
    unrelu_source *source = NULL;
    unrelu_error err = {0};
    const char *path = tensors("net.safetensors", FOUR, data, size);
    assert_int_equal(unrelu_source_open(path, NULL, &source, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "not samples"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(safetensors_are_read),
        cmocka_unit_test(npz_of_numpy_is_read),
        cmocka_unit_test(short_numbers_are_widened),
        cmocka_unit_test(names_decide_where_shapes_do_not),
        cmocka_unit_test(exported_weights_come_back),
        cmocka_unit_test(exports_that_cannot_be_are_refused),
        cmocka_unit_test(graphs_beyond_what_readers_take_are_refused),
        cmocka_unit_test(weights_beyond_a_double_are_refused),
        cmocka_unit_test(a_million_neurons_are_put_in_order),
        cmocka_unit_test(other_networks_are_refused),
        cmocka_unit_test(damaged_headers_are_refused),
        cmocka_unit_test(other_types_are_refused_where_they_are_wanted),
        cmocka_unit_test(weights_are_no_samples),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
