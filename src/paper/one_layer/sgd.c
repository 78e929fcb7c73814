/* SPDX-License-Identifier: Apache-2.0 */
/* Algorithms 2 (NormBiasEst) and 3 (ProjSGD) of the one-layer paper, to the letter. The
 * positives x of a column are shifted and rescaled by (7), split in B batches, and in each the
 * negative log-likelihood of the truncated normal is descended in v = (1/sigma^2, mu/sigma^2):
 *   g = (x^2 - z^2) / 2, z - x   (6), z from the truncated normal at the current v,
 *   v <- project(v - g / (lambda t)) on D_r = [1/r, r] x [-r, r]   (8),
 * averaged over t. The batch closest to all others is transformed back. An ordered fold: one
 * column is one sequence of steps, columns are independent. */
#include "base/error.h"
#include "base/random.h"
#include "gaussian/problem/fit.h"
#include "pass/pass.h"
#include "summary/summary.h"

#include <math.h>

enum { FETCH = 256, STREAM_SGD = 1 << 20 };
/* deviations above the mean from which on a tail is drawn by exponentials: plain rejection accepts
 * 3 of 10 there, and ever fewer above */
static const double TAIL = 0.5;

typedef struct {
    double mean, deviation, lower;  /* of (7), in units; lower: where the truncation lies */
    size_t batch_size, batch, seen; /* seen: positives of this batch so far */
    double v[2], sum[2];
    size_t steps;
    double x1, x2; /* minibatch sums of x and x^2 */
    int filled;
    double *result;               /* B x 2 */
    uint64_t seed, stream, drawn; /* of normals; how many were taken */
    double normals[FETCH];
    size_t left;
} descent;

typedef struct {
    const ur_fit *fit;
    descent **of_source; /* source columns; NULL: not fitted */
} state;

static double next_normal(descent *c)
{
    if (c->left == 0) {
        ur_random_normals(c->seed, c->stream, c->drawn, FETCH, c->normals);
        c->drawn += FETCH;
        c->left = FETCH;
    }
    return c->normals[--c->left];
}

/* z ~ N(mu, sigma^2) given z > lower. Plain rejection where it accepts often; far in the tail
 * the proposal is a shifted exponential, its uniform being Phi of a normal's worth of bits. */
static double draw_truncated(descent *c, double mu, double sigma)
{
    double a = (c->lower - mu) / sigma;
    if (a < TAIL) {
        double z;
        do
            z = next_normal(c);
        while (!(z > a));
        return mu + sigma * z;
    }
    double rate = (a + sqrt(a * a + 4)) / 2;
    for (;;) {
        /* a sum of two squared normals / 2 is a standard exponential */
        double n1 = next_normal(c), n2 = next_normal(c), n3 = next_normal(c), n4 = next_normal(c);
        double z = a + (n1 * n1 + n2 * n2) / (2 * rate), miss = z - rate;
        if ((n3 * n3 + n4 * n4) / 2 >= miss * miss / 2)
            return mu + sigma * z;
    }
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static void sgd_step(descent *c, const unrelu_gaussian_options *o)
{
    double mu = c->v[1] / c->v[0], sigma = 1 / sqrt(c->v[0]), z1 = 0, z2 = 0;
    for (int i = 0; i < o->minibatch; i++) {
        double z = draw_truncated(c, mu, sigma);
        z1 += z;
        z2 += z * z;
    }
    c->steps++;
    double rate = 1 / (o->lambda * (double)c->steps * o->minibatch);
    c->v[0] = clamp(c->v[0] - rate * (c->x2 - z2) / 2, 1 / o->radius, o->radius);
    c->v[1] = clamp(c->v[1] - rate * (z1 - c->x1), -o->radius, o->radius);
    c->sum[0] += c->v[0];
    c->sum[1] += c->v[1];
    c->x1 = c->x2 = 0;
    c->filled = 0;
}

static void start_batch(descent *c)
{
    c->v[0] = 1;
    c->v[1] = c->sum[0] = c->sum[1] = c->x1 = c->x2 = 0;
    c->steps = c->seen = 0;
    c->filled = 0;
}

static void fold_step(void *context, size_t column, const ur_block *block)
{
    state *st = context;
    descent *c = st->of_source[column];
    const unrelu_gaussian_options *o = st->fit->options;
    if (!c)
        return;
    double limit = st->fit->summary->limit[column];
    double unit =
        ldexp(1, -(int)(ur_moments_exponent(&st->fit->summary->plan, st->fit->summary->s)[column] +
                        UR_NO_EXPONENT));
    for (size_t r = 0; r < block->rows && c->batch < (size_t)o->batches; r++) {
        const double *row = block->x + r * block->stride;
        double x = row[column];
        if (!(x > limit) || (st->fit->cut && !ur_row_kept(row, st->fit->cut, block->d)))
            continue;
        double y = ((x - limit) * unit - c->mean) / c->deviation;
        c->x1 += y;
        c->x2 += y * y;
        if (++c->filled == o->minibatch)
            sgd_step(c, o);
        if (++c->seen == c->batch_size) {
            c->result[2 * c->batch] = c->sum[0] / (double)c->steps;
            c->result[2 * c->batch + 1] = c->sum[1] / (double)c->steps;
            c->batch++;
            start_batch(c);
        }
    }
}

/* arg min over i of sum_j |v_i - v_j| */
static const double *central(const double *v, int count)
{
    const double *best = v;
    double least = INFINITY;
    for (int i = 0; i < count; i++) {
        double total = 0;
        for (int j = 0; j < count; j++)
            total += hypot(v[2 * i] - v[2 * j], v[2 * i + 1] - v[2 * j + 1]);
        if (total < least) {
            least = total;
            best = v + 2 * i;
        }
    }
    return best;
}

static unrelu_status start_column(const ur_fit *fit, const ur_fit_column *column, descent *c,
                                  double *result, unrelu_error *err)
{
    const unrelu_gaussian_options *o = fit->options;
    ur_margin_sums sums = ur_fit_margin_sums(fit, &fit->v, column, NULL);
    double shifted = sums.sum / sums.positive;
    c->mean = sums.shift + shifted;
    c->deviation = sqrt(fmax(sums.square / sums.positive - shifted * shifted, 0));
    c->lower = -c->mean / c->deviation;
    c->batch_size = (size_t)sums.positive / (size_t)o->batches;
    c->result = result;
    c->seed = o->seed;
    c->stream = STREAM_SGD + column->index;
    if (c->batch_size < (size_t)o->minibatch || !(c->deviation > 0))
        return ur_fail(err, UNRELU_EDATA,
                       "column %zu (%s) has %.0f positive values with deviation %g: projected SGD "
                       "with %d batch(es) of minibatches of %d needs at least %d that differ; use "
                       "`norms` censored",
                       column->index + 1, fit->summary->names[column->index], sums.positive,
                       ldexp(c->deviation, column->exponent), o->batches, o->minibatch,
                       o->batches * o->minibatch);
    start_batch(c);
    return UNRELU_OK;
}

unrelu_status ur_fit_sgd(ur_fit *fit, unrelu_error *err)
{
    static const ur_fold fold = {.step = fold_step};
    UR_ARENA(arena);
    size_t all = fit->summary->plan.d, batches = (size_t)fit->options->batches;
    descent *columns = ur_take(&arena, fit->d, sizeof *columns);
    double *results = ur_take(&arena, fit->d, 2 * batches * sizeof *results);
    state st = {fit, ur_take(&arena, all, sizeof *st.of_source)};
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < fit->d; i++) {
        const ur_fit_column *c = &fit->columns[i];
        if (c->censored.verdict == UR_MARGIN_CONSTANT)
            continue; /* footnote 3: its bias is known already */
        st.of_source[c->index] = &columns[i];
        UR_TRY(start_column(fit, c, &columns[i], results + 2 * batches * i, err));
    }
    UR_TRY(ur_source_rewind(fit->source, err));
    UR_TRY(ur_fold_run(fit->source, &fold, &st, fit->exec, "projected SGD", err));
    for (size_t i = 0; i < fit->d; i++) { /* back from (7) */
        const descent *c = st.of_source[fit->columns[i].index];
        ur_margin *m = &fit->columns[i].margin;
        if (!c)
            continue;
        const double *v = central(c->result, fit->options->batches);
        m->b = c->mean + c->deviation * v[1] / v[0];
        m->s = c->deviation / sqrt(v[0]);
        m->gamma = m->b / m->s;
        m->b_se = m->s_se = m->gamma_se = m->bs = NAN;
    }
    return UNRELU_OK;
}
