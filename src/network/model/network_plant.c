/* SPDX-License-Identifier: Apache-2.0 */
/* A random network, and inputs and labels for it.
 *
 * A matrix of condition number kappa is P diag(s) Q', P and Q with random orthonormal columns, s
 * geometric. Unit rows of V come by plane rotations of its rows, which leave the singular values
 * alone: of two rows, one shorter and one longer than 1, the first is turned to length 1 (sum s^2
 * = k makes all of them end there). Where f is not homogeneous, lengths of rows matter: uniform
 * on [.5, 1.5], or 1 where a condition number is asked for; .3 for exp(t^2) - 1, so that its
 * moments exist.
 *
 * The network of Lemma 16 is no random one: rows (1, a) and (1, -a) of V, brought to unit length,
 * and a U that gives the labels (f(x1 + a x2) + f(x1 - a x2)) / 2. Its labels are not scaled: those
 * of a and 2 a shall agree wherever |x1| > 2 a |x2|.
 *
 * Row i of inputs and labels is a function of the seed and i alone, and products are formed in
 * chunks of fixed rows: any slice of rows has the same bits. */
#include "base/arena.h"
#include "base/error.h"
#include "base/random.h"
#include "base/sized.h"
#include "dense/blas.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"
#include "network/model/network.h"
#include "pass/parallel.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { CHUNK = 256, SCALE_ROWS = 2000, CLUSTERS = 3 };

/* stream of a single number for a row or cell, and of the law's own matrices */
enum { STREAM_EXTRA = UR_STREAM_INPUTS + 1, STREAM_LAW = UR_STREAM_INPUTS + 2 };

/* ---- the law of the inputs ---- */

typedef struct {
    size_t d;
    unrelu_inputs kind;
    uint64_t seed;
    double *turn; /* d x d, NULL: kappa_x = 1 */
    double *mean; /* CLUSTERS x d, NULL: no mixture */
} law;

static const double cluster_share[CLUSTERS] = {0.5, 0.3, 0.2};
/* condition numbers from here on cannot be told from a rank that is not full */
static const double KAPPA_MOST = 1e15;
/* Lengths of rows: the shortest where f is not homogeneous; of exp(t^2) - 1 all */
static const double SHORTEST = 0.5, LENGTH_SQUARED = 0.3;
static const double cluster_width = 0.7, cluster_spread = 0.9; /* variance about 1 in all */

static void set_means(law *l)
{
    size_t d = l->d;
    ur_random_normals(l->seed, STREAM_LAW, (uint64_t)d * d, (uint64_t)CLUSTERS * d, l->mean);
    for (size_t j = 0; j < d; j++) {
        double centre = 0;
        for (size_t i = 0; i < CLUSTERS; i++)
            centre += cluster_share[i] * l->mean[i * d + j];
        for (size_t i = 0; i < CLUSTERS; i++)
            l->mean[i * d + j] = cluster_spread * (l->mean[i * d + j] - centre);
    }
}

/* the place of i among count numbers that fall geometrically from 1 to 1 / kappa */
static double geometric(double kappa, size_t i, size_t count)
{
    return count > 1 ? pow(kappa, -(double)i / (double)(count - 1)) : 1;
}

/* x = turn z: standard deviations from 1 to kappa^-1/2 along random orthonormal directions */
static unrelu_status set_turn(law *l, double kappa, unrelu_error *err)
{
    size_t d = l->d;
    ur_random_normals(l->seed, STREAM_LAW, 0, (uint64_t)d * d, l->turn);
    UR_TRY(ur_orthonormalise(d, d, l->turn, err));
    for (size_t i = 0; i < d * d; i++)
        l->turn[i] *= sqrt(geometric(kappa, i % d, d));
    return UNRELU_OK;
}

static unrelu_status law_new(const unrelu_network_plant_options *o, ur_arena *arena, law *l,
                             unrelu_error *err)
{
    *l = (law){.d = o->d, .kind = o->inputs, .seed = o->seed};
    if (o->kappa_x != 1)
        l->turn = ur_take(arena, o->d, o->d * sizeof *l->turn);
    if (o->inputs == UNRELU_INPUTS_MIXTURE)
        l->mean = ur_take(arena, CLUSTERS, o->d * sizeof *l->mean);
    UR_TRY(ur_arena_status(arena, err));
    if (l->mean)
        set_means(l);
    return l->turn ? set_turn(l, o->kappa_x, err) : UNRELU_OK;
}

static double laplace(double u)
{
    double tail = log(1 - 2 * fabs(u - 0.5)) * M_SQRT1_2;
    return u < 0.5 ? tail : -tail;
}

/* Student's t from three normals more to a cell */
static void divide_by_chi(const law *l, uint64_t first, size_t count, double *z, double *room)
{
    ur_random_normals(l->seed, STREAM_EXTRA, 3 * first, 3 * (uint64_t)count, room);
    for (size_t i = 0; i < count; i++) {
        const double *g = room + 3 * i;
        z[i] /= sqrt((g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) / 3);
    }
}

static void place_in_clusters(const law *l, uint64_t row, double *z, double *room)
{
    ur_random_uniforms(l->seed, STREAM_EXTRA, row, CHUNK, room);
    for (size_t i = 0; i < CHUNK; i++) {
        size_t which = 0;
        for (double left = room[i]; which < CLUSTERS - 1 && left >= cluster_share[which]; which++)
            left -= cluster_share[which];
        for (size_t j = 0; j < l->d; j++)
            z[i * l->d + j] = cluster_width * z[i * l->d + j] + l->mean[which * l->d + j];
    }
}

/* rows row .. row + CHUNK - 1 in x (CHUNK x d); room: CHUNK (4 d + 1) doubles */
static void draw_inputs(const law *l, size_t row, double *x, double *room)
{
    size_t count = CHUNK * l->d;
    uint64_t first = (uint64_t)row * l->d;
    double *z = l->turn ? room + 3 * count + CHUNK : x;
    int normal = l->kind == UNRELU_INPUTS_NORMAL || l->kind == UNRELU_INPUTS_T3 ||
                 l->kind == UNRELU_INPUTS_MIXTURE;
    if (normal)
        ur_random_normals(l->seed, UR_STREAM_INPUTS, first, count, z);
    else
        ur_random_uniforms(l->seed, UR_STREAM_INPUTS, first, count, z);
    for (size_t i = 0; !normal && i < count; i++)
        z[i] = l->kind == UNRELU_INPUTS_UNIFORM  ? sqrt(3) * (2 * z[i] - 1)
               : l->kind == UNRELU_INPUTS_BINARY ? (z[i] < 0.5 ? -1 : 1)
                                                 : laplace(z[i]);
    if (l->kind == UNRELU_INPUTS_T3)
        divide_by_chi(l, first, count, z, room);
    if (l->kind == UNRELU_INPUTS_MIXTURE)
        place_in_clusters(l, row, z, room);
    if (l->turn)
        ur_multiply_nt(CHUNK, l->d, l->d, z, l->turn, x);
}

/* ---- draw ---- */

typedef struct {
    law l;
    const unrelu_network *truth;
    double noise;
    size_t first, rows;
    double *x, *a;
} drawing;

static void draw_labels(const drawing *w, size_t row, const double *x, double *t, double *y)
{
    size_t m = w->truth->m;
    ur_weights truth = ur_network_weights(w->truth);
    ur_network_forward(&truth, x, CHUNK, t, y);
    if (w->noise == 0)
        return;
    ur_random_normals(w->l.seed, UR_STREAM_NOISE, (uint64_t)row * m, CHUNK * m,
                      t + CHUNK * w->truth->k);
    for (size_t i = 0; i < CHUNK * m; i++)
        y[i] += w->noise * t[CHUNK * w->truth->k + i];
}

static void keep(const drawing *w, size_t start, size_t width, const double *from, double *to)
{
    size_t low = start < w->first ? w->first : start, end = w->first + w->rows;
    size_t high = start + CHUNK > end ? end : start + CHUNK;
    if (to && low < high)
        memcpy(to + (low - w->first) * width, from + (low - start) * width,
               (high - low) * width * sizeof *to);
}

/* chunk i holds rows (first / CHUNK + i) CHUNK .. + CHUNK - 1 of the stream */
static unrelu_status draw_chunk(void *context, size_t i, unrelu_error *err)
{
    const drawing *w = context;
    size_t d = w->l.d, k = w->a ? w->truth->k : 0, m = w->a ? w->truth->m : 0;
    size_t start = (w->first / CHUNK + i) * CHUNK;
    UR_ARENA(arena);
    double *x = ur_take(&arena, CHUNK, (5 * d + 1 + k + 2 * m) * sizeof *x);
    UR_TRY(ur_arena_status(&arena, err));
    double *y = x + CHUNK * d, *t = y + CHUNK * m, *room = t + CHUNK * (k + m);
    draw_inputs(&w->l, start, x, room);
    keep(w, start, d, x, w->x);
    if (w->a) {
        draw_labels(w, start, x, t, y);
        keep(w, start, m, y, w->a);
    }
    return UNRELU_OK;
}

/* ---- options ---- */

static unrelu_status check_kappa(const char *name, double kappa, size_t least, int zero,
                                 unrelu_error *err)
{
    if (zero && kappa == 0)
        return UNRELU_OK;
    if (!(kappa >= 1 && kappa < KAPPA_MOST))
        return ur_fail(err, UNRELU_EUSAGE,
                       "the condition number of %s must be from 1 to 1e15%s, not %g", name,
                       zero ? " (or 0: as it comes)" : "", kappa);
    if (kappa > 1 && least < 2)
        return ur_fail(err, UNRELU_EUSAGE,
                       "a condition number of %g needs two rows and two columns of %s", kappa,
                       name);
    return UNRELU_OK;
}

static unrelu_status check_lemma16(const unrelu_network_plant_options *o, unrelu_error *err)
{
    if (o->lemma16 == 0)
        return UNRELU_OK;
    if (!(o->lemma16 > 1 / KAPPA_MOST && o->lemma16 <= 1))
        return ur_fail(err, UNRELU_EUSAGE,
                       "`lemma16` must be above 1e-15 and at most 1 (or 0: a random network), not "
                       "%g",
                       o->lemma16);
    if (o->d != 2 || o->k != 2 || o->m != 1)
        return ur_fail(err, UNRELU_EUSAGE,
                       "the network of `lemma16` has `d` = 2, `k` = 2 and `m` = 1, not %zu, %zu "
                       "and %zu",
                       o->d, o->k, o->m);
    const struct {
        int said;
        const char *name;
    } others[] = {{o->kappa_v > 0, "kappa-v"},
                  {o->kappa_u > 0, "kappa-u"},
                  {o->bias != 0, "bias"},
                  {o->noise != 0, "noise"},
                  {o->activation.kind != UNRELU_RELU, "activation"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].said)
            return ur_fail(err, UNRELU_EUSAGE,
                           "the network of `lemma16` is given, and its labels are exact: leave out "
                           "`%s`",
                           others[i].name);
    return UNRELU_OK;
}

static unrelu_status check(const unrelu_network_plant_options *o, unrelu_error *err)
{
    size_t v = o->k < o->d ? o->k : o->d, u = o->m < o->k ? o->m : o->k;
    if (o->d < 1 || o->k < 1 || o->m < 1)
        return ur_fail(err, UNRELU_EUSAGE,
                       "d, k and m must be at least 1, not d = %zu, k = %zu, m = %zu", o->d, o->k,
                       o->m);
    if (!(o->noise >= 0 && o->noise < INFINITY))
        return ur_fail(err, UNRELU_EUSAGE, "the noise must be a number of at least 0, not %g",
                       o->noise);
    if (!isfinite(o->bias))
        return ur_fail(err, UNRELU_EUSAGE, "the bias must be a finite number, not %g", o->bias);
    if ((unsigned)o->inputs > UNRELU_INPUTS_MIXTURE)
        return ur_fail(err, UNRELU_EUSAGE, "%d is no law of inputs", (int)o->inputs);
    char name[48];
    unrelu_activation read_back;
    unrelu_activation_name(o->activation, name, sizeof name);
    UR_TRY(unrelu_activation_parse(name, &read_back, err));
    UR_TRY(check_lemma16(o, err));
    UR_TRY(check_kappa("V", o->kappa_v, v, 1, err));
    UR_TRY(check_kappa("U", o->kappa_u, u, 1, err));
    return check_kappa("the inputs' covariance", o->kappa_x, o->d, 0, err);
}

static unrelu_status read_options(const unrelu_network_plant_options *options,
                                  unrelu_network_plant_options *out, unrelu_error *err)
{
    unrelu_network_plant_options_init(out, sizeof *out);
    UR_TRY(ur_sized_copy(out, sizeof *out, options, "the options", err));
    return check(out, err);
}

unrelu_status unrelu_network_draw(const unrelu_network_plant_options *options,
                                  const unrelu_network *truth, size_t first_row, size_t rows,
                                  const unrelu_exec *exec, double *x, double *a, unrelu_error *err)
{
    unrelu_exec here;
    unrelu_network_plant_options o;
    UR_TRY(read_options(options, &o, err));
    UR_TRY(ur_exec_read(&exec, &here, err));
    drawing w = {
        .truth = truth, .noise = o.noise, .first = first_row, .rows = rows, .x = x, .a = a};
    if (a && (!truth || !truth->U || !truth->V))
        return ur_fail(err, UNRELU_EUSAGE, "labels need a network with weights");
    if (a && truth->d != o.d)
        return ur_fail(err, UNRELU_EUSAGE, "the network takes %zu inputs, not d = %zu", truth->d,
                       o.d);
    UR_BLAS_BEGIN(&here.threads, err);
    UR_ARENA(arena);
    UR_TRY(law_new(&o, &arena, &w.l, err));
    if (rows == 0)
        return UNRELU_OK;
    size_t chunks = (first_row + rows - 1) / CHUNK - first_row / CHUNK + 1;
    return ur_each(exec, "drawing", chunks, draw_chunk, &w, err);
}

/* ---- plant ---- */

/* A (rows x columns) = P diag(s) Q', s geometric with sum s^2 = rows */
static unrelu_status conditioned(uint64_t seed, uint64_t stream, size_t rows, size_t columns,
                                 double kappa, double *A, unrelu_error *err)
{
    size_t r = rows < columns ? rows : columns;
    UR_ARENA(arena);
    double *P = ur_take(&arena, rows, r * sizeof *P), *Q = ur_take(&arena, columns, r * sizeof *Q);
    UR_TRY(ur_arena_status(&arena, err));
    ur_random_normals(seed, stream, 0, (uint64_t)rows * r, P);
    ur_random_normals(seed, stream, (uint64_t)rows * r, (uint64_t)columns * r, Q);
    UR_TRY(ur_orthonormalise(rows, r, P, err));
    UR_TRY(ur_orthonormalise(columns, r, Q, err));
    double sum = 0;
    for (size_t j = 0; j < r; j++)
        sum += pow(geometric(kappa, j, r), 2);
    for (size_t i = 0; i < rows * r; i++)
        P[i] *= geometric(kappa, i % r, r) * sqrt((double)rows / sum);
    ur_multiply_nt(rows, r, columns, P, Q, A);
    return UNRELU_OK;
}

static void set_lengths(size_t k, size_t d, const double *length, double *V)
{
    for (size_t j = 0; j < k; j++) {
        double factor = (length ? length[j] : 1) / ur_norm(d, V + j * d);
        for (size_t i = 0; i < d; i++)
            V[j * d + i] *= factor;
    }
}

/* Turns the plane of rows a (shorter than 1) and b (longer) until a has length 1:
 * |c a + s b|^2 = 1 for tan = s / c solves (B - 1) tan^2 + 2 C tan + (A - 1) = 0. */
static void turn_to_one(size_t d, double *a, double *b)
{
    double A = ur_dot(d, a, a), B = ur_dot(d, b, b), C = ur_dot(d, a, b);
    double root = sqrt(C * C + (B - 1) * (1 - A));
    double tangent = C >= 0 ? (1 - A) / (C + root) : (root - C) / (B - 1);
    double c = 1 / sqrt(1 + tangent * tangent), s = c * tangent;
    ur_rotate(d, a, 1, b, 1, c, s);
}

/* rows with sum of squares k to unit length each, singular values kept */
static void turn_rows_to_one(size_t k, size_t d, double *V)
{
    double rounding = (double)d * DBL_EPSILON; /* of a squared length */
    for (size_t step = 0; step + 1 < k; step++) {
        size_t lowest = 0, highest = 0;
        double low = INFINITY, high = 0;
        for (size_t j = 0; j < k; j++) {
            double square = ur_dot(d, V + j * d, V + j * d);
            if (square < low) {
                low = square;
                lowest = j;
            }
            if (square > high) {
                high = square;
                highest = j;
            }
        }
        if (!(low < 1 - rounding && high > 1 + rounding))
            break;
        turn_to_one(d, V + lowest * d, V + highest * d);
    }
    set_lengths(k, d, NULL, V); /* the last rounding */
}

static unrelu_status set_V(const unrelu_network_plant_options *o, unrelu_network *m,
                           unrelu_error *err)
{
    size_t k = m->k, d = m->d;
    int squared = m->activation.kind == UNRELU_EXPM1SQ;
    if (o->kappa_v > 0) {
        UR_TRY(conditioned(o->seed, UR_STREAM_PLANT_V, k, d, o->kappa_v, m->V, err));
        turn_rows_to_one(k, d, m->V);
    } else {
        double *length = m->active; /* set later: room until then */
        ur_random_normals(o->seed, UR_STREAM_PLANT_V, 0, (uint64_t)k * d, m->V);
        ur_random_uniforms(o->seed, UR_STREAM_PLANT_V, 0, k, length);
        for (size_t j = 0; j < k; j++)
            length[j] += SHORTEST;
        int free_length = ur_activation_degree(m->activation) == 0 && !squared;
        set_lengths(k, d, free_length ? length : NULL, m->V);
    }
    for (size_t i = 0; squared && i < k * d; i++)
        m->V[i] *= LENGTH_SQUARED;
    return UNRELU_OK;
}

static unrelu_status set_U(const unrelu_network_plant_options *o, unrelu_network *m,
                           unrelu_error *err)
{
    if (o->kappa_u > 0)
        return conditioned(o->seed, UR_STREAM_PLANT_U, m->m, m->k, o->kappa_u, m->U, err);
    ur_random_normals(o->seed, UR_STREAM_PLANT_U, 0, (uint64_t)m->m * m->k, m->U);
    return UNRELU_OK;
}

static void set_lemma16(double a, unrelu_network *m)
{
    double length = hypot(1, a);
    for (size_t j = 0; j < 2; j++) {
        m->V[2 * j] = 1 / length;
        m->V[2 * j + 1] = (j == 0 ? a : -a) / length;
        m->U[j] = length / 2;
    }
}

static void set_bias(const unrelu_network_plant_options *o, uint64_t first, size_t count,
                     double *bias)
{
    if (o->bias == 0)
        return;
    ur_random_normals(o->seed, UR_STREAM_PLANT_BIAS, first, count, bias);
    for (size_t j = 0; j < count; j++)
        bias[j] *= o->bias;
}

/* root mean square of y (n x m) about its column means */
static double centred_rms(size_t n, size_t m, const double *y)
{
    double sum = 0;
    for (size_t j = 0; j < m; j++) {
        double mean = 0;
        for (size_t i = 0; i < n; i++)
            mean += y[i * m + j] / (double)n;
        for (size_t i = 0; i < n; i++)
            sum += (y[i * m + j] - mean) * (y[i * m + j] - mean);
    }
    return sqrt(sum / ((double)n * (double)m));
}

/* scales U to labels of unit size (but that of Lemma 16), and counts how often each neuron is on */
static unrelu_status set_scale(const unrelu_network_plant_options *o, unrelu_network *m,
                               unrelu_error *err)
{
    size_t n = SCALE_ROWS;
    UR_ARENA(arena);
    double *x = ur_take(&arena, n, m->d * sizeof *x), *t = ur_take(&arena, n, m->k * sizeof *t);
    double *y = ur_take(&arena, n, m->m * sizeof *y);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(unrelu_network_draw(o, NULL, 0, n, NULL, x, NULL, err));
    ur_weights weights = ur_network_weights(m);
    ur_network_forward(&weights, x, n, t, y);
    double rms = o->lemma16 > 0 ? 1 : centred_rms(n, m->m, y);
    if (!(rms > 0 && rms < INFINITY))
        return ur_fail(err, UNRELU_EDATA,
                       "labels at %zu inputs have a root mean square of %g about their mean: no "
                       "scale makes it 1; choose other inputs or a smaller bias",
                       n, rms);
    for (size_t i = 0; i < m->m * m->k; i++)
        m->U[i] /= rms;
    ur_multiply_nt(n, m->d, m->k, x, m->V, t);
    memset(m->active, 0, m->k * sizeof *m->active);
    for (size_t i = 0; i < n * m->k; i++)
        m->active[i % m->k] += (t[i] + m->c[i % m->k] > 0) / (double)n;
    return UNRELU_OK;
}

static unrelu_status plant(const unrelu_network_plant_options *o, unrelu_network *m,
                           unrelu_error *err)
{
    m->d = o->d;
    m->k = o->k;
    m->m = o->m;
    ur_network_set_activation(m, o->activation);
    m->noise = o->noise;
    m->seed = o->seed;
    m->biases = o->bias != 0 ? "both" : "none";
    UR_TRY(ur_network_alloc(m, err));
    if (o->lemma16 > 0)
        set_lemma16(o->lemma16, m);
    else {
        UR_TRY(set_V(o, m, err));
        UR_TRY(set_U(o, m, err));
    }
    set_bias(o, 0, m->k, m->c);
    UR_TRY(set_scale(o, m, err)); /* before e, which would only add rounding */
    set_bias(o, m->k, m->m, m->e);
    return ur_network_normalise(m, err);
}

unrelu_status unrelu_network_plant(const unrelu_network_plant_options *options,
                                   unrelu_network **out, unrelu_error *err)
{
    unrelu_network_plant_options o;
    *out = NULL;
    UR_TRY(read_options(options, &o, err));
    UR_BLAS_BEGIN(NULL, err);
    unrelu_network *m = ur_network_new(err);
    return ur_model_hand(m, m ? plant(&o, m, err) : UNRELU_ENOMEM, out, err);
}
