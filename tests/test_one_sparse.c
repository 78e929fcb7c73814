/* SPDX-License-Identifier: Apache-2.0 */
/* --method one-sparse: oracles are a naive double loop for the grouping, planted coefficients for
 * the decoding, planted networks and an evaluation of their labels for the rest. */
#include "networks.h"

#include "base/random.h"
#include "network/hard/one_sparse/one_sparse.h"

static unrelu_recover_options one_sparse(void)
{
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    o.method = UNRELU_RECOVER_ONE_SPARSE;
    return o;
}

static void relabel(planted_network *p)
{
    unrelu_error err = {0};
    must(unrelu_network_predict(p->truth, p->x, p->n, NULL, p->a, &err), &err);
}

/* column j of U becomes `times` column i */
static void align(planted_network *p, size_t i, size_t j, double times)
{
    for (size_t l = 0; l < p->m; l++)
        p->truth->U[l * p->k + j] = times * p->truth->U[l * p->k + i];
    relabel(p);
}

static planted_network plant_kappa(size_t d, size_t k, size_t m, size_t n, uint64_t seed)
{
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = d;
    o.k = k;
    o.m = m;
    o.kappa_v = 3;
    o.seed = seed;
    return plant_network_with(o, n);
}

static void expect_recovered(const planted_network *p, const unrelu_recover_options *o,
                             unrelu_verdict verdict)
{
    unrelu_network *model = recover(p, o);
    if (model->verdict != verdict)
        fail_msg("verdict %s: %s", unrelu_verdict_name(model->verdict), model->failure);
    assert_int_equal(model->k, p->k);
    assert_near(error_of_V(p->truth, model), 0, 1e-12);
    assert_near(model->residual, 0, 1e-13);
    assert_int_equal(model->failure[0], 0);
    unrelu_network_free(model);
}

static void expect_refused(const planted_network *p, const unrelu_recover_options *o,
                           const char *words)
{
    unrelu_network *model = recover(p, o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_FAILED);
    assert_null(model->V);
    if (!strstr(model->failure, words))
        fail_msg("no \"%s\" in: %s", words, model->failure);
    assert_true(model->guarantee[0] && model->assumption[0]);
    unrelu_network_free(model);
}

/* ---- grouping ---- */

enum { ROWS = 600, WIDE = 3, SPREAD = 40 };

/* rows around SPREAD directions, every fourth anywhere, some zero */
static void scatter(double *rows)
{
    static double normals[(ROWS + SPREAD) * WIDE];
    ur_random_normals(1, 3, 0, (ROWS + SPREAD) * WIDE, normals);
    for (size_t i = 0; i < ROWS; i++) {
        size_t family = i % 7 * i % SPREAD;
        double scale = i % 11 == 5 ? 0 : .01 + (double)(i % 13);
        for (size_t j = 0; j < WIDE; j++) {
            double direction = normals[family * WIDE + j];
            double own = normals[(SPREAD + i) * WIDE + j];
            rows[i * WIDE + j] = scale * (i % 4 == 0 ? own : direction * (1 + 1e-14 * own));
            if (family % 5 == 1 && i % 4)
                rows[i * WIDE + j] *= i % 2 ? 1 : -1;
        }
    }
}

static int are_parallel(const double *a, const double *b)
{
    double aa = 0, bb = 0, away = 0;
    for (size_t j = 0; j < WIDE; j++) {
        aa += a[j] * a[j];
        bb += b[j] * b[j];
    }
    for (size_t j = 0; j < WIDE && aa > 0 && bb > 0; j++)
        away = fmax(away, fabs(a[j] / sqrt(aa) - b[j] / sqrt(bb)));
    return aa > 0 && bb > 0 && away < 1e-9;
}

static void grouping_is_that_of_the_naive_double_loop(void **state)
{
    (void)state;
    static double rows[ROWS * WIDE];
    static unsigned char skip[ROWS];
    UR_ARENA(arena);
    ur_groups g;
    unrelu_error err = {0};
    size_t opposite = 0;
    scatter(rows);
    for (size_t i = 0; i < ROWS; i++)
        skip[i] = i % 17 == 3;
    must(ur_group(ROWS, WIDE, rows, skip, 0, NULL, 1e-9, 1, &arena, &g, &err), &err);
    assert_true(g.count > 10);
    for (size_t i = 0; i < ROWS; i++) {
        size_t like = 0;
        for (size_t j = 0; j < ROWS; j++) {
            int same = !skip[i] && !skip[j] && are_parallel(rows + i * WIDE, rows + j * WIDE);
            like += same && i != j;
            if (i != j)
                assert_int_equal(same, g.of[i] != UR_ALONE && g.of[i] == g.of[j]);
        }
        assert_int_equal(g.of[i] == UR_ALONE, like == 0);
        if (like > 0) {
            assert_int_equal(g.size[g.of[i]], like + 1);
            assert_true(are_parallel(rows + i * WIDE, g.direction + g.of[i] * WIDE));
        }
    }
    for (size_t c = 0; c < g.count; c++)
        for (size_t b = 0; b < c; b++) {
            double minus[WIDE];
            for (size_t j = 0; j < WIDE; j++)
                minus[j] = -g.direction[c * WIDE + j];
            opposite += (size_t)are_parallel(minus, g.direction + b * WIDE);
            assert_true(g.size[b] >= g.size[c]);
        }
    assert_true(opposite > 0);
}

/* f(c x) = c f(x): such rows are parallel whatever neurons are on */
static void rows_of_parallel_inputs_are_no_class(void **state)
{
    (void)state;
    const double rows[] = {1, 2, 2, 4, 3, 6, 5, 5, 10, 10};
    const double x[] = {1, 0, 2, 0, 0, 1, 1, 1, 2, 2};
    UR_ARENA(arena);
    ur_groups g;
    unrelu_error err = {0};
    must(ur_group(5, 2, rows, NULL, 2, x, 1e-9, 1, &arena, &g, &err), &err);
    assert_int_equal(g.count, 1);
    assert_int_equal(g.size[0], 3);
    assert_true(g.of[3] == UR_ALONE && g.of[4] == UR_ALONE);
}

/* an input across another by 3e-7 of its length is another, by 3e-8 it is the same */
static void inputs_are_parallel_to_seven_digits(void **state)
{
    (void)state;
    const double rows[] = {1, 2, 2, 4};
    static const double across[] = {3e-7, 3e-8};
    for (size_t c = 0; c < 2; c++) {
        UR_ARENA(arena);
        const double x[] = {1, 0, 2, 2 * across[c]};
        ur_groups g;
        unrelu_error err = {0};
        must(ur_group(2, 2, rows, NULL, 2, x, 1e-9, 1, &arena, &g, &err), &err);
        assert_int_equal(g.count, c == 0);
    }
}

/* ---- planes ---- */

/* Three rows each of the planes of u_1, u_2 and of u_1, u_3, an angle of `apart` between them: u_1
 * and -u_1 are found where that is 1e-3, and nothing where rows of a plane are nearly one. */
static void planes_show_the_direction_that_no_two_rows_do(void **state)
{
    (void)state;
    enum { N = 6, M = 4, P = 2 };
    static const double apart[] = {1e-3, 1e-5};
    for (size_t c = 0; c < 2; c++) {
        UR_ARENA(arena);
        double a[N * M] = {0}, x[N * P];
        ur_frame frame = {.n = N, .p = P, .q = P, .d = P, .m = M, .x = x, .a = a, .size = N};
        ur_peel peel;
        ur_groups g;
        size_t lines;
        unrelu_error err = {0};
        ur_random_normals(1, 2, 0, N * P, x);
        for (size_t i = 0; i < N; i++) {
            a[i * M] = 1;
            a[i * M + 1 + i / 3] = 1 + 2 * apart[c] * (double)(i % 3);
        }
        must(ur_peel_open(&frame, 1e-12, 1, 1000000, NULL, &arena, &peel, &err), &err);
        must(ur_group(N, M, peel.R, peel.faint, P, x, peel.tolerance, 1, &arena, &g, &err), &err);
        assert_int_equal(g.count, 0);
        must(ur_plane_directions(&peel, &arena, &g, &lines, &err), &err);
        assert_int_equal(lines, c == 0);
        for (size_t l = 0; l < M && lines > 0; l++)
            for (size_t sign = 0; sign < 2; sign++)
                assert_near(fabs(g.direction[sign * M + l]), l == 0, 1e-9);
    }
}

/* Where a class of rows has a direction 1e-5 off that of two planes, theirs is another; at 3e-7 it
 * is the same. */
static void lines_are_known_directions_to_six_digits(void **state)
{
    (void)state;
    enum { N = 6, M = 4, P = 2 };
    static const double off[] = {1e-5, 3e-7};
    for (size_t c = 0; c < 2; c++) {
        UR_ARENA(arena);
        double a[N * M] = {0}, x[N * P], direction[M] = {cos(off[c]), 0, 0, sin(off[c])};
        size_t of[N], size = 2, lines;
        ur_frame frame = {.n = N, .p = P, .q = P, .d = P, .m = M, .x = x, .a = a, .size = N};
        ur_groups g = {.count = 1, .size = &size, .direction = direction, .of = of};
        ur_peel peel;
        unrelu_error err = {0};
        ur_random_normals(1, 2, 0, N * P, x);
        for (size_t i = 0; i < N; i++) {
            a[i * M] = 1;
            a[i * M + 1 + i / 3] = 1 + .5 * (double)(i % 3);
            of[i] = UR_ALONE;
        }
        must(ur_peel_open(&frame, 1e-12, 1, 1000000, NULL, &arena, &peel, &err), &err);
        must(ur_plane_directions(&peel, &arena, &g, &lines, &err), &err);
        assert_int_equal(lines, c == 0);
    }
}

/* Lines of three rows each of the planes of e_1, e_2 and of e_1 + shift e_4, second */
static size_t count_lines(double shift, const double second[4])
{
    enum { N = 6, M = 4, P = 2 };
    UR_ARENA(arena);
    double a[N * M], x[N * P];
    ur_frame frame = {.n = N, .p = P, .q = P, .d = P, .m = M, .x = x, .a = a, .size = N};
    ur_peel peel;
    ur_groups g;
    size_t lines;
    unrelu_error err = {0};
    ur_random_normals(1, 2, 0, N * P, x);
    for (size_t i = 0; i < N * M; i++) {
        size_t row = i / M, l = i % M;
        double t = 1 + .5 * (double)(row % 3) + (row < 3 ? 0 : .2);
        a[i] = (l == 0) + (row < 3 ? t * (l == 1) : shift * (l == 3) + t * second[l]);
    }
    must(ur_peel_open(&frame, 1e-12, 1, 1000000, NULL, &arena, &peel, &err), &err);
    must(ur_group(N, M, peel.R, peel.faint, P, x, peel.tolerance, 1, &arena, &g, &err), &err);
    must(ur_plane_directions(&peel, &arena, &g, &lines, &err), &err);
    return lines;
}

/* Planes that miss each other by 30 tolerances meet, by 500 they do not; planes with an angle of
 * 3e-3 have a line, with 3e-4 they are one. */
static void planes_meet_within_a_hundred_tolerances(void **state)
{
    (void)state;
    static const double across[4] = {0, 0, 1, 0}, apart[4] = {0, 1, 0, 3e-3},
                        same[4] = {0, 1, 0, 3e-4};
    assert_int_equal(count_lines(0, across), 1);
    assert_int_equal(count_lines(3e-8, across), 1);
    assert_int_equal(count_lines(5e-7, across), 0);
    assert_int_equal(count_lines(0, apart), 1);
    assert_int_equal(count_lines(0, same), 0);
}

/* ---- one neuron ---- */

static ur_solved solve_two(double width, double wrong)
{
    enum { N = 30, P = 2 };
    UR_ARENA(arena);
    double x[N * P], a[N], C[N], w[P];
    size_t row[N], opposite = UR_ALONE;
    unsigned char t[N];
    ur_frame frame = {.n = N, .p = P, .q = P, .d = P, .m = 1, .x = x, .a = a, .size = N};
    ur_decoded d = {
        .count = N, .r = 1, .row = row, .C = C, .t = t, .top = 1, .opposite = &opposite};
    ur_peel peel;
    ur_solved solved;
    unrelu_error err = {0};
    ur_random_normals(1, 2, 0, N * P, x);
    for (size_t i = 0; i < N; i++) {
        x[i * P] = 1 + fabs(x[i * P]);
        x[i * P + 1] *= width;
        a[i] = C[i] = (x[i * P] + x[i * P + 1]) * (i == 7 ? 1 + wrong : 1);
        row[i] = i;
        t[i] = 1;
    }
    must(ur_peel_open(&frame, 1e-12, 1, 1000, NULL, &arena, &peel, &err), &err);
    must(ur_solve_direction(&peel, &d, 0, 1, w, &solved, &err), &err);
    return solved;
}

/* inputs that span a direction by 3e-8 give w, by 3e-10 they do not; an equation that is off by
 * 30 tolerances is met, one that is off by 1000 contradicts the others */
static void equations_determine_w_and_agree(void **state)
{
    (void)state;
    assert_int_equal(solve_two(1, 0).agree, 1);
    assert_int_equal(solve_two(3e-8, 0).agree, 1);
    assert_int_equal(solve_two(3e-10, 0).agree, 0);
    assert_int_equal(solve_two(1, 3e-8).agree, 1);
    assert_int_equal(solve_two(1, 1e-6).agree, 0);
}

/* ---- decoding ---- */

/* of two directions 1e-2 apart rows are decoded, of two 1e-4 apart they are not */
static void directions_that_nearly_agree_decode_no_row(void **state)
{
    (void)state;
    enum { N = 5, M = 2, P = 2 };
    static const double apart[] = {1e-2, 1e-4};
    for (size_t c = 0; c < 2; c++) {
        UR_ARENA(arena);
        const double U[2][M] = {{1, 0}, {cos(apart[c]), sin(apart[c])}};
        double a[N * M], x[N * P];
        ur_frame frame = {.n = N, .p = P, .q = P, .d = P, .m = M, .x = x, .a = a, .size = N};
        ur_peel peel;
        ur_groups g;
        ur_decoded d;
        unrelu_error err = {0};
        ur_random_normals(1, 2, 0, N * P, x);
        for (size_t i = 0; i < N; i++)
            for (size_t l = 0; l < M; l++)
                a[i * M + l] = (i < 4 ? 1 + (double)i : 1) * (i < 2 || i == 4 ? U[0][l] : 0) +
                               (i > 1 ? 1.5 + (double)i : 0) * U[1][l];
        must(ur_peel_open(&frame, 1e-12, 1, 1000000, NULL, &arena, &peel, &err), &err);
        must(ur_group(N, M, peel.R, peel.faint, P, x, peel.tolerance, 1, &arena, &g, &err), &err);
        assert_int_equal(g.count, 2);
        must(ur_decode(&peel, &g, &arena, &d, &err), &err);
        assert_int_equal(d.t[4], c == 0 ? 2 : UR_UNDECODED);
    }
}

/* rows of 1, 2, 3 and all of six directions in four labels */
static void decoding_gives_the_planted_coefficients(void **state)
{
    (void)state;
    enum { N = 120, K = 6, M = 4, P = 3 };
    double U[K * M], C[N * K] = {0}, a[N * M] = {0}, x[N * P];
    unrelu_error err = {0};
    ur_frame frame = {.n = N, .p = P, .q = P, .d = P, .m = M, .x = x, .a = a};
    ur_random_normals(1, 1, 0, K * M, U);
    ur_random_normals(1, 2, 0, N * P, x);
    for (size_t i = 0; i < N; i++) {
        size_t on = i < 3 * K ? 1 : i % 4 + 1;
        for (size_t s = 0; s < on; s++) {
            size_t j = (i + s * (1 + i / K % 2)) % K;
            C[i * K + j] = 1 + .5 * sin((double)(7 * i + j));
        }
        for (size_t j = 0; j < K; j++)
            for (size_t l = 0; l < M; l++)
                a[i * M + l] += C[i * K + j] * U[j * M + l];
        for (size_t l = 0; l < M; l++)
            frame.size += a[i * M + l] * a[i * M + l];
    }
    ur_peel q;
    UR_ARENA(arena);
    ur_groups g;
    ur_decoded d;
    must(ur_peel_open(&frame, 1e-12, 1, 1000000, NULL, &arena, &q, &err), &err);
    must(ur_group(N, M, q.R, q.faint, P, x, q.tolerance, 1, &arena, &g, &err), &err);
    assert_int_equal(g.count, K);
    must(ur_decode(&q, &g, &arena, &d, &err), &err);
    assert_int_equal(d.count, N);
    for (size_t i = 0; i < N; i++) {
        size_t many = 0;
        for (size_t j = 0; j < K; j++)
            many += C[i * K + j] > 0;
        assert_int_equal(d.t[i], many < M ? (int)many : UR_UNDECODED);
        for (size_t c = 0; c < K && many < M; c++)
            for (size_t j = 0; j < K; j++) {
                double length = 0, cosine = 0;
                for (size_t l = 0; l < M; l++) {
                    length = hypot(length, U[j * M + l]);
                    cosine += U[j * M + l] * d.direction[c * M + l];
                }
                if (cosine > (1 - 1e-9) * length)
                    assert_near(d.C[i * K + c], C[d.row[i] * K + j] * length, 1e-10);
            }
    }
}

/* u_3 between u_1 and u_2: a row of their plane has two decodings of two neurons, and counts in
 * neither */
static void rows_of_two_decodings_are_left_out(void **state)
{
    (void)state;
    enum { N = 12, M = 4, P = 2 };
    const double U[4][M] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 1, 0}};
    const size_t first[N] = {0, 0, 1, 1, 2, 2, 3, 3, 0, 2, 0, 1};
    const size_t second[N] = {0, 0, 1, 1, 2, 2, 3, 3, 2, 3, 1, 3};
    const int decoded[N] = {1, 1, 1, 1, 1, 1, 1, 1, UR_UNDECODED, 2, UR_UNDECODED, 2};
    double a[N * M], x[N * P];
    unrelu_error err = {0};
    ur_frame frame = {.n = N, .p = P, .q = P, .d = P, .m = M, .x = x, .a = a, .size = N};
    ur_peel q;
    UR_ARENA(arena);
    ur_groups g;
    ur_decoded d;
    ur_random_normals(1, 2, 0, N * P, x);
    for (size_t i = 0; i < N * M; i++)
        a[i] = (1 + .1 * (double)(i / M)) * U[first[i / M]][i % M] + .7 * U[second[i / M]][i % M];
    must(ur_peel_open(&frame, 1e-12, 1, 1000000, NULL, &arena, &q, &err), &err);
    must(ur_group(N, M, q.R, q.faint, P, x, q.tolerance, 1, &arena, &g, &err), &err);
    assert_int_equal(g.count, 4);
    must(ur_decode(&q, &g, &arena, &d, &err), &err);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(d.t[i], decoded[i]);
}

/* weights that are off by 1e-10 meet the rows to within the tolerance, and come back to rounding */
static void refinement_takes_weights_to_rounding(void **state)
{
    (void)state;
    planted_network p = plant_network(6, 4, 3, 300, 0, 1);
    ur_frame frame = {.n = 300, .p = 6, .q = 6, .d = 6, .m = 3, .x = p.x, .a = p.a};
    unrelu_error err = {0};
    UR_ARENA(arena);
    ur_peel q;
    for (size_t i = 0; i < p.n * p.m; i++)
        frame.size += p.a[i] * p.a[i];
    must(ur_peel_open(&frame, 1e-12, 1, 1000, NULL, &arena, &q, &err), &err);
    must(ur_peel_reserve(&q, 4, &err), &err);
    for (size_t j = 0; j < 4; j++) {
        double length = 0;
        for (size_t l = 0; l < 3; l++)
            length = hypot(length, p.truth->U[l * 4 + j]);
        for (size_t l = 0; l < 3; l++)
            q.U[j * 3 + l] = p.truth->U[l * 4 + j] / length;
        for (size_t i = 0; i < 6; i++)
            q.W[j * 6 + i] = length * (p.truth->V[j * 6 + i] + (i == j ? 1e-10 : 0));
    }
    q.k = 4;
    must(ur_peel_residual(&q, &err), &err);
    must(ur_peel_refine(&q, &err), &err);
    for (size_t j = 0; j < 4; j++)
        for (size_t i = 0; i < 6; i++)
            assert_near(q.W[j * 6 + i] / q.W[j * 6] * p.truth->V[j * 6], p.truth->V[j * 6 + i],
                        1e-13);
    planted_network_free(&p);
}

/* ---- the pair ---- */

static void pair_is_told_apart_along_one_direction(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        planted_network p = plant_network(8, 2, 1, 300, 0, seed);
        double w[16];
        size_t starts = 0;
        int met = 0;
        unrelu_error err = {0};
        p.truth->U[0] = 2;
        p.truth->U[1] = -.5;
        relabel(&p);
        must(ur_pair_fit(p.n, p.d, p.x, p.a, 1e-10, 1, 64, w, &starts, &met, &err), &err);
        assert_true(met && starts >= 1);
        for (size_t i = 0; i < 8; i++) {
            assert_near(w[i], 2 * p.truth->V[i], 1e-12);
            assert_near(w[8 + i], .5 * p.truth->V[8 + i], 1e-12);
        }
        p.a[17] += 1e-6;
        must(ur_pair_fit(p.n, p.d, p.x, p.a, 1e-10, 1, 64, w, &starts, &met, &err), &err);
        assert_false(met);
        planted_network_free(&p);
    }
}

/* Inputs that hardly have a third direction: by 2e-4 and 1e-7 the search leaves it out and the last
 * step finds it, by 3e-9 that step still does, by 3e-11 the pair is not determined. */
static void pair_of_nearly_dependent_inputs(void **state)
{
    (void)state;
    enum { N = 300, P = 3 };
    static const double width[] = {2e-4, 1e-7, 3e-9, 3e-11};
    static const double truth[2][P] = {{1, .3, 1}, {-.2, 1.1, 1}};
    for (size_t c = 0; c < 4; c++) {
        double x[N * P], r[N], w[2 * P];
        size_t starts = 0;
        int met = 0;
        unrelu_error err = {0};
        ur_random_normals(1, 2, 0, N * P, x);
        for (size_t i = 0; i < N; i++) {
            double t[2] = {0};
            x[i * P + 2] *= width[c];
            for (size_t j = 0; j < 2; j++)
                for (size_t l = 0; l < P; l++)
                    t[j] += truth[j][l] * x[i * P + l];
            r[i] = fmax(0, t[0]) - fmax(0, t[1]);
        }
        must(ur_pair_fit(N, P, x, r, 1e-10, 1, 64, w, &starts, &met, &err), &err);
        assert_int_equal(met, c < 3);
    }
}

/* ---- networks ---- */

static void fewer_labels_than_neurons_are_enough(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        planted_network p = plant_kappa(10, 8, 4, 1000, seed);
        unrelu_recover_options o = one_sparse();
        expect_recovered(&p, &o, UNRELU_VERDICT_EXACT);
        o.k = 8;
        expect_recovered(&p, &o, UNRELU_VERDICT_EXACT);
        planted_network_free(&p);
    }
}

/* 200 rows: three neurons at most are alone twice, the others show in planes of rows */
static void planes_show_directions_that_no_two_rows_have(void **state)
{
    (void)state;
    unrelu_recover_options o = one_sparse();
    size_t found = 0;
    for (uint64_t seed = 1000; seed < 1008; seed++) {
        planted_network p = plant_kappa(10, 8, 4, 200, seed);
        unrelu_network *model = recover(&p, &o);
        if (model->verdict != UNRELU_VERDICT_FAILED) {
            assert_near(error_of_V(p.truth, model), 0, 1e-12);
            assert_null(strstr(model->assumption, "8 directions"));
            found++;
        }
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    assert_true(found >= 6);
}

static void as_many_labels_as_neurons_are_certified_by_patterns(void **state)
{
    (void)state;
    planted_network p = plant_kappa(10, 6, 8, 500, 3);
    unrelu_recover_options o = one_sparse();
    unrelu_network *model = recover(&p, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_EXACT);
    assert_true(model->gap > 1e-7);
    assert_near(error_of_V(p.truth, model), 0, 1e-12);
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void antiparallel_columns_are_found_with_the_others(void **state)
{
    (void)state;
    unrelu_recover_options o = one_sparse();
    for (uint64_t seed = 1; seed <= 4; seed++) {
        planted_network p = plant_network(10, 3, 2, 1000, 0, seed);
        align(&p, 0, 2, -.6);
        expect_recovered(&p, &o, UNRELU_VERDICT_EXACT);
        planted_network_free(&p);
        p = plant_network(6, 5, 3, 2000, 0, seed);
        align(&p, 0, 4, -1);
        align(&p, 1, 3, -2);
        expect_recovered(&p, &o, UNRELU_VERDICT_EXACT);
        planted_network_free(&p);
    }
}

static void one_label_has_one_neuron_or_two_of_opposite_signs(void **state)
{
    (void)state;
    unrelu_recover_options o = one_sparse();
    for (uint64_t seed = 1; seed <= 4; seed++) {
        planted_network p = plant_network(10, 1, 1, 100, 0, seed);
        expect_recovered(&p, &o, UNRELU_VERDICT_EXACT);
        planted_network_free(&p);
        p = plant_network(20, 2, 1, 500, 0, seed);
        align(&p, 0, 1, -1.5);
        expect_recovered(&p, &o, UNRELU_VERDICT_EXACT);
        planted_network_free(&p);
    }
}

static void hidden_biases_are_one_more_input(void **state)
{
    (void)state;
    unrelu_network_plant_options plan;
    unrelu_network_plant_options_init(&plan, sizeof plan);
    unrelu_recover_options o = one_sparse();
    unrelu_network_distance far;
    unrelu_error err = {0};
    plan.d = 6;
    plan.m = 3;
    plan.bias = .5;
    planted_network p = plant_network_with(plan, 2000);
    memset(p.truth->e, 0, p.m * sizeof *p.truth->e);
    relabel(&p);
    expect_refused(&p, &o, "`bias` hidden");
    o.biases = UNRELU_BIASES_HIDDEN;
    unrelu_network *model = recover(&p, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_EXACT);
    must(unrelu_network_compare(p.truth, model, &far, &err), &err);
    assert_near(far.V_max + far.c_max, 0, 1e-12);
    unrelu_network_free(model);
    o.biases = UNRELU_BIASES_BOTH;
    assert_int_equal(try_recover(p.x, p.a, p.n, p.d, p.m, &o, NULL, &model, &err), UNRELU_EUSAGE);
    assert_non_null(strstr(err.text, "`bias` hidden"));
    planted_network_free(&p);
}

static void labels_of_single_precision_are_met_to_it(void **state)
{
    (void)state;
    planted_network p = plant_network(6, 5, 3, 2000, 0, 1);
    unrelu_recover_options o = one_sparse();
    for (size_t i = 0; i < p.n * p.m; i++)
        p.a[i] = (float)p.a[i];
    unrelu_network *model = recover(&p, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_EXACT);
    assert_near(error_of_V(p.truth, model), 0, 1e-7);
    assert_near(model->residual, 0, 1e-7);
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void inputs_of_low_rank_give_the_shortest_rows(void **state)
{
    (void)state;
    planted_network p = plant_network(6, 5, 3, 2000, 0, 2);
    unrelu_recover_options o = one_sparse();
    unrelu_error err = {0};
    for (size_t i = 0; i < p.n; i++)
        p.x[i * 6 + 5] = p.x[i * 6] + p.x[i * 6 + 1];
    relabel(&p);
    unrelu_network *model = recover(&p, &o);
    double *y = malloc(p.n * p.m * sizeof *y), worst = 0;
    assert_non_null(y);
    assert_int_equal(model->k, 5);
    must(unrelu_network_predict(model, p.x, p.n, NULL, y, &err), &err);
    for (size_t i = 0; i < p.n * p.m; i++)
        worst = fmax(worst, fabs(y[i] - p.a[i]));
    assert_near(worst, 0, 1e-12);
    free(y);
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void repeated_rows_are_no_evidence(void **state)
{
    (void)state;
    planted_network p = plant_network(10, 8, 4, 400, 0, 5);
    unrelu_recover_options o = one_sparse();
    for (size_t i = 40; i < p.n; i++)
        memcpy(p.x + i * 10, p.x + i % 40 * 10, 10 * sizeof *p.x);
    relabel(&p);
    expect_refused(&p, &o, "no two of the 400 rows");
    planted_network_free(&p);
}

/* ---- refusals ---- */

static void too_few_rows_say_how_many_are_needed(void **state)
{
    (void)state;
    unrelu_recover_options o = one_sparse();
    planted_network p = plant_kappa(10, 8, 4, 200, 1009);
    expect_refused(&p, &o, "only 2 directions repeated in 200 rows");
    o.k = 8;
    expect_refused(&p, &o, "only 2 of 8 directions repeated in 200 rows");
    expect_refused(&p, &o, "n of about 1.2e+03 is needed");
    expect_refused(&p, &o, "(d + 2.3 sqrt d) / p = 1.7e+03");
    planted_network_free(&p);
}

static void noisy_labels_have_no_parallel_rows(void **state)
{
    (void)state;
    unrelu_recover_options o = one_sparse();
    planted_network p = plant_network(6, 5, 2, 500, .01, 1);
    unrelu_network *model;
    unrelu_error err = {0};
    expect_refused(&p, &o, "n of about 2.6e+03 or more is needed"); /* 2 + 2.3 sqrt 2 times 500 */
    planted_network_free(&p);
    p = plant_network(6, 5, 3, 500, .01, 1);
    expect_refused(&p, &o, "no two of the 500 rows of labels are parallel: either they are noisy");
    expect_refused(&p, &o, "n of about 1.2e+03 or more is needed");
    o.labels = UNRELU_LABELS_NOISY;
    assert_int_equal(try_recover(p.x, p.a, p.n, p.d, p.m, &o, NULL, &model, &err), UNRELU_EUSAGE);
    planted_network_free(&p);
}

static void columns_of_one_direction_are_not_told_apart(void **state)
{
    (void)state;
    unrelu_recover_options o = one_sparse();
    planted_network p = plant_network(6, 5, 3, 2000, 0, 1);
    align(&p, 0, 4, 2);
    expect_refused(&p, &o, "class inconsistent, columns of U are positive multiples");
    planted_network_free(&p);
    p = plant_network(6, 3, 1, 300, 0, 1);
    align(&p, 0, 1, 2);
    align(&p, 0, 2, -1);
    expect_refused(&p, &o, "class inconsistent, an antiparallel pair");
    planted_network_free(&p);
}

static void another_number_of_neurons_is_told(void **state)
{
    (void)state;
    unrelu_recover_options o = one_sparse();
    planted_network p = plant_kappa(10, 8, 4, 1000, 1);
    o.k = 7;
    expect_refused(&p, &o, "7 neurons were asked for and the labels are met by 8");
    o.k = 9;
    unrelu_network *model = recover(&p, &o);
    assert_int_equal(model->k, 8);
    assert_int_equal(model->warning_count, 1);
    assert_string_equal(model->warnings[0].code, "merged");
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void budget_is_kept(void **state)
{
    (void)state;
    unrelu_recover_options o = one_sparse();
    planted_network p = plant_kappa(10, 8, 4, 200, 1001);
    expect_recovered(&p, &o, UNRELU_VERDICT_UNCERTIFIED);
    o.budget = 1000;
    expect_refused(&p, &o, "the budget of 1000 candidates");
    planted_network_free(&p);
}

/* ---- Algorithm 7 as it is printed ---- */

static void literal_needs_pure_rows_of_every_neuron(void **state)
{
    (void)state;
    unrelu_recover_options o = one_sparse();
    planted_network p = plant_kappa(10, 4, 2, 2000, 1);
    o.literal = 1;
    expect_recovered(&p, &o, UNRELU_VERDICT_EXACT);
    planted_network_free(&p);
    p = plant_kappa(10, 4, 2, 200, 1);
    expect_refused(&p, &o, "Algorithm 7 needs 10 rows with one neuron on for every neuron");
    o.literal = 0; /* rows that were kept back certify what is peeled of the others */
    expect_recovered(&p, &o, UNRELU_VERDICT_EXACT);
    planted_network_free(&p);
}

static void literal_fails_for_antiparallel_columns(void **state)
{
    (void)state;
    unrelu_recover_options o = one_sparse();
    planted_network p = plant_network(10, 3, 2, 2000, 0, 1);
    align(&p, 0, 2, -.6);
    o.literal = 1;
    expect_refused(&p, &o, "contradict each other");
    o.k = 5;
    expect_refused(&p, &o, "3 directions repeat among the rows of labels and 5 neurons");
    planted_network_free(&p);
}

/* ---- how it runs ---- */

static void threads_and_turns_give_the_same_bits(void **state)
{
    (void)state;
    planted_network p = plant_kappa(10, 8, 4, 500, 1000);
    unrelu_recover_options o = one_sparse();
    unrelu_network *first = recover(&p, &o);
    unrelu_error err = {0};
    assert_int_equal(first->verdict, UNRELU_VERDICT_EXACT);
    for (int threads = 1; threads <= 3; threads++) {
        unrelu_exec exec = {.size = sizeof exec, .threads = threads};
        unrelu_network *again;
        must(try_recover(p.x, p.a, p.n, p.d, p.m, &o, &exec, &again, &err), &err);
        assert_memory_equal(first->V, again->V, 8 * 10 * sizeof *first->V);
        assert_memory_equal(first->U, again->U, 4 * 8 * sizeof *first->U);
        unrelu_network_free(again);
    }
    unrelu_network_free(first);
    planted_network_free(&p);
}

static int stop(void *context)
{
    (void)context;
    return 1;
}

static void it_can_be_cancelled(void **state)
{
    (void)state;
    planted_network p = plant_kappa(10, 8, 4, 500, 1);
    unrelu_recover_options o = one_sparse();
    unrelu_exec exec = {.size = sizeof exec, .cancelled = stop};
    unrelu_network *model;
    unrelu_error err = {0};
    assert_int_equal(try_recover(p.x, p.a, p.n, p.d, p.m, &o, &exec, &model, &err),
                     UNRELU_ECANCELLED);
    planted_network_free(&p);
}

/* ---- tolerances, each from both sides ---- */

/* u and -u are opposite where they are off by three tolerances, and not by a hundred */
static void directions_are_opposite_to_ten_tolerances(void **state)
{
    (void)state;
    enum { N = 6, M = 3, P = 2 };
    static const double off[] = {3e-9, 1e-7};
    for (size_t c = 0; c < 2; c++) {
        UR_ARENA(arena);
        double a[N * M] = {0}, x[N * P], direction[2 * M] = {1, 0, 0, -1, off[c], 0};
        size_t of[N], size[2] = {3, 3};
        ur_frame frame = {.n = N, .p = P, .q = P, .d = P, .m = M, .x = x, .a = a, .size = N};
        ur_groups g = {.count = 2, .size = size, .direction = direction, .of = of};
        ur_decoded d;
        ur_peel peel;
        unrelu_error err = {0};
        ur_random_normals(1, 2, 0, N * P, x);
        for (size_t i = 0; i < N; i++) {
            of[i] = i / 3;
            for (size_t l = 0; l < M; l++)
                a[i * M + l] = (double)(i + 1) * direction[of[i] * M + l];
        }
        must(ur_peel_open(&frame, 1e-12, 1, 1000000, NULL, &arena, &peel, &err), &err);
        must(ur_decode(&peel, &g, &arena, &d, &err), &err);
        assert_true(d.opposite[0] == (c == 0 ? 1 : UR_ALONE));
    }
}

/* lines of three planes through e_1, the last of them `off` it */
static size_t count_lines_of_three(double off)
{
    enum { N = 9, M = 3, P = 2 };
    UR_ARENA(arena);
    static const double second[3][M] = {{0, 1, 0}, {0, 0, 1}, {0, 1, 1}};
    double a[N * M], x[N * P];
    ur_frame frame = {.n = N, .p = P, .q = P, .d = P, .m = M, .x = x, .a = a, .size = N};
    ur_peel peel;
    ur_groups g;
    size_t lines;
    unrelu_error err = {0};
    ur_random_normals(1, 2, 0, N * P, x);
    for (size_t i = 0; i < N * M; i++) {
        size_t row = i / M, l = i % M;
        double t = 1 + .5 * (double)(row % 3) + .2 * (double)(row / 3);
        a[i] = (l == 0) + t * second[row / 3][l] + (row >= 6 && l == 1 ? off : 0);
    }
    must(ur_peel_open(&frame, 1e-12, 1, 1000000, NULL, &arena, &peel, &err), &err);
    must(ur_group(N, M, peel.R, peel.faint, P, x, peel.tolerance, 1, &arena, &g, &err), &err);
    must(ur_plane_directions(&peel, &arena, &g, &lines, &err), &err);
    return lines;
}

/* with three labels any two planes have a line: a third that misses it by a hundred tolerances
 * makes it a direction, by ten thousand it does not */
static void a_line_lies_in_a_plane_to_a_thousand_tolerances(void **state)
{
    (void)state;
    assert_true(count_lines_of_three(1e-7) > 0);
    assert_int_equal(count_lines_of_three(1e-5), 0);
}

/* One neuron takes all of each row but for `rest`: of its terms, 1e-4 has a direction to the
 * tolerance and 1e-6 has none. Rows of labels of 3e-11 of the others are none of zeros, those of
 * 3e-13 are. */
static void small_rests_have_no_direction_and_tiny_rows_are_zeros(void **state)
{
    (void)state;
    enum { N = 40, M = 2 };
    UR_ARENA(arena);
    static const double rest[] = {1e-4, 1e-6}, tiny[] = {3e-11, 3e-13};
    double a[N * M], x[N];
    ur_frame frame = {.n = N, .p = 1, .q = 1, .d = 1, .m = M, .x = x, .a = a, .size = N};
    ur_peel peel;
    unrelu_error err = {0};
    for (size_t i = 0; i < N; i++) {
        x[i] = i < 2 ? -1 : 1;
        a[i * M] = i < 2 ? 0 : 1;
        a[i * M + 1] = i < 2 ? tiny[i] : i < 4 ? rest[i - 2] : 0;
    }
    must(ur_peel_open(&frame, 1e-12, 1, 1000, NULL, &arena, &peel, &err), &err);
    assert_int_equal(peel.left, N - 1);
    must(ur_peel_reserve(&peel, 1, &err), &err);
    peel.k = 1;
    peel.W[0] = peel.U[0] = 1;
    must(ur_peel_residual(&peel, &err), &err);
    assert_true(!peel.zero[0] && peel.zero[1]);
    assert_true(!peel.faint[2] && !peel.zero[3] && peel.faint[3] && peel.zero[4]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grouping_is_that_of_the_naive_double_loop),
        cmocka_unit_test(rows_of_parallel_inputs_are_no_class),
        cmocka_unit_test(inputs_are_parallel_to_seven_digits),
        cmocka_unit_test(planes_show_the_direction_that_no_two_rows_do),
        cmocka_unit_test(lines_are_known_directions_to_six_digits),
        cmocka_unit_test(planes_meet_within_a_hundred_tolerances),
        cmocka_unit_test(equations_determine_w_and_agree),
        cmocka_unit_test(directions_that_nearly_agree_decode_no_row),
        cmocka_unit_test(decoding_gives_the_planted_coefficients),
        cmocka_unit_test(rows_of_two_decodings_are_left_out),
        cmocka_unit_test(refinement_takes_weights_to_rounding),
        cmocka_unit_test(pair_is_told_apart_along_one_direction),
        cmocka_unit_test(pair_of_nearly_dependent_inputs),
        cmocka_unit_test(fewer_labels_than_neurons_are_enough),
        cmocka_unit_test(planes_show_directions_that_no_two_rows_have),
        cmocka_unit_test(as_many_labels_as_neurons_are_certified_by_patterns),
        cmocka_unit_test(antiparallel_columns_are_found_with_the_others),
        cmocka_unit_test(one_label_has_one_neuron_or_two_of_opposite_signs),
        cmocka_unit_test(hidden_biases_are_one_more_input),
        cmocka_unit_test(labels_of_single_precision_are_met_to_it),
        cmocka_unit_test(inputs_of_low_rank_give_the_shortest_rows),
        cmocka_unit_test(repeated_rows_are_no_evidence),
        cmocka_unit_test(too_few_rows_say_how_many_are_needed),
        cmocka_unit_test(noisy_labels_have_no_parallel_rows),
        cmocka_unit_test(columns_of_one_direction_are_not_told_apart),
        cmocka_unit_test(another_number_of_neurons_is_told),
        cmocka_unit_test(budget_is_kept),
        cmocka_unit_test(literal_needs_pure_rows_of_every_neuron),
        cmocka_unit_test(literal_fails_for_antiparallel_columns),
        cmocka_unit_test(threads_and_turns_give_the_same_bits),
        cmocka_unit_test(it_can_be_cancelled),
        cmocka_unit_test(directions_are_opposite_to_ten_tolerances),
        cmocka_unit_test(a_line_lies_in_a_plane_to_a_thousand_tolerances),
        cmocka_unit_test(small_rests_have_no_direction_and_tiny_rows_are_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
