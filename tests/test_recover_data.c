/* SPDX-License-Identifier: Apache-2.0 */
/* What a recovery stands on: data in memory and their digits, the frame, different rows, and the
 * linear part of labels. */
#include "files.h"
#include "networks.h"

#include "base/random.h"
#include "network/exact/exact.h"

/* ---- data.c ---- */

/* of what a test takes; ends with the program */
static ur_arena arena;

static int end_arena(void **state)
{
    ur_arena_end(&arena);
    return files_teardown(state);
}

static ur_data load(const double *x, const double *a, size_t n, size_t d, size_t m)
{
    unrelu_source *inputs = NULL, *labels = NULL;
    unrelu_error err = {0};
    ur_data data;
    must(unrelu_source_memory(x, n, d, NULL, &inputs, &err), &err);
    must(unrelu_source_memory(a, n, m, NULL, &labels, &err), &err);
    must(ur_data_load(inputs, labels, NULL, &arena, &data, &err), &err);
    unrelu_source_close(inputs);
    unrelu_source_close(labels);
    return data;
}

static void data_are_held_as_they_come(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 7, 1000, 20011}; /* over several blocks */
    for (size_t i = 0; i < 4; i++) {
        size_t n = lengths[i], d = 5, m = 3;
        planted_network p = plant_network(d, 2, m, n, .1, 1);
        ur_data data = load(p.x, p.a, n, d, m);
        double largest = 0, sum = 0;
        assert_true(data.n == n && data.d == d && data.m == m);
        assert_memory_equal(data.x, p.x, n * d * sizeof *p.x);
        assert_memory_equal(data.a, p.a, n * m * sizeof *p.a);
        for (size_t l = 0; l < n * m; l++) {
            largest = fmax(largest, fabs(p.a[l]));
            sum += p.a[l] * p.a[l];
        }
        assert_true(data.unit <= largest && largest < 2 * data.unit);
        int exponent;
        assert_true(frexp(data.unit, &exponent) == .5); /* a power of two */
        double squares = 0;
        for (size_t j = 0; j < m; j++)
            squares += pow(data.column_rms[j] * (data.column_unit[j] / data.unit), 2) * (double)n;
        assert_near(sqrt(squares) * data.unit / sqrt(sum), 1, 1e-12);
        planted_network_free(&p);
    }
}

static void digits_of_the_labels_are_counted(void **state)
{
    (void)state;
    planted_network p = plant_network(5, 2, 3, 200, .1, 1);
    double *a = malloc(600 * sizeof *a), floor = 1e-12;
    ur_data data = load(p.x, p.a, 200, 5, 3);
    assert_string_equal(data.precision, "double");
    assert_near(data.floor, 1e-12, 0);
    for (int digits = 12; digits >= 3; digits--) {
        char name[16];
        for (size_t i = 0; i < 600; i++) {
            char text[40];
            snprintf(text, sizeof text, "%.*e", digits - 1, p.a[i]);
            a[i] = strtod(text, NULL);
        }
        data = load(p.x, a, 200, 5, 3);
        snprintf(name, sizeof name, "digits:%d", digits);
        assert_string_equal(data.precision, name);
        assert_true(data.floor >= floor); /* never below what rounding leaves */
        assert_true(data.floor > .5 * pow(10, -digits) && data.floor < 1e-2);
        floor = data.floor;
    }
    for (size_t i = 0; i < 600; i++)
        a[i] = (double)(float)p.a[i];
    data = load(p.x, a, 200, 5, 3);
    assert_string_equal(data.precision, "single");
    assert_true(data.floor > 6e-8 && data.floor < 1e-5);
    a[599] = p.a[599]; /* one label with all its digits */
    data = load(p.x, a, 200, 5, 3);
    assert_string_equal(data.precision, "double");
    free(a);
    planted_network_free(&p);
}

static void refusals_name_the_file_the_row_and_the_column(void **state)
{
    (void)state;
    static const struct {
        const char *x, *a, *parts[4];
    } bad[] = {
        {"p,q\n1,2\n3,NA\n5,6\n", "y\n1\n2\n3\n", {"x.csv: ", "row 2", "q", "NaN"}},
        {"p,q\n1,2\n3,4\n5,6\n", "y,z\n1,1\n2,2\n3,\n", {"a.csv: ", "row 3", "z", "NaN"}},
        {"p,q\n1,2\n3,4\n5,6\n", "y\n1\n2\n", {"x.csv", "3 rows", "a.csv", "2"}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        unrelu_source *inputs = NULL, *labels = NULL;
        unrelu_error err = {0};
        ur_data data;
        must(unrelu_source_open(files_text("x.csv", bad[i].x), NULL, &inputs, &err), &err);
        must(unrelu_source_open(files_text("a.csv", bad[i].a), NULL, &labels, &err), &err);
        assert_int_equal(ur_data_load(inputs, labels, NULL, &arena, &data, &err), UNRELU_EFORMAT);
        for (size_t j = 0; j < 4; j++)
            if (!strstr(err.text, bad[i].parts[j]))
                fail_msg("no \"%s\" in: %s", bad[i].parts[j], err.text);
        unrelu_source_close(inputs);
        unrelu_source_close(labels);
    }
}

/* ---- frame.c ---- */

enum { N = 90, D = 5, M = 4 };

static const ur_terms kinds[] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};

static double cell(const ur_data *data, const ur_frame *f, size_t i, size_t j)
{
    return j < data->d ? data->x[f->row[i] * data->d + j] : 1;
}

static void assert_whitened(const ur_frame *f)
{
    for (size_t a = 0; a < f->p; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = 0;
            for (size_t i = 0; i < f->n; i++)
                sum += f->x[i * f->p + a] * f->x[i * f->p + b];
            assert_near(sum / (double)f->n, a == b, 1e-13);
        }
}

/* x of the frame times forth is the data; v x is the same number in both coordinates */
static void assert_maps(const ur_data *data, const ur_frame *f, const double *scale)
{
    double raw[3 * (D + 1)], V[3 * (D + 1)], again[3 * (D + 1)];
    for (size_t i = 0; i < f->n; i++)
        for (size_t j = 0; j < f->q; j++) {
            double sum = 0;
            for (size_t l = 0; l < f->p; l++)
                sum += f->x[i * f->p + l] * f->forth[l * f->q + j];
            assert_near(sum / scale[j], cell(data, f, i, j) / scale[j], 1e-12);
        }
    ur_random_normals(5, 99, 0, 3 * f->q, raw);
    for (size_t i = 0; i < 3 * f->q; i++)
        raw[i] /= scale[i % f->q];
    ur_frame_forth(f, 3, raw, V);
    for (size_t i = 0; i < f->n; i++)
        for (size_t r = 0; r < 3; r++) {
            double outside = 0, inside = 0;
            for (size_t j = 0; j < f->q; j++)
                outside += raw[r * f->q + j] * cell(data, f, i, j);
            for (size_t j = 0; j < f->p; j++)
                inside += V[r * f->p + j] * f->x[i * f->p + j];
            assert_near(inside, outside, 1e-11);
        }
    ur_frame_back(f, 3, V, again);
    for (size_t i = 0; i < 3 * f->q && f->p == f->q; i++)
        assert_near(again[i] * scale[i % f->q], raw[i] * scale[i % f->q], 1e-11);
    ur_frame_forth(f, 3, again, raw); /* there and back from inside, in any case */
    for (size_t i = 0; i < 3 * f->p; i++)
        assert_near(raw[i], V[i], 1e-11);
}

static void frames_are_whitened_and_there_and_back_are_inverse(void **state)
{
    (void)state;
    for (size_t t = 0; t < 4; t++)
        for (int scaled = 0; scaled < 2; scaled++) {
            planted_network p = plant_network(D, 3, M, N, 0, 2);
            double scale[D + 1];
            for (size_t j = 0; j <= D; j++)
                scale[j] = scaled && j < D ? pow(10, 3 * (double)j - 6) : 1;
            for (size_t i = 0; i < N * D; i++)
                p.x[i] *= scale[i % D];
            ur_data data = {.n = N, .d = D, .m = M, .x = p.x, .a = p.a, .unit = .25};
            ur_frame f;
            unrelu_error err = {0};
            must(ur_frame_make(&data, N, kinds[t], 0, &arena, &f, &err), &err);
            assert_true(f.n == N && f.d == D && f.m == M);
            assert_int_equal(f.q, D + (size_t)kinds[t].hidden);
            assert_int_equal(f.p, f.q);
            assert_whitened(&f);
            assert_maps(&data, &f, scale);
            for (size_t i = 0; i < N * M; i++)
                assert_near(f.a[i], p.a[i] * 4, 0);
            planted_network_free(&p);
        }
}

static void rows_of_a_frame_are_spread_over_the_data(void **state)
{
    (void)state;
    planted_network p = plant_network(D, 3, M, N, 0, 2);
    ur_data data = {.n = N, .d = D, .m = M, .x = p.x, .a = p.a, .unit = 1};
    static const size_t wanted[] = {20, 31, 89, 90, 500};
    for (size_t w = 0; w < 5; w++) {
        double scale[D + 1] = {1, 1, 1, 1, 1, 1};
        ur_frame f;
        unrelu_error err = {0};
        must(ur_frame_make(&data, wanted[w], kinds[0], 0, &arena, &f, &err), &err);
        assert_int_equal(f.n, wanted[w] < N ? wanted[w] : N);
        for (size_t i = 0; i < f.n; i++) {
            assert_true(f.row[i] < N && (i == 0 || f.row[i] > f.row[i - 1]));
            assert_near((double)f.row[i], (double)(i * N) / (double)f.n, 1);
            for (size_t j = 0; j < M; j++)
                assert_near(f.a[i * M + j], p.a[f.row[i] * M + j], 0);
        }
        assert_whitened(&f);
        assert_maps(&data, &f, scale);
    }
    planted_network_free(&p);
}

static void rank_deficient_inputs_give_rows_of_least_norm(void **state)
{
    (void)state;
    planted_network p = plant_network(D, 3, M, N, 0, 2);
    double scale[D + 1] = {1, 1, 1, 1, 1, 1}, V[2 * D], raw[2 * D];
    for (size_t i = 0; i < N; i++) /* x_5 = x_1 + 2 x_2 */
        p.x[i * D + 4] = p.x[i * D] + 2 * p.x[i * D + 1];
    ur_data data = {.n = N, .d = D, .m = M, .x = p.x, .a = p.a, .unit = 1};
    ur_frame f;
    unrelu_error err = {0};
    must(ur_frame_make(&data, N, kinds[0], 0, &arena, &f, &err), &err);
    assert_int_equal(f.p, D - 1);
    assert_whitened(&f);
    assert_maps(&data, &f, scale);
    ur_random_normals(6, 99, 0, 2 * f.p, V);
    ur_frame_back(&f, 2, V, raw);
    for (size_t r = 0; r < 2; r++) /* least norm: no part along (1, 2, 0, 0, -1) */
        assert_near(raw[r * D] + 2 * raw[r * D + 1] - raw[r * D + 4], 0, 1e-11);
    for (size_t i = 0; i < N; i++) /* a column of ones beside that of the bias */
        p.x[i * D + 4] = 3;
    must(ur_frame_make(&data, N, kinds[1], 0, &arena, &f, &err), &err);
    assert_int_equal(f.q, D + 1);
    assert_int_equal(f.p, D);
    planted_network_free(&p);
}

static void labels_of_a_frame_have_a_basis(void **state)
{
    (void)state;
    for (size_t t = 0; t < 4; t++) {
        planted_network p = plant_network(D, 3, M, N, 0, 2);
        ur_data data = {.n = N, .d = D, .m = M, .x = p.x, .a = p.a, .unit = 1};
        double *y = malloc(N * (M + 1) * sizeof *y);
        size_t rank = 0, constant = kinds[t].constant ? 1 : 0;
        ur_frame f;
        unrelu_error err = {0};
        must(ur_frame_make(&data, N, kinds[t], 0, &arena, &f, &err), &err);
        must(ur_frame_labels(&f, 1e-10, &rank, y, NULL, &err), &err);
        assert_int_equal(rank, 3 + constant);
        for (size_t j = 0; j < M + constant; j++) { /* labels and ones are in the span */
            double left = 0;
            for (size_t i = 0; i < N; i++) {
                double inside = 0, value = j < M ? p.a[i * M + j] : 1;
                for (size_t l = 0; l < rank; l++) {
                    double along = 0;
                    for (size_t h = 0; h < N; h++)
                        along += y[h * rank + l] * (j < M ? p.a[h * M + j] : 1);
                    inside += along * y[i * rank + l];
                }
                left = fmax(left, fabs(value - inside));
            }
            assert_near(left, 0, 1e-11);
        }
        free(y);
        planted_network_free(&p);
    }
}

static void biases_have_names(void **state)
{
    (void)state;
    static const char *const names[] = {"none", "hidden", "both", "output"};
    for (size_t t = 0; t < 4; t++)
        assert_string_equal(ur_terms_name(kinds[t]), names[t]);
}

/* ---- distinct.c ---- */

static size_t distinct(const double *x, size_t n, size_t d, const unsigned char *used,
                       size_t enough)
{
    size_t count = 77;
    unrelu_error err = {0};
    must(ur_distinct(x, n, d, used, enough, &count, &err), &err);
    return count;
}

static void different_rows_are_counted_once(void **state)
{
    (void)state;
    double tiny = 1 + 0x1p-52;
    double x[] = {0, 1, -0.0, 1, 0, 1, 1, 0, 1, -0.0, tiny, 0, 0, 0, -0.0, -0.0, 1, 1};
    unsigned char used[9] = {0, 0, 0, 1, 0, 0, 0, 0, 0};
    assert_int_equal(distinct(x, 9, 2, NULL, 100), 5); /* 01 10 tiny0 00 11 */
    assert_int_equal(distinct(x, 9, 2, NULL, 3), 3);
    assert_int_equal(distinct(x, 9, 2, NULL, 0), 0);
    assert_int_equal(distinct(x, 0, 2, NULL, 5), 0);
    assert_int_equal(distinct(x, 9, 2, used, 100), 4); /* 1 0 was seen */
    memset(used, 1, 9);
    assert_int_equal(distinct(x, 9, 2, used, 100), 0);
    assert_int_equal(distinct(x, 18, 1, NULL, 100), 3);
}

static void different_rows_are_those_of_a_double_loop(void **state)
{
    (void)state;
    enum { ROWS = 700, COLUMNS = 3 };
    double x[ROWS * COLUMNS];
    unsigned char used[ROWS];
    for (double wide = .4; wide < 20; wide *= 2) {
        size_t naive = 0, fresh = 0;
        ur_random_normals(9, 99, 0, ROWS * COLUMNS, x);
        for (size_t i = 0; i < ROWS * COLUMNS; i++)
            x[i] = nearbyint(x[i] * wide); /* -0 among them */
        for (size_t i = 0; i < ROWS; i++) {
            int seen = 0, known = 0;
            used[i] = i % 5 == 0;
            for (size_t l = 0; l < ROWS; l++) {
                int same = 1;
                for (size_t j = 0; j < COLUMNS; j++)
                    same &= x[i * COLUMNS + j] == x[l * COLUMNS + j];
                seen |= same && l < i;
                known |= same && (l % 5 == 0 || l < i);
            }
            naive += !seen;
            fresh += !known && i % 5 != 0;
        }
        assert_int_equal(distinct(x, ROWS, COLUMNS, NULL, ROWS), naive);
        assert_int_equal(distinct(x, ROWS, COLUMNS, used, ROWS), fresh);
    }
}

/* ---- linear_part.c ---- */

/* labels of a planted network plus a map of rank r; the planted rows in the frame */
typedef struct {
    planted_network p;
    ur_data data;
    ur_frame f;
    double map[M * D]; /* M x D */
    double V[3 * (D + 1)];
} mixed;

static void make_mixed(mixed *s, size_t rank, ur_terms terms, double noise)
{
    double left[M * 2], right[2 * D], raw[3 * (D + 1)];
    unrelu_error err = {0};
    s->p = plant_network(D, 3, M, N, noise, 2);
    ur_random_normals(3, 99, 0, M * 2, left);
    ur_random_normals(4, 99, 0, 2 * D, right);
    memset(s->map, 0, sizeof s->map);
    for (size_t r = 0; r < rank; r++)
        for (size_t i = 0; i < M * D; i++)
            s->map[i] += left[i / D * 2 + r] * right[r * D + i % D];
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < M; j++) {
            s->p.a[i * M + j] += terms.constant ? .3 * (double)(j + 1) : 0;
            for (size_t l = 0; l < D; l++)
                s->p.a[i * M + j] += s->map[j * D + l] * s->p.x[i * D + l];
        }
    s->data = (ur_data){.n = N, .d = D, .m = M, .x = s->p.x, .a = s->p.a, .unit = 1};
    must(ur_frame_make(&s->data, N, terms, 0, &arena, &s->f, &err), &err);
    memset(raw, 0, sizeof raw);
    for (size_t j = 0; j < 3; j++)
        memcpy(raw + j * s->f.q, s->p.truth->V + j * D, D * sizeof *raw);
    ur_frame_forth(&s->f, 3, raw, s->V);
}

static void mixed_free(mixed *s)
{
    planted_network_free(&s->p);
}

static size_t linear_rank(const mixed *s, size_t k, double *rows)
{
    size_t rank = 77;
    unrelu_error err = {0};
    must(ur_linear_part(&s->f, k, s->V, s->p.truth->activation, 1e-12, &rank, rows, &err), &err);
    return rank;
}

/* unit rows in the frame; in the data's coordinates, and apart from a constant, the rows of the map
 * are combinations of them */
static void assert_spans(const mixed *s, size_t rank, const double *rows)
{
    double raw[2 * (D + 1)], basis[2][D];
    ur_frame_back(&s->f, rank, rows, raw);
    for (size_t r = 0; r < rank; r++) { /* Gram-Schmidt of at most two */
        double length = 0, norm = 0, along = 0;
        memcpy(basis[r], raw + r * s->f.q, sizeof basis[r]);
        for (size_t j = 0; j < s->f.p; j++)
            length = hypot(length, rows[r * s->f.p + j]);
        assert_near(length, 1, 1e-12);
        for (size_t j = 0; j < D && r > 0; j++)
            along += basis[0][j] * basis[r][j];
        for (size_t j = 0; j < D; j++) {
            basis[r][j] -= r > 0 ? along * basis[0][j] : 0;
            norm = hypot(norm, basis[r][j]);
        }
        for (size_t j = 0; j < D; j++)
            basis[r][j] /= norm;
    }
    for (size_t o = 0; o < M; o++) {
        double v[D], left = 0;
        memcpy(v, s->map + o * D, sizeof v);
        for (size_t r = 0; r < rank; r++) {
            double inside = 0;
            for (size_t j = 0; j < D; j++)
                inside += basis[r][j] * v[j];
            for (size_t j = 0; j < D; j++)
                v[j] -= inside * basis[r][j];
        }
        for (size_t j = 0; j < D; j++)
            left = fmax(left, fabs(v[j]));
        assert_near(left, 0, 1e-9);
    }
}

static void the_rank_of_the_linear_part_is_found(void **state)
{
    (void)state;
    for (size_t t = 0; t < 4; t++)
        for (size_t rank = 0; rank <= 2; rank++) {
            mixed s;
            double rows[(D + 1) * (D + 1)];
            make_mixed(&s, rank, kinds[t], 0);
            if (linear_rank(&s, 3, rows) != rank)
                fail_msg("biases %s, rank %zu", ur_terms_name(kinds[t]), rank);
            assert_spans(&s, rank, rows);
            mixed_free(&s);
        }
}

static void labels_that_are_not_linear_have_no_linear_part(void **state)
{
    (void)state;
    static const ur_terms none = {0, 0};
    double rows[D * D];
    mixed s;
    make_mixed(&s, 2, none, 0);
    assert_int_equal(linear_rank(&s, 2, rows), 0); /* a neuron is missing */
    mixed_free(&s);
    make_mixed(&s, 2, none, 1e-6);
    assert_int_equal(linear_rank(&s, 3, rows), 0); /* noise */
    mixed_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_are_held_as_they_come),
        cmocka_unit_test(digits_of_the_labels_are_counted),
        cmocka_unit_test(refusals_name_the_file_the_row_and_the_column),
        cmocka_unit_test(frames_are_whitened_and_there_and_back_are_inverse),
        cmocka_unit_test(rows_of_a_frame_are_spread_over_the_data),
        cmocka_unit_test(rank_deficient_inputs_give_rows_of_least_norm),
        cmocka_unit_test(labels_of_a_frame_have_a_basis),
        cmocka_unit_test(biases_have_names),
        cmocka_unit_test(different_rows_are_counted_once),
        cmocka_unit_test(different_rows_are_those_of_a_double_loop),
        cmocka_unit_test(the_rank_of_the_linear_part_is_found),
        cmocka_unit_test(labels_that_are_not_linear_have_no_linear_part),
    };
    return cmocka_run_group_tests(tests, files_setup, end_arena);
}
