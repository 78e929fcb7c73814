/* SPDX-License-Identifier: Apache-2.0 */
/* Pattern-CCA against planted neurons and against dense algebra by Gram-Schmidt. */
#include "networks.h"

#include "base/random.h"
#include "dense/linear.h"
#include "network/pattern/pattern.h"

/* a planted network in the coordinates that the iteration asks for */
typedef struct {
    planted_network planted;
    ur_pattern q;
    double *x, *y, *V; /* x'x = n I, y'y = I, the planted rows as unit vectors there */
} scene;

static scene make(size_t d, size_t k, size_t m, size_t n, const char *activation, uint64_t seed)
{
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    unrelu_error err = {0};
    scene s = {0};
    o.d = d;
    o.k = k;
    o.m = m;
    o.seed = seed;
    must(unrelu_activation_parse(activation, &o.activation, &err), &err);
    s.planted = plant_network_with(o, n);
    s.x = malloc(n * d * sizeof *s.x);
    s.y = malloc(n * m * sizeof *s.y);
    s.V = calloc(k * d, sizeof *s.V);
    double *R = malloc(d * d * sizeof *R), root = sqrt((double)n);
    size_t rank = 0;
    must(ur_qr_pivoted(n, d, s.planted.x, 1e-13, &rank, s.x, R, NULL, &err), &err);
    assert_int_equal(rank, d);
    must(ur_qr_pivoted(n, m, s.planted.a, 1e-10, &rank, s.y, NULL, NULL, &err), &err);
    assert_int_equal(rank, k);
    for (size_t i = 0; i < n * d; i++)
        s.x[i] *= root;
    for (size_t j = 0; j < k; j++) { /* raw x v = (x / root) R v */
        double norm = 0;
        for (size_t i = 0; i < d; i++) {
            for (size_t l = 0; l < d; l++)
                s.V[j * d + i] += R[i * d + l] * s.planted.truth->V[j * d + l];
            norm = hypot(norm, s.V[j * d + i]);
        }
        for (size_t i = 0; i < d; i++)
            s.V[j * d + i] /= norm;
    }
    free(R);
    double degree = o.activation.kind == UNRELU_POWER ? o.activation.parameter : 1;
    s.q = (ur_pattern){n, d, k, s.x, s.y, degree};
    return s;
}

static void scene_free(scene *s)
{
    planted_network_free(&s->planted);
    free(s->x);
    free(s->y);
    free(s->V);
}

static double dot(const double *a, const double *b, size_t len)
{
    double sum = 0;
    for (size_t i = 0; i < len; i++)
        sum += a[i] * b[i];
    return sum;
}

static double distance(const double *a, const double *b, size_t len)
{
    double most = 0;
    for (size_t i = 0; i < len; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* Columns of Z (n x p, column-major), one after the other, become orthonormal; one that lies in
 * the span of those before it becomes 0. norms (p, may be NULL): what was left of each. */
static void gram_schmidt(size_t n, size_t p, double *Z, double *norms)
{
    for (size_t j = 0; j < p; j++) {
        double *z = Z + j * n, before = sqrt(dot(z, z, n));
        for (int twice = 0; twice < 2; twice++)
            for (size_t l = 0; l < j; l++) {
                double along = dot(Z + l * n, z, n);
                for (size_t i = 0; i < n; i++)
                    z[i] -= along * Z[l * n + i];
            }
        double norm = sqrt(dot(z, z, n)), factor = norm > 1e-9 * before ? 1 / norm : 0;
        for (size_t i = 0; i < n; i++)
            z[i] *= factor;
        if (norms)
            norms[j] = norm;
    }
}

/* columns (v x)^(q-1) x over S and 0 elsewhere, then those of y: n x (p + k) */
static double *equations(const ur_pattern *q, const double *v)
{
    double *Z = calloc(q->n * (q->p + q->k), sizeof *Z);
    for (size_t i = 0; i < q->n; i++) {
        double t = dot(q->x + i * q->p, v, q->p);
        for (size_t j = 0; j < q->p && t > 0; j++)
            Z[j * q->n + i] = pow(t, q->degree - 1) * q->x[i * q->p + j];
        for (size_t j = 0; j < q->k; j++)
            Z[(q->p + j) * q->n + i] = q->y[i * q->k + j];
    }
    return Z;
}

static double naive_leverage(const ur_pattern *q, const double *v)
{
    double *Z = equations(q, v), most = 0;
    gram_schmidt(q->n, q->p + q->k, Z, NULL);
    for (size_t i = 0; i < q->n; i++) {
        double sum = 0;
        for (size_t j = 0; j < q->p + q->k; j++)
            sum += Z[j * q->n + i] * Z[j * q->n + i];
        most = fmax(most, sum);
    }
    free(Z);
    return most;
}

/* squared canonical correlations (decreasing) and the spread of the pivots */
static double naive_correlations(const ur_pattern *q, const double *v, double *rho)
{
    double *Z = equations(q, v), *norms = malloc(q->p * sizeof *norms);
    double *C = malloc(q->p * q->k * sizeof *C), least = INFINITY, most = 0;
    unrelu_error err = {0};
    gram_schmidt(q->n, q->p, Z, norms);
    for (size_t i = 0; i < q->p; i++) {
        for (size_t j = 0; j < q->k; j++)
            C[i * q->k + j] = dot(Z + i * q->n, Z + (q->p + j) * q->n, q->n);
        least = fmin(least, norms[i] * norms[i]);
        most = fmax(most, norms[i] * norms[i]);
    }
    must(ur_svd(q->p, q->k, C, NULL, rho, NULL, &err), &err);
    for (size_t j = 0; j < q->k && j < q->p; j++)
        rho[j] *= rho[j];
    free(Z);
    free(norms);
    free(C);
    return least / most;
}

static void random_unit(uint64_t seed, size_t p, double *v)
{
    ur_random_normals(seed, 99, 0, p, v);
    double norm = sqrt(dot(v, v, p));
    for (size_t i = 0; i < p; i++)
        v[i] /= norm;
}

static void a_planted_neuron_is_a_fixed_point(void **state)
{
    (void)state;
    static const char *const names[] = {"relu", "power:2", "power:1.5", "power:3"};
    for (size_t f = 0; f < 4; f++) {
        scene s = make(8, 4, 6, 90, names[f], 1);
        UR_ARENA(room_arena);
        ur_pattern_room *room = ur_pattern_room_in(&room_arena, &s.q);
        double v[8], w[4];
        assert_non_null(room);
        for (size_t j = 0; j < 4; j++) {
            memcpy(v, s.V + j * 8, sizeof v);
            ur_pattern_end end = ur_pattern_run(&s.q, room, NULL, 0, v, w);
            assert_near(end.rho, 1, 1e-13);
            assert_true(end.second < 1 - 1e-7);
            assert_near(distance(v, s.V + j * 8, 8), 0, 1e-12);
            assert_near(dot(w, w, 4), 1, 1e-12);
            /* y w is the neuron's output up to one positive factor */
            double factor = 0, most = 0;
            size_t active = 0;
            for (size_t i = 0; i < s.q.n; i++) {
                double t = fmax(0, dot(s.x + i * 8, v, 8)), out = pow(t, s.q.degree);
                active += t > 0;
                if (out > most) {
                    most = out;
                    factor = dot(s.y + i * 4, w, 4) / out;
                }
            }
            assert_true(factor > 0);
            assert_int_equal(end.active, active);
            for (size_t i = 0; i < s.q.n; i++)
                assert_near(dot(s.y + i * 4, w, 4),
                            factor * pow(fmax(0, dot(s.x + i * 8, v, 8)), s.q.degree), 1e-12);
        }
        scene_free(&s);
    }
}

static void a_start_within_a_third_of_a_radian_leads_to_its_neuron(void **state)
{
    (void)state;
    static const char *const names[] = {"relu", "power:2"};
    for (size_t f = 0; f < 2; f++) {
        scene s = make(8, 4, 6, 120, names[f], 2);
        UR_ARENA(room_arena);
        ur_pattern_room *room = ur_pattern_room_in(&room_arena, &s.q);
        double v[8], w[4];
        for (size_t j = 0; j < 4; j++) {
            random_unit(50 + j, 8, v);
            double along = dot(v, s.V + j * 8, 8), across = sqrt(1 - along * along);
            for (size_t i = 0; i < 8; i++)
                v[i] =
                    cos(.3) * s.V[j * 8 + i] + sin(.3) * (v[i] - along * s.V[j * 8 + i]) / across;
            ur_pattern_end end = ur_pattern_run(&s.q, room, NULL, 0, v, w);
            assert_near(end.rho, 1, 1e-12);
            assert_near(distance(v, s.V + j * 8, 8), 0, 1e-11);
        }
        scene_free(&s);
    }
}

static void random_starts_end_at_neurons_or_say_that_they_do_not(void **state)
{
    (void)state;
    scene s = make(8, 4, 6, 100, "relu", 3);
    UR_ARENA(room_arena);
    ur_pattern_room *room = ur_pattern_room_in(&room_arena, &s.q);
    int hits = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        double v[8], w[4], nearest = INFINITY;
        random_unit(seed, 8, v);
        ur_pattern_end end = ur_pattern_run(&s.q, room, NULL, 0, v, w);
        assert_true(end.rho <= 1 + 1e-12);
        for (size_t j = 0; j < 4; j++)
            nearest = fmin(nearest, distance(v, s.V + j * 8, 8));
        if (1 - end.rho < 1e-9)
            assert_near(nearest, 0, 1e-9);
        else
            assert_true(nearest > 1e-3);
        hits += 1 - end.rho < 1e-9;
    }
    assert_true(hits >= 30); /* nine of ten at 12 rows for each input */
    scene_free(&s);
}

static void a_look_sees_the_correlations_of_dense_algebra(void **state)
{
    (void)state;
    static const char *const names[] = {"relu", "power:2"};
    for (size_t f = 0; f < 2; f++) {
        scene s = make(6, 3, 5, 60, names[f], 4);
        UR_ARENA(room_arena);
        ur_pattern_room *room = ur_pattern_room_in(&room_arena, &s.q);
        for (uint64_t seed = 1; seed <= 10; seed++) {
            double v[6], kept[6], rho[3];
            random_unit(seed, 6, v);
            memcpy(kept, v, sizeof v);
            double spread = naive_correlations(&s.q, v, rho);
            ur_pattern_end end = ur_pattern_look(&s.q, room, v, 0);
            assert_memory_equal(v, kept, sizeof v);
            assert_near(end.rho, rho[0], 1e-11);
            assert_near(end.second, rho[1], 1e-11);
            assert_near(end.spread / spread, 1, 1e-8);
            assert_true(end.rho > 0 && end.rho < 1 - 1e-6);
        }
        scene_free(&s);
    }
}

static void leverage_is_of_the_diagonal_of_the_hat_matrix(void **state)
{
    (void)state;
    static const char *const names[] = {"relu", "power:2"};
    for (size_t f = 0; f < 2; f++)
        for (size_t n = 40; n <= 120; n += 80) {
            scene s = make(6, 3, 5, n, names[f], 5);
            UR_ARENA(room_arena);
            ur_pattern_room *room = ur_pattern_room_in(&room_arena, &s.q);
            for (size_t j = 0; j < 3; j++) {
                ur_pattern_end end = ur_pattern_look(&s.q, room, s.V + j * 6, 0);
                assert_near(end.rho, 1, 1e-12);
                double most = naive_leverage(&s.q, s.V + j * 6);
                assert_true(end.leverage > 0 && end.leverage < most + 1e-8);
                if (most > .9)
                    assert_near(end.leverage, most, 1e-8);
            }
            scene_free(&s);
        }
}

/* One row of S is the only one with a fourth coordinate, or but for one with a small one: v_4 hangs
 * on it. */
static void hang_on_one_row(double small)
{
    enum { N = 60, P = 4, K = 2 };
    double raw[N * P], out[N * K], x[N * P], y[N * K], R[P * P], v[P] = {0};
    unrelu_error err = {0};
    size_t rank = 0;
    ur_random_normals(7, 99, 0, N * P, raw);
    for (size_t i = 0; i < N; i++) {
        if (raw[i * P] > 0)
            raw[i * P + 3] = i == 11 ? 1 : i == 12 ? small : 0;
        if (i == 11 || i == 12)
            raw[i * P] = i == 11 ? 1 : .5;
        out[i * K] = fmax(0, raw[i * P]);
        out[i * K + 1] = fmax(0, raw[i * P + 1] - raw[i * P + 2]);
    }
    raw[11 * P + 3] = 1;
    raw[12 * P + 3] = small;
    must(ur_qr_pivoted(N, P, raw, 1e-13, &rank, x, R, NULL, &err), &err);
    must(ur_qr_pivoted(N, K, out, 1e-13, &rank, y, NULL, NULL, &err), &err);
    for (size_t i = 0; i < N * P; i++)
        x[i] *= sqrt((double)N);
    for (size_t i = 0; i < P; i++)
        v[i] = R[i * P]; /* R e_1 */
    double norm = sqrt(dot(v, v, P));
    for (size_t i = 0; i < P; i++)
        v[i] /= norm;
    ur_pattern q = {N, P, K, x, y, 1};
    UR_ARENA(room_arena);
    ur_pattern_room *room = ur_pattern_room_in(&room_arena, &q);
    ur_pattern_end end = ur_pattern_look(&q, room, v, 0);
    assert_near(end.rho, 1, 1e-12);
    double most = naive_leverage(&q, v);
    assert_near(end.leverage, most, 1e-9);
    assert_true(1 - most >= .5 * small * small - 1e-9 && 1 - most <= small * small + 1e-9);
}

static void leverage_is_one_where_one_sample_decides(void **state)
{
    static const double shares[] = {0, 3e-4, 1e-3, 3e-3, 1e-2, .1};
    (void)state;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        hang_on_one_row(shares[i]);
}

/* rows so close that no sample lies between them */
static void neurons_with_one_pattern_have_two_correlations_of_one(void **state)
{
    (void)state;
    enum { N = 60, P = 4, K = 3 };
    double raw[N * P], out[N * K], x[N * P], y[N * K], R[P * P], v[P] = {0};
    unrelu_error err = {0};
    size_t rank = 0;
    ur_random_normals(9, 99, 0, N * P, raw);
    for (size_t i = 0; i < N; i++) {
        double t = raw[i * P], near = t + 1e-4 * raw[i * P + 1];
        assert_true(t > 0 ? near > 0 : near < 0);
        out[i * K] = fmax(0, t);
        out[i * K + 1] = fmax(0, near);
        out[i * K + 2] = fmax(0, raw[i * P + 2] - raw[i * P + 3]);
    }
    must(ur_qr_pivoted(N, P, raw, 1e-13, &rank, x, R, NULL, &err), &err);
    must(ur_qr_pivoted(N, K, out, 1e-13, &rank, y, NULL, NULL, &err), &err);
    assert_int_equal(rank, K);
    for (size_t i = 0; i < N * P; i++)
        x[i] *= sqrt((double)N);
    for (size_t i = 0; i < P; i++)
        v[i] = R[i * P];
    ur_pattern q = {N, P, K, x, y, 1};
    UR_ARENA(room_arena);
    ur_pattern_room *room = ur_pattern_room_in(&room_arena, &q);
    ur_pattern_end end = ur_pattern_look(&q, room, v, 0);
    assert_near(end.rho, 1, 1e-11);
    assert_near(end.second, 1, 1e-8);
    for (size_t i = 0; i < P; i++)
        v[i] = R[i * P + 2] - R[i * P + 3]; /* the third neuron is alone */
    end = ur_pattern_look(&q, room, v, 0);
    assert_near(end.rho, 1, 1e-11);
    assert_true(end.second < .99);
}

static void inputs_that_do_not_span_are_seen(void **state)
{
    (void)state;
    enum { N = 80, P = 5 };
    double x[N * P], v[P] = {1};
    ur_random_normals(8, 99, 0, N * P, x);
    ur_pattern q = {N, P, 0, x, NULL, 1};
    UR_ARENA(room_arena);
    ur_pattern_room *room = ur_pattern_room_in(&room_arena, &q);
    assert_non_null(room);
    assert_true(ur_pattern_look(&q, room, v, 0).spread > 1e-3);
    size_t last = 0, active = 0;
    for (size_t i = 0; i < N; i++)
        if (x[i * P] > 0) { /* a plane, but for rows where the neuron is off */
            x[i * P + 2] = x[i * P + 1] - 2 * x[i * P + 4];
            last = i;
            active++;
        }
    ur_pattern_end end = ur_pattern_look(&q, room, v, 0);
    assert_true(end.spread <= UR_PATTERN_FLAT);
    assert_int_equal(end.active, active);
    x[last * P + 2] += 1;
    assert_true(ur_pattern_look(&q, room, v, 0).spread > 1e-6);
    size_t kept = 0;
    for (size_t i = 0; i < N; i++) /* fewer rows than dimensions */
        if (x[i * P] > 0 && ++kept > P - 1)
            x[i * P] = -x[i * P];
    end = ur_pattern_look(&q, room, v, 0);
    assert_int_equal(end.active, P - 1);
    assert_true(end.spread <= UR_PATTERN_FLAT);
}

/* sums that were updated on the way are those of a fresh look, and a room keeps nothing */
static void the_end_of_a_run_is_what_a_fresh_look_sees(void **state)
{
    (void)state;
    scene s = make(10, 5, 8, 200, "relu", 6);
    UR_ARENA(room_arena);
    ur_pattern_room *room = ur_pattern_room_in(&room_arena, &s.q);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        double v[10], w[5], again[10], w_again[5];
        random_unit(seed, 10, v);
        memcpy(again, v, sizeof v);
        ur_pattern_end end = ur_pattern_run(&s.q, room, NULL, 0, v, w);
        UR_ARENA(other_arena);
        ur_pattern_room *other = ur_pattern_room_in(&other_arena, &s.q);
        ur_pattern_end same = ur_pattern_run(&s.q, other, NULL, 0, again, w_again);
        assert_memory_equal(v, again, sizeof v);
        assert_memory_equal(w, w_again, sizeof w);
        assert_memory_equal(&end.rho, &same.rho, sizeof end.rho);
        if (end.rho > 0) {
            ur_pattern_end look = ur_pattern_look(&s.q, other, v, 0);
            assert_near(end.rho, look.rho, 1e-12);
            assert_near(end.second, look.second, 1e-12);
            assert_int_equal(end.active, look.active);
        }
    }
    scene_free(&s);
}

/* the iteration as it is written down, with every pattern summed afresh; 0: it failed */
static int plain_run(const ur_pattern *q, double *v)
{
    size_t p = q->p, k = q->k;
    double *C = malloc(p * k * sizeof *C), *left = malloc(p * p * sizeof *left);
    double *s = malloc(k * sizeof *s), *right = malloc(k * k * sizeof *right);
    double *z = malloc(p * sizeof *z), *norms = malloc(p * sizeof *norms);
    unrelu_error err = {0};
    int settled = 0;
    for (int step = 0; step < 60 && !settled; step++) {
        double *Z = equations(q, v), *own = equations(q, v), sign = 0;
        gram_schmidt(q->n, p, Z, norms);
        for (size_t i = 0; i < p; i++)
            for (size_t j = 0; j < k; j++)
                C[i * k + j] = dot(Z + i * q->n, Z + (p + j) * q->n, q->n);
        must(ur_svd(p, k, C, left, s, right, &err), &err);
        /* X_S z = Q u: back through R = Q'X_S, from the last column */
        for (size_t i = p; i-- > 0;) {
            z[i] = left[i * k];
            for (size_t j = i + 1; j < p; j++)
                z[i] -= dot(Z + i * q->n, own + j * q->n, q->n) * z[j];
            z[i] /= dot(Z + i * q->n, own + i * q->n, q->n);
        }
        for (size_t i = 0; i < q->n; i++) {
            double t = dot(q->x + i * p, v, p), out = dot(q->y + i * k, right, k);
            sign += t > 0 ? t * out : 0;
        }
        double norm = sqrt(dot(z, z, p)) * (sign < 0 ? -1 : 1), away = 0;
        for (size_t i = 0; i < p; i++) {
            away = fmax(away, fabs(z[i] / norm - v[i]));
            v[i] = z[i] / norm;
        }
        settled = away < 1e-12;
        free(Z);
        free(own);
    }
    free(C);
    free(left);
    free(s);
    free(right);
    free(z);
    free(norms);
    return settled;
}

/* on the way the fast one takes rough eigenvectors: a few starts may end elsewhere */
static void a_run_ends_where_the_plain_iteration_ends(void **state)
{
    (void)state;
    scene s = make(6, 3, 5, 60, "relu", 7);
    UR_ARENA(room_arena);
    ur_pattern_room *room = ur_pattern_room_in(&room_arena, &s.q);
    int same = 0, ended = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        double v[6], w[3], plain[6];
        random_unit(seed, 6, v);
        memcpy(plain, v, sizeof v);
        ur_pattern_end end = ur_pattern_run(&s.q, room, NULL, 0, v, w);
        if (end.rho > 0 && plain_run(&s.q, plain)) {
            ended++;
            same += distance(v, plain, 6) < 1e-9;
        }
    }
    assert_true(ended >= 55);
    assert_true(same >= ended - 3);
    scene_free(&s);
}

static void a_run_that_comes_near_a_known_row_ends(void **state)
{
    (void)state;
    scene s = make(8, 4, 6, 120, "relu", 2);
    UR_ARENA(room_arena);
    ur_pattern_room *room = ur_pattern_room_in(&room_arena, &s.q);
    double v[8], w[4], start[8];
    memcpy(start, s.V + 8, sizeof start);
    start[0] += .1; /* near neuron 1 */
    memcpy(v, start, sizeof v);
    assert_near(ur_pattern_run(&s.q, room, s.V + 16, 2, v, w).rho, 1, 1e-12);
    memcpy(v, start, sizeof v);
    assert_true(ur_pattern_run(&s.q, room, s.V, 2, v, w).rho == 0);
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_planted_neuron_is_a_fixed_point),
        cmocka_unit_test(a_start_within_a_third_of_a_radian_leads_to_its_neuron),
        cmocka_unit_test(random_starts_end_at_neurons_or_say_that_they_do_not),
        cmocka_unit_test(a_look_sees_the_correlations_of_dense_algebra),
        cmocka_unit_test(leverage_is_of_the_diagonal_of_the_hat_matrix),
        cmocka_unit_test(leverage_is_one_where_one_sample_decides),
        cmocka_unit_test(neurons_with_one_pattern_have_two_correlations_of_one),
        cmocka_unit_test(inputs_that_do_not_span_are_seen),
        cmocka_unit_test(the_end_of_a_run_is_what_a_fresh_look_sees),
        cmocka_unit_test(a_run_ends_where_the_plain_iteration_ends),
        cmocka_unit_test(a_run_that_comes_near_a_known_row_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
