/* SPDX-License-Identifier: Apache-2.0 */
/* Deflated pattern-CCA, with signs and without, against planted neurons and dense algebra. */
#include "networks.h"

#include "base/random.h"
#include "dense/linear.h"
#include "network/pattern/deflated.h"

/* a planted network with biases in the coordinates that the iteration asks for: x and 1 whitened */
typedef struct {
    planted_network planted;
    size_t p, rank;       /* d + 1; columns of y */
    double *x, *y, *even; /* (n, p), (n, rank) with signs, (n, k) without */
    double *V;            /* (k, p) the planted rows at unit length */
} scene;

static double dot(const double *a, const double *b, size_t len)
{
    double sum = 0;
    for (size_t i = 0; i < len; i++)
        sum += a[i] * b[i];
    return sum;
}

static void unit(size_t len, double *v)
{
    double norm = sqrt(dot(v, v, len));
    for (size_t i = 0; i < len; i++)
        v[i] /= norm;
}

/* r (n x m) less its least squares on x */
static void take_off(const scene *s, size_t n, size_t m, double *r)
{
    for (int twice = 0; twice < 2; twice++)
        for (size_t j = 0; j < m; j++)
            for (size_t l = 0; l < s->p; l++) {
                double along = 0;
                for (size_t i = 0; i < n; i++)
                    along += s->x[i * s->p + l] * r[i * m + j] / (double)n;
                for (size_t i = 0; i < n; i++)
                    r[i * m + j] -= along * s->x[i * s->p + l];
            }
}

static scene make(size_t d, size_t k, size_t n, uint64_t seed)
{
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    unrelu_error err = {0};
    scene s = {.p = d + 1};
    size_t p = d + 1, rank = 0;
    o.d = d;
    o.k = o.m = k;
    o.bias = .5;
    o.seed = seed;
    s.planted = plant_network_with(o, n);
    double *raw = calloc(n * p, sizeof *raw), *labels = calloc(n * p, sizeof *labels);
    double *R = calloc(p * p, sizeof *R);
    s.x = calloc(n * p, sizeof *s.x);
    s.y = calloc(n * p, sizeof *s.y);
    s.even = calloc(n * p, sizeof *s.even);
    s.V = calloc(k * p, sizeof *s.V);
    for (size_t i = 0; i < n; i++) {
        memcpy(raw + i * p, s.planted.x + i * d, d * sizeof *raw);
        raw[i * p + d] = 1;
    }
    must(ur_qr_pivoted(n, p, raw, 1e-13, &rank, s.x, R, NULL, &err), &err);
    assert_int_equal(rank, p);
    for (size_t i = 0; i < n * p; i++)
        s.x[i] *= sqrt((double)n);
    for (size_t i = 0; i < n; i++) {
        memcpy(labels + i * (k + 1), s.planted.a + i * k, k * sizeof *labels);
        labels[i * (k + 1) + k] = 1;
    }
    must(ur_qr_pivoted(n, k + 1, labels, 1e-10, &s.rank, s.y, NULL, NULL, &err), &err);
    assert_int_equal(s.rank, k + 1);
    memcpy(labels, s.planted.a, n * k * sizeof *labels);
    take_off(&s, n, k, labels);
    must(ur_qr_pivoted(n, k, labels, 1e-10, &rank, s.even, NULL, NULL, &err), &err);
    assert_int_equal(rank, k);
    for (size_t j = 0; j < k; j++) {
        const unrelu_network *truth = s.planted.truth;
        for (size_t i = 0; i < p; i++)
            s.V[j * p + i] = dot(R + i * p, truth->V + j * d, d) + R[i * p + d] * truth->c[j];
        unit(p, s.V + j * p);
    }
    free(raw);
    free(labels);
    free(R);
    return s;
}

static void scene_free(scene *s)
{
    planted_network_free(&s->planted);
    free(s->x);
    free(s->y);
    free(s->even);
    free(s->V);
}

static ur_deflated problem_of(const scene *s, int signs)
{
    return (ur_deflated){.n = s->planted.n,
                         .p = s->p,
                         .k = signs ? s->rank : s->planted.k,
                         .x = s->x,
                         .y = signs ? s->y : s->even,
                         .signs = signs};
}

/* coordinates in y of |v x| off x, or of relu(v x), at unit length */
static void coordinates(const scene *s, const ur_deflated *q, const double *v, double *w)
{
    double *out = calloc(q->n, sizeof *out);
    for (size_t i = 0; i < q->n; i++) {
        double t = dot(q->x + i * q->p, v, q->p);
        out[i] = q->signs ? fmax(0, t) : fabs(t);
    }
    if (!q->signs)
        take_off(s, q->n, 1, out);
    memset(w, 0, q->k * sizeof *w);
    for (size_t i = 0; i < q->n; i++)
        for (size_t j = 0; j < q->k; j++)
            w[j] += q->y[i * q->k + j] * out[i];
    unit(q->k, w);
    free(out);
}

/* which planted row v is, to 1e-10, up to its sign without signs; k: none */
static size_t row_of(const scene *s, const double *v, int signs)
{
    for (size_t j = 0; j < s->planted.k; j++) {
        double plus = 0, minus = 0;
        for (size_t i = 0; i < s->p; i++) {
            plus = fmax(plus, fabs(v[i] - s->V[j * s->p + i]));
            minus = fmax(minus, fabs(v[i] + s->V[j * s->p + i]));
        }
        if (plus < 1e-10 || (!signs && minus < 1e-10))
            return j;
    }
    return s->planted.k;
}

enum { D = 8, K = 6, ROWS = 160 };

static void a_planted_neuron_is_a_fixed_point_with_rho_1(void **state)
{
    (void)state;
    scene s = make(D, K, ROWS, 3);
    UR_ARENA(arena);
    for (int signs = 0; signs < 2; signs++) {
        ur_deflated q = problem_of(&s, signs);
        ur_deflated_room *room = ur_deflated_room_in(&arena, &q);
        assert_non_null(room);
        for (size_t j = 0; j < K; j++)
            for (int opposite = 0; opposite < 2 - signs; opposite++) {
                double v[D + 1], w[K + 1], truth[K + 1];
                for (size_t i = 0; i <= D; i++)
                    v[i] = opposite ? -s.V[j * s.p + i] : s.V[j * s.p + i];
                ur_random_normals(5, 99, 0, q.k, w);
                ur_deflated_end end = ur_deflated_run(&q, room, v, w);
                assert_near(end.rho, 1, 1e-12);
                assert_near(end.fresh, 1, 1e-12);
                assert_int_equal(row_of(&s, v, signs), j);
                coordinates(&s, &q, v, truth);
                assert_near(fabs(dot(w, truth, q.k)), 1, 1e-12);
            }
    }
    scene_free(&s);
}

/* largest squared canonical correlation of y with P diag(sign(x v)) x, or with 1_{x v > 0} x */
static double naive_rho(const scene *s, const ur_deflated *q, const double *v)
{
    size_t n = q->n, p = q->p, k = q->k, rank = 0;
    double *F = calloc(n * p, sizeof *F), *Q = calloc(n * p, sizeof *Q);
    double *C = calloc(p * k, sizeof *C), *values = calloc(p + k, sizeof *values);
    unrelu_error err = {0};
    for (size_t i = 0; i < n; i++) {
        double t = dot(q->x + i * p, v, p);
        for (size_t j = 0; j < p; j++)
            F[i * p + j] = q->x[i * p + j] * (t > 0 ? 1 : q->signs ? 0 : -1);
    }
    if (!q->signs)
        take_off(s, n, p, F);
    must(ur_qr_pivoted(n, p, F, 1e-12, &rank, Q, NULL, NULL, &err), &err);
    assert_int_equal(rank, p);
    ur_multiply_tn(n, p, k, Q, q->y, C);
    must(ur_svd(p, k, C, NULL, values, NULL, &err), &err);
    double rho = values[0] * values[0];
    free(F);
    free(Q);
    free(C);
    free(values);
    return rho;
}

/* also where it is no neuron */
static void rho_is_that_of_dense_algebra(void **state)
{
    (void)state;
    scene s = make(D, K, ROWS, 4);
    UR_ARENA(arena);
    for (int signs = 0; signs < 2; signs++) {
        ur_deflated q = problem_of(&s, signs);
        ur_deflated_room *room = ur_deflated_room_in(&arena, &q);
        size_t others = 0;
        for (uint64_t seed = 1; seed <= 40; seed++) {
            double v[D + 1], w[K + 1];
            ur_random_normals(seed, 98, 0, s.p, v);
            ur_random_normals(seed, 97, 0, q.k, w);
            ur_deflated_end end = ur_deflated_run(&q, room, v, w);
            if (!(end.rho > 0))
                continue;
            assert_near(dot(v, v, s.p), 1, 1e-12);
            /* inverse iteration may rest on the second eigenvector where it is no neuron */
            assert_true(end.rho <= naive_rho(&s, &q, v) + 1e-12);
            if (1 - end.rho < 1e-9)
                assert_near(naive_rho(&s, &q, v), 1, 1e-12);
            others += 1 - end.rho >= 1e-9;
        }
        assert_true(others < 40);
    }
    scene_free(&s);
}

/* with all neurons known but one, and the constant with signs, there is only one left to find */
static void what_is_known_is_not_found_again(void **state)
{
    (void)state;
    scene s = make(D, K, ROWS, 5);
    UR_ARENA(arena);
    for (int signs = 0; signs < 2; signs++) {
        ur_deflated q = problem_of(&s, signs);
        ur_deflated_room *room = ur_deflated_room_in(&arena, &q);
        for (size_t missing = 0; missing < K; missing++) {
            double *known = calloc(q.k * q.k, sizeof *known);
            size_t knowns = 0, found = 0;
            for (size_t j = 0; j < K + (size_t)signs; j++) { /* Gram-Schmidt */
                double *w = known + knowns * q.k;
                if (j == missing)
                    continue;
                if (j < K)
                    coordinates(&s, &q, s.V + j * s.p, w);
                for (size_t i = 0; i < q.n && j == K; i++)
                    for (size_t l = 0; l < q.k; l++)
                        w[l] += q.y[i * q.k + l];
                for (int twice = 0; twice < 2; twice++)
                    for (size_t l = 0; l < knowns; l++) {
                        double along = dot(known + l * q.k, w, q.k);
                        for (size_t i = 0; i < q.k; i++)
                            w[i] -= along * known[l * q.k + i];
                    }
                unit(q.k, w);
                knowns++;
            }
            q.known = known;
            q.knowns = knowns;
            for (uint64_t seed = 1; seed <= 12; seed++) {
                double v[D + 1], w[K + 1];
                ur_random_normals(seed, 96, 0, s.p, v);
                ur_random_normals(seed, 95, 0, q.k, w);
                ur_deflated_end end = ur_deflated_run(&q, room, v, w);
                if (1 - end.rho > 1e-9 || !(end.fresh > 1e-5))
                    continue;
                assert_int_equal(row_of(&s, v, signs), missing);
                found++;
            }
            assert_true(found >= 4); /* of 12 */
            free(known);
        }
    }
    scene_free(&s);
}

static void a_side_of_fewer_rows_than_dimensions_is_refused(void **state)
{
    (void)state;
    scene s = make(D, K, ROWS, 3);
    UR_ARENA(arena);
    double v[D + 1], w[K + 1];
    for (int signs = 0; signs < 2; signs++) {
        ur_deflated q = problem_of(&s, signs);
        ur_deflated_room *room = ur_deflated_room_in(&arena, &q);
        size_t seen = 0;
        for (uint64_t seed = 1; seed < 2000 && seen < 5; seed++) {
            ur_random_normals(seed, 94, 0, s.p, v);
            for (size_t i = 0; i < s.p; i++) /* near the constant, whose coordinate is x'1 / n */
                for (size_t l = 0; l < q.n; l++)
                    v[i] -= (signs ? 3. : -3.) * s.x[l * s.p + i] / (double)q.n;
            size_t on = 0;
            for (size_t i = 0; i < q.n; i++)
                on += dot(s.x + i * s.p, v, s.p) > 0;
            if (signs ? on >= s.p : q.n - on >= s.p)
                continue;
            ur_random_normals(seed, 93, 0, q.k, w);
            assert_true(ur_deflated_run(&q, room, v, w).rho == 0);
            seen++;
        }
        assert_int_equal(seen, 5);
    }
    scene_free(&s);
}

static void an_aim_is_the_largest_eigenvector_of_weighted_inputs(void **state)
{
    (void)state;
    scene s = make(D, K, 4000, 6);
    ur_deflated q = problem_of(&s, 0);
    UR_ARENA(arena);
    ur_deflated_room *room = ur_deflated_room_in(&arena, &q);
    unrelu_error err = {0};
    double w[K], v[D + 1], M[(D + 1) * (D + 1)] = {0}, values[D + 1], vectors[(D + 1) * (D + 1)];
    coordinates(&s, &q, s.V, w);
    ur_random_normals(1, 92, 0, s.p, v);
    ur_deflated_aim(&q, room, w, v);
    for (size_t i = 0; i < q.n; i++)
        for (size_t a = 0; a < s.p * s.p; a++)
            M[a] += dot(q.y + i * q.k, w, q.k) * s.x[i * s.p + a / s.p] * s.x[i * s.p + a % s.p];
    must(ur_eigen_symmetric(s.p, M, values, vectors, &err), &err);
    size_t top = fabs(values[0]) > fabs(values[s.p - 1]) ? 0 : s.p - 1;
    double along = 0;
    for (size_t i = 0; i < s.p; i++)
        along += v[i] * vectors[i * s.p + top];
    assert_true(fabs(along) > .9);
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_planted_neuron_is_a_fixed_point_with_rho_1),
        cmocka_unit_test(rho_is_that_of_dense_algebra),
        cmocka_unit_test(what_is_known_is_not_found_again),
        cmocka_unit_test(a_side_of_fewer_rows_than_dimensions_is_refused),
        cmocka_unit_test(an_aim_is_the_largest_eigenvector_of_weighted_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
