/* SPDX-License-Identifier: Apache-2.0 */
/* Planting, sampling, comparing and saving mixtures. */
#include "members.h"
#include "mixtures.h"

#include "base/random.h"
#include "dense/linear.h"
#include "files.h"
#include "gaussian/model/gaussian_model.h"
#include "mixture/model/mixture.h"
#include "write/npz_write.h"

static unrelu_mixture_plant_options sizes(size_t d, size_t p, size_t k)
{
    unrelu_mixture_plant_options o;
    unrelu_mixture_plant_options_init(&o, sizeof o);
    o.d = d;
    o.p = p;
    o.k = k;
    return o;
}

static unrelu_mixture *planted(unrelu_mixture_plant_options o)
{
    unrelu_mixture *m;
    unrelu_error err = {0};
    must(unrelu_mixture_plant(&o, &m, &err), &err);
    return m;
}

static double phi(double x)
{
    return exp(-x * x / 2) / sqrt(2 * acos(-1));
}

static double Phi(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

/* E max(0, z1 + g) max(0, z2 + h) by Simpson's rule over z1, from where it is on and in parts
 * that end where the inner mean has its kink */
static double naive_moment(double g, double h, double r)
{
    enum { STEPS = 4000 };
    double o = sqrt(fmax(0, 1 - r * r)), sum = 0, kink = r != 0 ? -h / r : 0;
    double ends[3] = {fmax(-g, -12), fmin(12, fmax(kink, fmax(-g, -12))), 12};
    for (int part = 0; part < 2; part++) {
        double step = (ends[part + 1] - ends[part]) / STEPS;
        for (int i = 0; i <= STEPS; i++) {
            double z = ends[part] + i * step, mean = h + r * z;
            double inner = o > 1e-7 ? mean * Phi(mean / o) + o * phi(mean / o) : fmax(0, mean);
            double weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
            sum += weight * step / 3 * phi(z) * (z + g) * inner;
        }
    }
    return sum;
}

static double naive_mean_square(const unrelu_mixture *m)
{
    const unrelu_gaussian *h = m->hidden;
    double sum = 0;
    for (size_t i = 0; i < m->p; i++)
        for (size_t j = 0; j < m->p; j++) {
            double dot = 0, r = fmax(-1, fmin(1, h->correlation[i * m->p + j]));
            for (size_t l = 0; l < m->d; l++)
                dot += m->A[l * m->p + i] * m->A[l * m->p + j];
            sum += dot * h->scale[i] * h->scale[j] *
                   naive_moment(h->b[i] / h->scale[i], h->b[j] / h->scale[j], r);
        }
    return sum / (double)m->d;
}

static const struct plan {
    size_t d, p, k;
    unrelu_bias_law bias;
    double value;
} plans[] = {
    {10, 5, 0, UNRELU_BIAS_FIXED, 0},    {5, 5, 5, UNRELU_BIAS_FIXED, 1.3},
    {8, 6, 3, UNRELU_BIAS_FIXED, 0.4},   {7, 4, 9, UNRELU_BIAS_FIXED, -0.5},
    {6, 4, 1, UNRELU_BIAS_FIXED, 0},     {6, 4, 1, UNRELU_BIAS_FIXED, 0.7},
    {9, 5, 0, UNRELU_BIAS_NORMAL, 0},    {9, 5, 7, UNRELU_BIAS_RECTIFIED, 0},
    {3, 1, 0, UNRELU_BIAS_FIXED, 2},     {1, 1, 4, UNRELU_BIAS_NORMAL, 0},
    {40, 30, 0, UNRELU_BIAS_FIXED, 0.3},
};
enum { PLANS = sizeof plans / sizeof *plans };

static unrelu_mixture_plant_options plan(size_t i)
{
    unrelu_mixture_plant_options o = sizes(plans[i].d, plans[i].p, plans[i].k);
    o.bias = plans[i].bias;
    o.bias_value = plans[i].value;
    o.seed = 10 + i;
    return o;
}

/* ---- plant ---- */

static void planted_samples_have_unit_size(void **state)
{
    (void)state;
    enum { N = 40000 };
    for (size_t i = 0; i < PLANS; i++) {
        planted_mixture p = plant_mixture_with(plan(i), N);
        size_t d = p.truth->d;
        double mean = 0, square = 0;
        if (p.truth->p < 10)
            assert_near(naive_mean_square(p.truth), 1, 1e-9);
        for (size_t r = 0; r < N; r++) {
            double size = 0;
            for (size_t l = 0; l < d; l++)
                size += p.x[r * d + l] * p.x[r * d + l] / (double)d;
            mean += size / N;
            square += size * size / N;
        }
        assert_near(mean, 1, 4.5 * sqrt((square - mean * mean) / N));
        planted_mixture_free(&p);
    }
}

static void planted_parts_belong_together(void **state)
{
    (void)state;
    for (size_t i = 0; i < PLANS; i++) {
        unrelu_mixture *m = planted(plan(i));
        const unrelu_gaussian *h = m->hidden;
        size_t p = m->p, k = plans[i].k ? plans[i].k : p;
        double before = INFINITY;
        assert_int_equal(h->k, k);
        for (size_t a = 0; a < p; a++) {
            double length = 0, g = h->b[a] / h->scale[a], s = h->scale[a];
            for (size_t l = 0; l < m->d; l++)
                length += m->A[l * p + a] * m->A[l * p + a];
            assert_near(length, 1, 1e-14);
            double rms = s * sqrt((1 + g * g) * Phi(g) + g * phi(g));
            assert_true(rms <= before * (1 + 1e-14));
            before = rms;
            if (plans[i].bias == UNRELU_BIAS_FIXED)
                assert_near(g, plans[i].value, 1e-14);
            for (size_t b = 0; b < p; b++) {
                double dot = 0;
                for (size_t l = 0; l < k; l++)
                    dot += h->W[a * k + l] * h->W[b * k + l];
                assert_near(h->sigma[a * p + b], dot, 1e-14 * dot + 1e-13);
                assert_near(h->correlation[a * p + b] * s * h->scale[b], dot, 1e-13);
            }
        }
        assert_int_equal(m->verdict, UNRELU_VERDICT_PLANTED);
        assert_int_equal(m->n, 0);
        assert_int_equal(m->seed, 10 + i);
        assert_string_equal(m->names[0], "x1");
        assert_string_equal(h->names[0], "u1");
        unrelu_mixture_free(m);
    }
}

static void planted_units_have_the_condition_number(void **state)
{
    (void)state;
    const double kappas[] = {1, 9, 100};
    for (size_t i = 0; i < 3; i++) {
        unrelu_mixture_plant_options o = sizes(9, 6, 0);
        double values[6];
        unrelu_error err = {0};
        o.kappa = kappas[i];
        unrelu_mixture *m = planted(o);
        must(ur_eigen_symmetric(6, m->hidden->sigma, values, NULL, &err), &err);
        assert_near(values[5] / values[0] / kappas[i], 1, 1e-12);
        unrelu_mixture_free(m);
    }
    unrelu_mixture *m = planted(sizes(9, 4, 40)); /* many inputs: near to independent */
    for (size_t i = 0; i < 4; i++) {
        assert_near(m->hidden->scale[i] / m->hidden->scale[0], 1, 1e-14);
        for (size_t j = 0; j < i; j++)
            assert_true(fabs(m->hidden->correlation[i * 4 + j]) < 4 / sqrt(40));
    }
    unrelu_mixture_free(m);
}

static void a_plan_that_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        size_t d, p, k;
        double kappa, bias, noise;
        unrelu_status status;
        const char *sentence;
    } bad[] = {
        {5, 0, 0, 9, 0, 0, UNRELU_EUSAGE, "p must be at least 1"},
        {4, 5, 0, 9, 0, 0, UNRELU_EUSAGE,
         "d >= p is needed, not d = 4 with p = 5: A (d x p) cannot have full column rank"},
        {8, 5, 3, 4, 0, 0, UNRELU_EUSAGE,
         "kappa needs k = p, not k = 3 with p = 5: leave out one of the two"},
        {8, 5, 6, 4, 0, 0, UNRELU_EUSAGE,
         "kappa needs k = p, not k = 6 with p = 5: leave out one of the two"},
        {8, 5, 0, 0.5, 0, 0, UNRELU_EUSAGE, "kappa must be at least 1, not 0.5"},
        {8, 5, 0, 9, NAN, 0, UNRELU_EUSAGE,
         "the bias must be a number from -1e100 to 1e100, not nan"},
        {8, 5, 0, 9, 1e101, 0, UNRELU_EUSAGE,
         "the bias must be a number from -1e100 to 1e100, not 1e+101"},
        {8, 5, 0, 9, 0, -1, UNRELU_EUSAGE, "the noise must be a number of at least 0, not -1"},
        {8, 5, 0, 9, 0, INFINITY, UNRELU_EUSAGE,
         "the noise must be a number of at least 0, not inf"},
        {8, 5, 0, 9, -1e100, 0, UNRELU_EDATA,
         "samples have a root mean square of 0 before scaling: units are hardly ever on; choose a "
         "larger bias"},
        {8, 5, (size_t)1 << 61, 9, 0, 0, UNRELU_EUSAGE,
         "a W of 5 x 2305843009213693952 is too large"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        unrelu_mixture_plant_options o = sizes(bad[i].d, bad[i].p, bad[i].k);
        unrelu_mixture *m;
        unrelu_error err = {0};
        o.kappa = bad[i].kappa;
        o.bias_value = bad[i].bias;
        o.noise = bad[i].noise;
        assert_int_equal(unrelu_mixture_plant(&o, &m, &err), bad[i].status);
        assert_string_equal(err.text, bad[i].sentence);
        assert_null(m);
    }
    for (int i = 0; i < 2; i++) { /* the extremes that go */
        unrelu_mixture_plant_options o = sizes(6, 4, 0);
        o.bias_value = i ? 1e100 : -4.5;
        unrelu_mixture *m = planted(o);
        assert_near(naive_mean_square(m), 1, i ? 1e-9 : 1e-4);
        unrelu_mixture_free(m);
    }
}

/* ---- sample ---- */

/* x = A m, m being what the hidden layer by itself yields */
static void samples_are_mixed_units(void **state)
{
    (void)state;
    enum { N = 700 };
    for (size_t i = 0; i < PLANS; i++) {
        planted_mixture t = plant_mixture_with(plan(i), N);
        size_t d = t.truth->d, p = t.truth->p;
        double *m = draw(t.truth->hidden, N, t.options.seed);
        for (size_t r = 0; r < N; r++)
            for (size_t l = 0; l < d; l++) {
                double x = 0, size = 0;
                for (size_t j = 0; j < p; j++) {
                    x += t.truth->A[l * p + j] * m[r * p + j];
                    size += fabs(t.truth->A[l * p + j] * m[r * p + j]);
                }
                /* rounding of the sum alone: 0 where all units are off, exact where one is on */
                assert_near(t.x[r * d + l], x, 1e-15 * (double)p * size);
            }
        free(m);
        planted_mixture_free(&t);
    }
}

static void samples_lie_in_the_span_of_A_and_its_cone(void **state)
{
    (void)state;
    enum { N = 2000, D = 9, P = 5 };
    planted_mixture t = plant_mixture(D, P, 0, N, 0.5, 0, 4);
    double *xt = malloc(N * D * sizeof *xt), *m = malloc(N * P * sizeof *m), off = 0;
    unrelu_error err = {0};
    for (size_t i = 0; i < N * D; i++)
        xt[i % D * N + i / D] = t.x[i];
    must(ur_least_squares(D, P, N, t.truth->A, xt, 0, m, NULL, &err), &err);
    for (size_t r = 0; r < N; r++)
        for (size_t l = 0; l < D; l++) {
            double x = 0;
            for (size_t j = 0; j < P; j++)
                x += t.truth->A[l * P + j] * m[j * N + r];
            assert_near(x, t.x[r * D + l], 1e-12);
        }
    for (size_t i = 0; i < N * P; i++) {
        assert_true(m[i] > -1e-12);
        off += (m[i] < 1e-12) / (double)(N * P);
    }
    assert_near(off, Phi(-0.5), 5 * sqrt(0.25 / N));
    free(xt);
    free(m);
    planted_mixture_free(&t);
}

static void any_slice_has_the_same_bits_at_any_number_of_threads(void **state)
{
    (void)state;
    enum { N = 2000, D = 6 };
    planted_mixture t = plant_mixture(D, 4, 7, N, 0.2, 0.1, 3);
    static double y[N * D];
    unrelu_sampler *sampler = NULL;
    unrelu_error err = {0};
    must(unrelu_mixture_sampler(t.truth, t.options.seed, &sampler, &err), &err);
    const size_t slices[][2] = {{0, 1},      {1, 300},  {255, 2},  {256, 256},
                                {777, 1223}, {1999, 1}, {0, 2000}, {512, 0}};
    const int threads[] = {1, 2, 7};
    for (size_t k = 0; k < 8; k++)
        for (size_t i = 0; i < 3; i++) {
            unrelu_exec exec = {.size = sizeof exec, .threads = threads[i]};
            memset(y, 0, sizeof y);
            must(unrelu_sampler_draw(sampler, slices[k][0], slices[k][1], &exec, y, &err), &err);
            assert_memory_equal(y, t.x + slices[k][0] * D, slices[k][1] * D * sizeof *y);
        }
    unrelu_sampler_free(sampler);
    planted_mixture_free(&t);
}

static void noise_is_normal_and_has_its_standard_deviation(void **state)
{
    (void)state;
    enum { N = 20000, D = 4 };
    planted_mixture t = plant_mixture(D, 3, 0, N, 0, 0.05, 3);
    assert_near(t.truth->noise, 0.05, 0);
    assert_near(t.truth->relative_noise, 0.05, 0);
    t.truth->noise = 0;
    double *clean = draw_mixture(t.truth, N, t.options.seed);
    double mean = 0, two = 0, four = 0, next = 0, with = 0, before = 0;
    for (size_t i = 0; i < N * D; i++) {
        double e = (t.x[i] - clean[i]) / 0.05;
        mean += e / (N * D);
        two += e * e / (N * D);
        four += e * e * e * e / (N * D);
        next += e * before / (N * D);
        with += e * clean[i] / (N * D);
        before = e;
    }
    double unit = 4.5 / sqrt(N * D);
    assert_near(mean, 0, unit);
    assert_near(two, 1, sqrt(2) * unit);
    assert_near(four, 3, sqrt(96) * unit);
    assert_near(next, 0, unit);
    assert_near(with, 0, 2 * unit);
    free(clean);
    planted_mixture_free(&t);
}

static void units_of_a_mixture_are_off_at_zero_whatever_their_limit(void **state)
{
    (void)state;
    enum { N = 300, D = 5, P = 2 };
    planted_mixture t = plant_mixture(D, P, 0, N, 0, 0, 3);
    double limit[P] = {0.5, 0.5};
    t.truth->hidden->limit = limit;
    double *x = draw_mixture(t.truth, N, t.options.seed);
    assert_memory_equal(x, t.x, N * D * sizeof *x);
    t.truth->hidden->limit = NULL;
    free(x);
    planted_mixture_free(&t);
}

static void a_mixture_that_cannot_be_drawn_is_refused(void **state)
{
    (void)state;
    unrelu_mixture *m = planted(sizes(4, 3, 0)), none = {.d = 4, .p = 3};
    unrelu_sampler *sampler = NULL;
    unrelu_error err = {0};
    m->A[5] = NAN;
    assert_int_equal(unrelu_mixture_sampler(m, 1, &sampler, &err), UNRELU_EDATA);
    assert_string_equal(err.text, "A has nan at row 2, column 3: no samples can be drawn");
    assert_null(sampler);
    m->A[5] = 1;
    m->noise = -1;
    assert_int_equal(unrelu_mixture_sampler(m, 1, &sampler, &err), UNRELU_EDATA);
    assert_string_equal(err.text, "the noise is -1: no samples can be drawn");
    m->noise = 0;
    m->hidden->b[1] = INFINITY;
    assert_int_equal(unrelu_mixture_sampler(m, 1, &sampler, &err), UNRELU_EDATA);
    assert_non_null(strstr(err.text, "column 2 (u2) has b inf"));
    assert_int_equal(unrelu_mixture_sampler(&none, 1, &sampler, &err), UNRELU_EUSAGE);
    assert_string_equal(err.text, "the mixture has no A: no samples can be drawn");
    unrelu_mixture_free(m);
}

/* ---- compare ---- */

static unrelu_mixture_distance distance(const unrelu_mixture *truth, const unrelu_mixture *model)
{
    unrelu_mixture_distance far;
    unrelu_error err = {0};
    must(unrelu_mixture_compare(truth, model, &far, &err), &err);
    return far;
}

/* unit units[j] of m becomes unit j, its column of A times scale[j] and W's row divided by it */
static unrelu_mixture *disguised(const unrelu_mixture *m, size_t p, const size_t *units,
                                 const double *scale)
{
    unrelu_error err = {0};
    unrelu_mixture *out = ur_mixture_new(&err);
    unrelu_gaussian *hidden = ur_gaussian_new(&err);
    assert_true(out && hidden);
    out->d = m->d;
    out->p = p;
    must(ur_mixture_alloc(out, &err), &err);
    must(ur_mixture_hold(out, hidden, &err), &err);
    must(ur_gaussian_allocate(hidden, p, 0, &err), &err);
    const char **names = ur_take(ur_model_arena(hidden), p, sizeof *names);
    hidden->names = names;
    for (size_t j = 0; j < p; j++) {
        size_t from = units[j];
        for (size_t i = 0; i < m->d; i++)
            out->A[i * p + j] = m->A[i * m->p + from] * scale[j];
        hidden->b[j] = m->hidden->b[from] / scale[j];
        hidden->scale[j] = m->hidden->scale[from] / scale[j];
        names[j] = ur_take_copy(ur_model_arena(hidden), m->hidden->names[from]);
        for (size_t i = 0; i < p; i++) {
            size_t at = units[i] * m->p + from;
            hidden->sigma[i * p + j] = m->hidden->sigma[at] / scale[i] / scale[j];
            hidden->correlation[i * p + j] = m->hidden->correlation[at];
        }
    }
    return out;
}

static const double scales[] = {0.1, 7, 1, 2.5, 1e-3, 40};

static unrelu_mixture_plant_options varied(size_t d, size_t p, size_t k)
{
    unrelu_mixture_plant_options o = sizes(d, p, k);
    o.bias = UNRELU_BIAS_NORMAL;
    return o;
}

static void order_and_scale_of_units_do_not_count(void **state)
{
    (void)state;
    const size_t order[] = {3, 0, 5, 1, 4, 2}, k[] = {0, 3, 11};
    for (size_t i = 0; i < 3; i++) {
        unrelu_mixture *m = planted(varied(9, 6, k[i])), *same = disguised(m, 6, order, scales);
        unrelu_mixture_distance far = distance(m, same);
        assert_int_equal(far.matched, 6);
        assert_int_equal(far.missing + far.extra, 0);
        double errors[] = {
            far.A_max,     far.A_column,       far.A_frobenius,        far.b_max,
            far.sigma_max, far.hidden.b_error, far.hidden.sigma_error, far.hidden.correlation_rms};
        for (size_t e = 0; e < 8; e++)
            assert_near(errors[e], 0, 1e-13);
        if (k[i] == 3) {
            assert_true(isinf(far.hidden.kl) && strstr(far.hidden.note, "singular"));
        } else {
            assert_near(far.hidden.kl, 0, 1e-12);
            assert_string_equal(far.hidden.note, "");
        }
        unrelu_mixture_free(m);
        unrelu_mixture_free(same);
    }
}

static void units_too_few_and_too_many_are_counted(void **state)
{
    (void)state;
    const size_t some[] = {4, 0, 5, 2};
    unrelu_mixture *m = planted(varied(9, 6, 0)), *fewer = disguised(m, 4, some, scales);
    unrelu_mixture_distance far = distance(m, fewer);
    assert_int_equal(far.matched, 4);
    assert_int_equal(far.missing, 2);
    assert_int_equal(far.extra, 0);
    assert_near(far.A_frobenius + far.b_max + far.sigma_max + far.hidden.sigma_error, 0, 1e-13);
    far = distance(fewer, m);
    assert_int_equal(far.matched, 4);
    assert_int_equal(far.missing, 0);
    assert_int_equal(far.extra, 2);
    assert_near(far.A_frobenius + far.b_max + far.sigma_max + far.hidden.sigma_error, 0, 1e-13);
    assert_true(isinf(error_of_A(m, fewer)));
    unrelu_mixture_free(m);
    unrelu_mixture_free(fewer);
}

static void errors_are_those_that_were_made(void **state)
{
    (void)state;
    enum { D = 7, P = 4 };
    const size_t order[] = {2, 3, 1, 0};
    unrelu_mixture *m = planted(varied(D, P, 0)), *off = disguised(m, P, order, scales);
    size_t small = 0;
    for (size_t i = 1; i < D; i++) /* the model's unit 2 is the truth's unit 1 */
        if (fabs(m->A[i * P + 1]) < fabs(m->A[small * P + 1]))
            small = i;
    off->A[small * P + 2] *= -1; /* of the same length */
    double moved = 2 * fabs(m->A[small * P + 1]), norm = 0;
    assert_true(moved > 1e-3);
    unrelu_mixture_distance far = distance(m, off);
    assert_near(far.A_max, moved, 1e-14);
    assert_near(far.A_column, moved, 1e-14);
    assert_near(far.A_frobenius, moved, 1e-14);
    assert_near(error_of_A(m, off), moved, 1e-14);
    assert_near(far.b_max + far.sigma_max, 0, 1e-13);
    for (size_t i = 0; i < P; i++)
        norm += m->hidden->sigma[i * P + i];
    off->hidden->b[1] += 0.03 / scales[1];
    far = distance(m, off);
    assert_near(far.b_max, 0.03, 1e-14);
    assert_near(far.hidden.b_error, 0.03 / sqrt(norm), 1e-14);
    off->hidden->sigma[3] += 0.02 / scales[0] / scales[3];
    assert_near(distance(m, off).sigma_max, 0.02, 1e-14);
    off->hidden->sigma[3] = NAN;
    assert_true(isnan(distance(m, off).sigma_max));
    unrelu_mixture_free(m);
    unrelu_mixture_free(off);
}

/* not the nearest first: 0.2 + 0.6 in place of 0.1 + 0.9 */
static void units_are_paired_by_the_least_total_distance(void **state)
{
    (void)state;
    unrelu_mixture *t = planted(sizes(2, 2, 0)), *m = planted(sizes(2, 2, 0));
    const double angles[2][2] = {{0, 0.3}, {0.2, 0.9}};
    for (size_t j = 0; j < 2; j++) {
        t->A[j] = cos(angles[0][j]);
        t->A[2 + j] = sin(angles[0][j]);
        m->A[1 - j] = cos(angles[1][j]);
        m->A[2 + 1 - j] = sin(angles[1][j]);
    }
    unrelu_mixture_distance far = distance(t, m);
    assert_near(far.A_column, 2 * sin(0.3), 1e-14);
    assert_near(far.A_frobenius, hypot(2 * sin(0.1), 2 * sin(0.3)), 1e-14);
    unrelu_mixture_free(t);
    unrelu_mixture_free(m);
}

static void mixtures_that_cannot_be_compared_are_refused(void **state)
{
    (void)state;
    unrelu_mixture *m = planted(sizes(5, 2, 0)), *wide = planted(sizes(6, 2, 0)),
                   none = {.d = 5, .p = 2};
    unrelu_mixture_distance far;
    unrelu_error err = {0};
    assert_int_equal(unrelu_mixture_compare(m, wide, &far, &err), UNRELU_EFORMAT);
    assert_string_equal(err.text,
                        "the truth has 5 columns and the model 6: they cannot be compared");
    assert_int_equal(unrelu_mixture_compare(m, &none, &far, &err), UNRELU_EFORMAT);
    assert_string_equal(err.text, "the model has no A: there is nothing to compare");
    unrelu_mixture *other = planted(sizes(5, 2, 0));
    for (size_t i = 0; i < 5; i++)
        other->A[i * 2 + 1] = 0;
    assert_int_equal(unrelu_mixture_compare(m, other, &far, &err), UNRELU_EDATA);
    assert_string_equal(err.text, "column 2 of the model's A has the length 0: no unit can be "
                                  "compared by it");
    other->A[4] = INFINITY;
    assert_int_equal(unrelu_mixture_compare(other, m, &far, &err), UNRELU_EDATA);
    assert_string_equal(err.text, "column 1 of the truth's A has the length inf: no unit can be "
                                  "compared by it");
    other->A[4] = NAN;
    assert_int_equal(unrelu_mixture_compare(other, m, &far, &err), UNRELU_EDATA);
    assert_true(far.matched == 0 && far.A_max == 0);
    unrelu_mixture_free(m);
    unrelu_mixture_free(wide);
    unrelu_mixture_free(other);
}

/* ---- files ---- */

static double *numbers(const void *model, size_t count, uint64_t stream)
{
    double *x = ur_take(ur_model_arena(model), count, sizeof *x);
    assert_non_null(x);
    ur_random_normals(77, stream, 0, count, x);
    return x;
}

/* the same without their signs */
static double *unsigned_numbers(const void *model, size_t count, uint64_t stream)
{
    double *x = numbers(model, count, stream);
    for (size_t i = 0; i < count; i++)
        x[i] = fabs(x[i]);
    return x;
}

enum { D = 7, P = 4 };

/* every field has a value of its own */
static unrelu_mixture *learned(void)
{
    unrelu_mixture *m = planted(varied(D, P, 3));
    unrelu_gaussian *h = m->hidden;
    double **vectors[] = {&h->b_se,        &h->scale_se,       &h->observed, &h->positive,
                          &h->eigenvalues, &h->eigenvalues_se, &h->noise,    &h->limit};
    double **squares[] = {&h->sigma_se, &h->correlation_se, &h->n_pair};
    for (size_t i = 0; i < 8; i++)
        *vectors[i] = i == 4 || i == 7 ? numbers(h, P, i) : unsigned_numbers(h, P, i);
    for (size_t i = 0; i < 3; i++) {
        *squares[i] = unsigned_numbers(h, P * P, 10 + i);
        for (size_t k = 0; k < P * P; k++)
            (*squares[i])[k % P * P + k / P] = (*squares[i])[k];
    }
    for (size_t k = 0; k < P * P; k++)
        h->n_pair[k] = ceil(1000 * h->n_pair[k]);
    for (size_t j = 0; j < P; j++) {
        h->positive[j] = ceil(1000 * h->positive[j]);
        h->observed[j] = h->positive[j] + (double)j;
    }
    m->A_se = unsigned_numbers(m, D * P, 20);
    m->A_se[3] = h->sigma_se[1] = h->sigma_se[P] = NAN;
    h->sigma[2] = h->sigma[2 * P] = INFINITY;
    h->flags = ur_take(ur_model_arena(h), P, sizeof *h->flags);
    h->pair_flags = ur_take(ur_model_arena(h), P, P);
    h->flags[1] = UNRELU_FLAG_NO_ZEROS | UNRELU_FLAG_MISFIT;
    h->pair_flags[6] = UNRELU_FLAG_FEW_JOINT;
    h->lambda_min = -0.01;
    h->repaired = 1;
    h->rows_dropped = 3;
    h->n = m->n = 123456789;
    h->seed = m->seed = UINT64_MAX - 1;
    h->method = "efficient";
    h->norms = "censored";
    h->angles = "h6";
    h->how_k = "given";
    m->noise = 0.1;
    m->relative_noise = 0.07;
    m->verdict = UNRELU_VERDICT_AMBIGUOUS;
    m->residual = 1e-3 / 3;
    m->negative = 1e-17;
    m->samples_checked = 11;
    m->facets = 12;
    m->min_off = 13;
    m->tries = 14;
    m->method = "facets";
    m->precision = "digits:15";
    m->how_p = ur_take_text(ur_model_arena(m), "%0600d", 7); /* of any length */
    static const char *const names[D] = {"a", "b", "dose, mg \xc2\xb5", "d", "e", "f", "g"};
    m->names = names;
    ur_model_warn(m, "few", "%d samples", 7);
    ur_model_warn(m, "rare", "unit %d", 2);
    return m;
}

static void a_saved_mixture_loads_bit_for_bit(void **state)
{
    (void)state;
    unrelu_mixture *m = learned(), *l;
    unrelu_error err = {0};
    const char *path = files_path("learned.npz");
    must(unrelu_mixture_save(m, path, &err), &err);
    must(unrelu_mixture_load(path, &l, &err), &err);
    assert_int_equal(assert_same_members(&m->model, &l->model), 39);
    assert_int_equal(l->warning_count, 2);
    unrelu_mixture_free(m);
    unrelu_mixture_free(l);
}

/* E max(0, z + g)^2 is 8e-9 at g = -5.2 and 5e-11 at g = -6 */
static void units_that_are_hardly_ever_on_are_refused(void **state)
{
    (void)state;
    for (int rare = 0; rare < 2; rare++) {
        unrelu_mixture_plant_options o = sizes(5, 5, 0);
        unrelu_mixture *m;
        o.kappa = 1;
        o.bias = UNRELU_BIAS_FIXED;
        o.bias_value = rare ? -6 : -5.2;
        assert_int_equal(unrelu_mixture_plant(&o, &m, NULL), rare ? UNRELU_EDATA : UNRELU_OK);
        unrelu_mixture_free(m);
    }
}

static void a_planted_mixture_survives_a_file(void **state)
{
    (void)state;
    for (size_t i = 0; i < PLANS; i++) {
        unrelu_mixture_plant_options o = plan(i);
        o.noise = 0.02;
        unrelu_mixture *m = planted(o), *l;
        unrelu_error err = {0};
        must(unrelu_mixture_save(m, files_path("truth.npz"), &err), &err);
        must(unrelu_mixture_load(files_path("truth.npz"), &l, &err), &err);
        assert_int_equal(l->verdict, UNRELU_VERDICT_PLANTED);
        assert_null(l->A_se);
        assert_null(l->hidden->b_se);
        assert_int_equal(l->hidden->k, m->hidden->k);
        double *x = draw_mixture(m, 30, 5), *y = draw_mixture(l, 30, 5);
        assert_memory_equal(x, y, 30 * m->d * sizeof *x);
        assert_true(error_of_A(m, l) == 0);
        free(x);
        free(y);
        unrelu_mixture_free(m);
        unrelu_mixture_free(l);
    }
}

/* A (3 x 2) or of another shape, b (b numbers), sigma (2 x 2), and one array more */
typedef struct {
    const char *kind, *verdict, *seed;
    size_t ndim, shape[3]; /* of A; 0: 3 x 2 */
    size_t b;              /* 0: 2 */
    const char *without;
    const char *extra;
    size_t extra_ndim, extra_shape[2];
    double value; /* of the extra array, and of one entry of the array `bad` */
    const char *bad;
} parts;

static void add(ur_npz_writer *w, const parts *p, const char *name, double *x, size_t ndim,
                const size_t *shape)
{
    if (p->bad && strcmp(p->bad, name) == 0)
        x[shape[0] - 1] = p->value;
    if (!p->without || strcmp(p->without, name) != 0)
        ur_npz_add(w, name, x, ndim, shape);
}

static const char *write_parts(parts p)
{
    double A[32], b[8], sigma[4] = {4, -3, -3, 9}, extra[32];
    const char *path = files_path("parts.npz"), *names[] = {"p", "q"};
    ur_npz_writer *w = NULL;
    unrelu_error err = {0};
    ur_random_normals(5, 5, 0, 32, A);
    ur_random_normals(5, 6, 0, 8, b);
    for (size_t i = 0; i < 32; i++)
        extra[i] = p.value;
    must(ur_npz_writer_open(path, &w, &err), &err);
    if (p.kind)
        ur_npz_add_string(w, "kind", p.kind);
    if (p.verdict)
        ur_npz_add_string(w, "verdict", p.verdict);
    if (p.seed)
        ur_npz_add_string(w, "seed", p.seed);
    if (p.extra && strcmp(p.extra, "names") == 0)
        ur_npz_add_strings(w, "names", names, 2);
    else if (p.extra)
        ur_npz_add(w, p.extra, extra, p.extra_ndim, p.extra_shape);
    if (p.bad && strcmp(p.bad, "sigma") == 0)
        sigma[2] = p.value; /* both halves */
    const size_t shape[] = {3, 2}, square[] = {2, 2}, length = p.b ? p.b : 2;
    add(w, &p, "A", A, p.ndim ? p.ndim : 2, p.ndim ? p.shape : shape);
    add(w, &p, "b", b, 1, &length);
    add(w, &p, "sigma", sigma, 2, square);
    must(ur_npz_commit(w, &err), &err);
    return path;
}

static void A_b_and_sigma_alone_make_a_mixture(void **state)
{
    (void)state;
    unrelu_mixture *m;
    unrelu_error err = {0};
    must(unrelu_mixture_load(write_parts((parts){.kind = "mixture"}), &m, &err), &err);
    assert_int_equal(m->d, 3);
    assert_int_equal(m->p, 2);
    assert_int_equal(m->verdict, UNRELU_VERDICT_PLANTED);
    assert_true(m->noise == 0 && m->relative_noise == 0);
    assert_true(m->hidden->scale[0] == 2 && m->hidden->scale[1] == 3);
    assert_true(m->hidden->correlation[0] == 1 && m->hidden->correlation[3] == 1);
    assert_true(m->hidden->correlation[1] == -0.5 && m->hidden->correlation[2] == -0.5);
    assert_string_equal(m->names[2], "x3");
    assert_string_equal(m->hidden->names[1], "u2");
    assert_true(m->hidden->k == 0 && !m->hidden->W);
    double *x = draw_mixture(m, 100, 1);
    assert_true(isfinite(x[299]));
    free(x);
    assert_near(error_of_A(m, m), 0, 0);
    unrelu_mixture_free(m);
    parts noisy = {.kind = "mixture", .extra = "noise", .extra_ndim = 0, .value = 0.5};
    must(unrelu_mixture_load(write_parts(noisy), &m, &err), &err);
    assert_true(m->noise == 0.5 && isnan(m->relative_noise)); /* of no known size of samples */
    unrelu_mixture_free(m);
    parts flat = {.kind = "mixture", .bad = "sigma", .value = 0}; /* sigma_12 */
    must(unrelu_mixture_load(write_parts(flat), &m, &err), &err);
    assert_true(m->hidden->correlation[1] == 0);
    unrelu_mixture_free(m);
}

static void damaged_files_are_refused_with_a_sentence(void **state)
{
    (void)state;
    static const struct {
        parts file;
        const char *sentence; /* after the path */
    } bad[] = {
        {{.kind = NULL}, " has no array 'kind': it is not a model written by unrelu"},
        {{.kind = "network"}, " is of kind 'network', where a mixture is needed"},
        {{.kind = "mixture", .without = "A"},
         " has no array 'A'; it was not written by this program, or by another version"},
        {{.kind = "mixture", .without = "b"},
         " has no array 'b'; it was not written by this program, or by another version"},
        {{.kind = "mixture", .without = "sigma"},
         " has no array 'sigma'; it was not written by this program, or by another version"},
        {{.kind = "mixture", .ndim = 1, .shape = {6}},
         ": A has 1 dimensions, where a matrix of d x p is needed"},
        {{.kind = "mixture", .ndim = 3, .shape = {3, 2, 1}},
         ": A has 3 dimensions, where a matrix of d x p is needed"},
        {{.kind = "mixture", .ndim = 2, .shape = {3, 0}},
         ": A is 3 x 0, where at least one column and one unit are needed"},
        {{.kind = "mixture", .b = 3}, ": b is a vector of 3, where a vector of 2 is needed"},
        {{.kind = "mixture", .ndim = 2, .shape = {4, 3}, .b = 3},
         ": sigma is 2 x 2, where 3 x 3 is needed"},
        {{.kind = "mixture", .extra = "A_se", .extra_ndim = 2, .extra_shape = {2, 3}},
         ": A_se is 2 x 3, where 3 x 2 is needed"},
        {{.kind = "mixture", .extra = "correlation", .extra_ndim = 1, .extra_shape = {4}},
         ": correlation is a vector of 4, where 2 x 2 is needed"},
        {{.kind = "mixture", .extra = "scale", .extra_ndim = 0},
         ": scale is a number, where a vector of 2 is needed"},
        {{.kind = "mixture", .extra = "W", .extra_ndim = 2, .extra_shape = {3, 2}},
         ": W is 3 x 2, where 2 x 2 is needed"},
        {{.kind = "mixture", .bad = "A", .value = NAN},
         ": A has nan at row 2, column 1, where a finite number is needed"},
        {{.kind = "mixture", .bad = "b", .value = -INFINITY},
         ": b has -inf at row 2, column 1, where a finite number is needed"},
        {{.kind = "mixture", .bad = "sigma", .value = NAN},
         ": sigma has nan at row 1, column 2, where a number is needed unless the column has the "
         "flag no-truncated-mle"},
        {{.kind = "mixture", .extra = "noise", .value = -1},
         ": noise is -1, where a finite number of at least 0 is needed"},
        {{.kind = "mixture", .extra = "n", .value = 1.5}, ": n is 1.5, where a count is needed"},
        {{.kind = "mixture", .extra = "names"}, ": names has 2 entries for 3 columns"},
        {{.kind = "mixture", .verdict = "good"}, ": 'good' is no verdict of a mixture"},
        {{.kind = "mixture", .verdict = "failed"}, ": 'failed' is no verdict of a mixture"},
        {{.kind = "mixture", .seed = "7a"}, ": '7a' is no seed"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        unrelu_mixture *m;
        unrelu_error err = {0};
        char sentence[1024];
        const char *path = write_parts(bad[i].file);
        assert_int_equal(unrelu_mixture_load(path, &m, &err), UNRELU_EFORMAT);
        snprintf(sentence, sizeof sentence, "%s%s", path, bad[i].sentence);
        assert_string_equal(err.text, sentence);
        assert_null(m);
    }
    unrelu_mixture *m;
    unrelu_error err = {0};
    assert_int_equal(unrelu_mixture_load(files_path("absent.npz"), &m, &err), UNRELU_EIO);
}

static void what_is_no_mixture_is_not_saved(void **state)
{
    (void)state;
    unrelu_mixture none = {0};
    unrelu_error err = {0};
    const char *path = files_path("none.npz");
    assert_int_equal(unrelu_mixture_save(&none, path, &err), UNRELU_EUSAGE);
    assert_string_equal(err.text, "the mixture has no A or no hidden units to save");
    assert_int_not_equal(access(path, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_samples_have_unit_size),
        cmocka_unit_test(planted_parts_belong_together),
        cmocka_unit_test(planted_units_have_the_condition_number),
        cmocka_unit_test(a_plan_that_cannot_be_is_refused),
        cmocka_unit_test(samples_are_mixed_units),
        cmocka_unit_test(samples_lie_in_the_span_of_A_and_its_cone),
        cmocka_unit_test(any_slice_has_the_same_bits_at_any_number_of_threads),
        cmocka_unit_test(noise_is_normal_and_has_its_standard_deviation),
        cmocka_unit_test(units_of_a_mixture_are_off_at_zero_whatever_their_limit),
        cmocka_unit_test(a_mixture_that_cannot_be_drawn_is_refused),
        cmocka_unit_test(order_and_scale_of_units_do_not_count),
        cmocka_unit_test(units_too_few_and_too_many_are_counted),
        cmocka_unit_test(errors_are_those_that_were_made),
        cmocka_unit_test(units_are_paired_by_the_least_total_distance),
        cmocka_unit_test(mixtures_that_cannot_be_compared_are_refused),
        cmocka_unit_test(a_saved_mixture_loads_bit_for_bit),
        cmocka_unit_test(units_that_are_hardly_ever_on_are_refused),
        cmocka_unit_test(a_planted_mixture_survives_a_file),
        cmocka_unit_test(A_b_and_sigma_alone_make_a_mixture),
        cmocka_unit_test(damaged_files_are_refused_with_a_sentence),
        cmocka_unit_test(what_is_no_mixture_is_not_saved),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
