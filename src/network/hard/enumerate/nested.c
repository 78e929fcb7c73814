/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling that gets cheaper with every neuron. On the rows where a set F of known neurons is off,
 * the labels have r = k - |F| dimensions, and the others are found there from 2^(r-2) planes. B
 * (k x r) spans what is orthogonal to the z of F. A z' found there is z = B z' + sum_F t_i z_i with
 * t_i unknown; on a row where of F only i is on, y z >= 0 asks for t_i >= -(y B z') / (y z_i), and
 * where z is off it is equal: t_i is the largest of these. ur_neurons_try then takes z from all of
 * its zeros. F is a random set, as large as leaves 4 r + 16 rows, and another one after each
 * attempt, which ends at the first hit or after 4 2^(r-2) planes. Where F is off the others may be
 * off less often: after four attempts in vain r grows by one, and the next neuron gives two back,
 * so that no more than a few times the planes of the best r are spent. */
#include "network/hard/enumerate/enumerate.h"

#include "base/error.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

enum {
    REJECTED = 256,    /* after as many hits in vain the labels are not of such a kind */
    ROWS_FOR_EACH = 4, /* dimension r that F leaves, */
    MORE_ROWS = 16,    /* and as many more: planes of few rows meet by chance */
    IDLE = 4           /* attempts in vain before r grows */
};
/* y z_i below which the quotient is not looked at: it would multiply errors by 1000 */
static const double WEAK = 1e-3;

typedef struct {
    ur_neurons *hunt;
    unsigned char *zero; /* (k, rows): where the known neurons vanish */
    size_t marked;       /* of them */
    size_t *order;       /* k: the known ones, F first */
    size_t in;           /* of F */
    unsigned char *off;  /* rows: how many of F are on, at most 2 */
    size_t alive;        /* rows where none is */
    double *B;           /* (k, k), of which k x r */
    double *C;           /* (alive, r) */
    double *known;       /* (k, r): the others in these coordinates */
    double *z, *whole;   /* hits (UR_PLANES_HITS, k); k */
    double *uniforms;    /* k */
    uint64_t attempts;
    size_t rejected; /* hits that are no neurons */
    size_t least;    /* r of an attempt */
    size_t idle;     /* attempts in vain with it */
} nest;

static double at(const ur_neurons *hunt, size_t row, const double *z)
{
    return ur_dot(hunt->k, hunt->Y + row * hunt->k, z);
}

/* ---- the set F ---- */

static void choose_set(nest *s)
{
    const ur_neurons *hunt = s->hunt;
    ur_random_uniforms(hunt->seed, UR_STREAM_ENUMERATE_NESTED, s->attempts++ * hunt->k, hunt->k,
                       s->uniforms);
    ur_shuffle(hunt->found, s->uniforms, s->order);
    memset(s->off, 0, hunt->rows);
    s->in = 0;
    s->alive = hunt->rows;
    for (size_t l = 0; l < hunt->found && s->in + 1 < hunt->k; l++) {
        size_t j = s->order[l], r = hunt->k - s->in - 1;
        if (r < s->least)
            break;
        const unsigned char *zero = s->zero + j * hunt->rows;
        size_t left = 0; /* rows on which it and all of F are off */
        for (size_t i = 0; i < hunt->rows; i++)
            left += (size_t)((s->off[i] == 0) & zero[i]);
        if (left < ROWS_FOR_EACH * r + MORE_ROWS)
            continue;
        for (size_t i = 0; i < hunt->rows; i++)
            s->off[i] = (unsigned char)(zero[i] || s->off[i] > 1 ? s->off[i] : s->off[i] + 1);
        s->order[l] = s->order[s->in];
        s->order[s->in++] = j;
        s->alive = left;
    }
}

/* ---- back to all rows ---- */

/* whole = B z' + sum t_i z_i; 0 where a t_i shows on no row */
static int insert(nest *s, size_t r, const double *z)
{
    const ur_neurons *hunt = s->hunt;
    size_t k = hunt->k;
    double *inner = s->uniforms;
    ur_multiply(k, r, 1, s->B, z, inner);
    memcpy(s->whole, inner, k * sizeof *inner);
    for (size_t l = 0; l < s->in; l++) {
        size_t j = s->order[l];
        double largest = -INFINITY;
        for (size_t i = 0; i < hunt->rows; i++) {
            if (s->off[i] != 1 || s->zero[j * hunt->rows + i])
                continue;
            double on = at(hunt, i, hunt->z + j * k);
            if (on > WEAK)
                largest = fmax(largest, -at(hunt, i, inner) / on);
        }
        if (!isfinite(largest))
            return 0;
        ur_add(k, largest, hunt->z + j * k, s->whole);
    }
    return 1;
}

static unrelu_status attempt(nest *s, uint64_t left, uint64_t *used, unrelu_error *err)
{
    ur_neurons *hunt = s->hunt;
    size_t k = hunt->k, r = 0, hits = 0, known = 0, filled = 0, before = hunt->found;
    *used = 1;
    for (; s->marked < hunt->found; s->marked++)
        for (size_t i = 0; i < hunt->rows; i++)
            s->zero[s->marked * hunt->rows + i] =
                fabs(at(hunt, i, hunt->z + s->marked * k)) <= UR_LOOSE * hunt->tolerance;
    choose_set(s);
    /* B: the span of I - Q Q', and the rows that are left in its coordinates */
    UR_ARENA(arena);
    double *P = ur_take(&arena, k, k * sizeof *P), *Q = ur_take(&arena, k, k * sizeof *Q);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < s->in; j++)
        for (size_t i = 0; i < k; i++)
            Q[i * s->in + j] = hunt->z[s->order[j] * k + i];
    if (s->in > 0) {
        UR_TRY(ur_orthonormalise(k, s->in, Q, err));
        ur_gram(k, s->in, Q, P);
    }
    for (size_t i = 0; i < k * k; i++)
        P[i] = (i % (k + 1) == 0) - P[i];
    UR_TRY(ur_qr_pivoted(k, k, P, UR_ROUNDING, &r, s->B, NULL, NULL, err));
    for (size_t i = 0; i < hunt->rows; i++)
        if (s->off[i] == 0)
            ur_multiply(1, k, r, hunt->Y + i * k, s->B, s->C + filled++ * r);
    for (size_t l = s->in; l < before; l++, known++) /* the known neurons that are not in F */
        ur_multiply(1, k, r, hunt->z + s->order[l] * k, s->B, s->known + known * r);
    ur_unit_rows(known, r, s->known);
    ur_planes planes = {.rows = s->alive,
                        .k = r,
                        .Y = s->C,
                        .tolerance = UR_ROUGH * hunt->tolerance,
                        .known = s->known,
                        .count = known,
                        .seed = hunt->seed,
                        .stride = k};
    uint64_t most = r < 60 ? ((uint64_t)1 << r) + 16 : left;
    /* with nothing known yet there is no other set to try */
    most = s->in == 0 || most > left ? left : most;
    UR_TRY(ur_planes_search(&planes, hunt->tried, most, hunt->exec, s->z, &hits, used, err));
    for (size_t l = 0; l < hits && hunt->found < hunt->k; l++) {
        int grew = 0;
        if (insert(s, r, s->z + l * r))
            UR_TRY(ur_neurons_try_rough(hunt, s->whole, &grew, err));
        s->rejected += !grew;
    }
    if (hunt->found > before) {
        s->least = s->least > 2 ? s->least - 2 : 1;
        s->idle = 0;
    } else if (++s->idle == IDLE) {
        s->least = r + 1;
        s->idle = 0;
    }
    return UNRELU_OK;
}

unrelu_status ur_nested_neurons(ur_neurons *hunt, uint64_t trials, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t k = hunt->k;
    nest s = {.hunt = hunt,
              .zero = ur_take(&arena, k, hunt->rows),
              .order = ur_take(&arena, k, sizeof *s.order),
              .off = ur_take(&arena, hunt->rows, 1),
              .B = ur_take(&arena, k, k * sizeof *s.B),
              .C = ur_take(&arena, hunt->rows, k * sizeof *s.C),
              .known = ur_take(&arena, k, k * sizeof *s.known),
              .z = ur_take(&arena, UR_PLANES_HITS, k * sizeof *s.z),
              .whole = ur_take(&arena, k, sizeof *s.whole),
              .uniforms = ur_take(&arena, k, sizeof *s.uniforms)};
    UR_TRY(ur_arena_status(&arena, err));
    uint64_t left = trials < hunt->budget ? trials : hunt->budget, used = 0;
    while (hunt->found < hunt->k && left > 0 && s.rejected < REJECTED) {
        ur_progress(hunt->exec, "sampling", (double)hunt->found / (double)hunt->k);
        UR_TRY(attempt(&s, left, &used, err));
        if (ur_cancelled(hunt->exec))
            return ur_fail_cancelled(err);
        left -= used < left ? used : left;
        hunt->tried += used;
        hunt->budget -= used < hunt->budget ? used : hunt->budget;
    }
    return UNRELU_OK;
}
