/* SPDX-License-Identifier: Apache-2.0 */
/* A neuron that is off on a share q of the rows vanishes on k - 2 random ones with probability
 * q^(k-2). These rows leave a plane of z, where the other rows are lines: two of LOOK that
 * coincide there vanish at the same z, and that is the neuron. About 2^(k-2) H_k planes find k
 * neurons that are off on every second row, whatever n, d and the condition of the inputs; a plane
 * costs 2 k^3 / 3 + 4 LOOK k flops, and one sign over all rows is tested only where lines coincide.
 * A neuron with fewer than k different rows of zeros is not seen: rays and faces see it. Planes
 * come in rounds of blocks whose sizes do not depend on the threads, and the hits of a round are
 * taken in the order of its planes. */
#include "network/hard/enumerate/enumerate.h"

#include "base/error.h"
#include "base/random.h"
#include "dense/linear.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

enum {
    LOOK = 12,  /* rows whose lines are compared in a plane */
    BLOCK = 64, /* planes of one task */
    ROUND = 64, /* tasks of one round, at most */
    HITS = 8,   /* kept of a task */
    SEEN = 256, /* hits that were tried; then it ends */
    THREADED =
        8, /* tasks from which threads are started: that costs as much as some tens of planes */
    SPARE = 256 /* planes beyond those that the rule asks for: few neurons need luck, too */
};
typedef struct {
    const ur_planes *planes;
    double *M;             /* (k - 2, k) */
    double *plane;         /* (2, k) orthonormal */
    double *x;             /* k */
    double *uniforms;      /* (k + 1) / 2 */
    size_t *order;         /* k: columns of M */
    uint64_t first, count; /* planes of the block */
    double *z;             /* (HITS, k) */
    size_t hits;
} block;

/* draw number i of a plane: two from each uniform */
static size_t pick(const double *uniforms, size_t i, size_t rows)
{
    double u = uniforms[i / 2] * (double)rows;
    u = i % 2 ? (u - floor(u)) * (double)rows : u;
    return u < (double)rows ? (size_t)u : rows - 1;
}

/* ---- one plane ---- */

/* M (rows x k) to an upper triangle in the order of columns given; 0 where the rows depend on each
 * other. The pivot of a row is its largest entry. */
static int eliminate(size_t rows, size_t k, double *restrict M, size_t *order)
{
    for (size_t j = 0; j < k; j++)
        order[j] = j;
    for (size_t s = 0; s < rows; s++) {
        double *restrict top = M + s * k;
        size_t pivot = s;
        for (size_t j = s + 1; j < k; j++)
            pivot = fabs(top[j]) > fabs(top[pivot]) ? j : pivot;
        if (!(fabs(top[pivot]) > UR_ROUNDING))
            return 0;
        if (pivot != s) {
            size_t column = order[s];
            order[s] = order[pivot];
            order[pivot] = column;
            for (size_t i = 0; i < rows; i++) {
                double t = M[i * k + s];
                M[i * k + s] = M[i * k + pivot];
                M[i * k + pivot] = t;
            }
        }
        double inverse = 1 / top[s];
        for (size_t i = s + 1; i < rows; i++) {
            double *restrict row = M + i * k;
            double factor = row[s] * inverse;
            for (size_t j = s + 1; j < k; j++)
                row[j] -= factor * top[j];
        }
    }
    return 1;
}

/* two orthonormal null vectors of the triangle, in the columns of Y */
static void solve_plane(size_t k, const double *M, const size_t *order, double *z, double *plane)
{
    size_t rows = k - 2;
    for (size_t side = 0; side < 2; side++) {
        memset(z, 0, k * sizeof *z);
        z[rows + side] = 1;
        for (size_t s = rows; s-- > 0;)
            z[s] = -ur_short_dot(k - s - 1, M + s * k + s + 1, z + s + 1) / M[s * k + s];
        for (size_t j = 0; j < k; j++)
            plane[side * k + order[j]] = z[j];
    }
    double *a = plane, *b = plane + k, aa = ur_short_dot(k, a, a), ab = ur_short_dot(k, a, b);
    for (size_t j = 0; j < k; j++)
        b[j] -= ab / aa * a[j];
    double bb = ur_short_dot(k, b, b);
    for (size_t j = 0; j < k; j++) {
        a[j] /= sqrt(aa);
        b[j] /= sqrt(bb);
    }
}

/* ---- what a plane gives ---- */

/* whether z or -z is one of these, to within ten tolerances */
static int is_known(const ur_planes *p, size_t count, const double *known, const double *z)
{
    for (size_t l = 0; l < count; l++) {
        double plus = 0, minus = 0;
        for (size_t j = 0; j < p->k; j++) {
            minus = fmax(minus, fabs(z[j] - known[l * p->k + j]));
            plus = fmax(plus, fabs(z[j] + known[l * p->k + j]));
        }
        if (fmin(minus, plus) <= UR_LOOSE * p->tolerance)
            return 1;
    }
    return 0;
}

/* turns z such that Y z >= 0; 0 where Y z has both signs */
static int has_one_sign(const ur_planes *p, double *z)
{
    int above = 0, below = 0;
    for (size_t i = 0; i < p->rows; i++) {
        double t = ur_short_dot(p->k, p->Y + i * p->k, z);
        above |= t > p->tolerance;
        below |= t < -p->tolerance;
        if (above && below)
            return 0;
    }
    for (size_t j = 0; j < p->k && below; j++)
        z[j] = -z[j];
    return 1;
}

/* two of some rows, from a random one on, that coincide as directions in the plane */
static void look_at(block *b)
{
    const ur_planes *p = b->planes;
    double line[LOOK][2];
    size_t k = p->k, look = p->rows < LOOK ? p->rows : LOOK, count = 0;
    size_t start = pick(b->uniforms, k - 2, p->rows);
    for (size_t i = 0; i < look; i++) {
        const double *row = p->Y + (start + i) % p->rows * k;
        double x = ur_short_dot(k, row, b->plane), y = ur_short_dot(k, row, b->plane + k);
        double size = sqrt(x * x + y * y);
        if (size > p->tolerance) { /* else it is spanned by the rows of the plane */
            line[count][0] = x / size;
            line[count++][1] = y / size;
        }
    }
    for (size_t i = 1; i < count; i++)
        for (size_t l = 0; l < i; l++) {
            double sine = line[i][0] * line[l][1] - line[i][1] * line[l][0];
            if (!(fabs(sine) <= p->tolerance))
                continue;
            for (size_t j = 0; j < k; j++)
                b->x[j] = line[i][0] * b->plane[k + j] - line[i][1] * b->plane[j];
            if (b->hits < HITS && !is_known(p, p->count, p->known, b->x) &&
                !is_known(p, b->hits, b->z, b->x) && has_one_sign(p, b->x))
                memcpy(b->z + b->hits++ * k, b->x, k * sizeof *b->x);
            break;
        }
}

static void search_block(void *blocks, size_t number)
{
    block *b = (block *)blocks + number;
    const ur_planes *p = b->planes;
    size_t k = p->k;
    b->hits = 0;
    for (uint64_t t = 0; t < b->count; t++) {
        ur_random_uniforms(p->seed, UR_STREAM_ENUMERATE_DRAWS, (b->first + t) * p->stride,
                           (k + 1) / 2, b->uniforms);
        for (size_t i = 0; i + 2 < k; i++)
            memcpy(b->M + i * k, p->Y + pick(b->uniforms, i, p->rows) * k, k * sizeof *b->M);
        if (!eliminate(k - 2, k, b->M, b->order))
            continue;
        solve_plane(k, b->M, b->order, b->x, b->plane);
        look_at(b);
    }
}

/* ---- rounds ---- */

unrelu_status ur_planes_search(const ur_planes *p, uint64_t first, uint64_t most,
                               const unrelu_exec *exec, double *z, size_t *hits, uint64_t *used,
                               unrelu_error *err)
{
    UR_ARENA(arena);
    block blocks[ROUND];
    size_t k = p->k;
    *hits = 0;
    *used = k < 2;
    if (k < 2) { /* in one dimension there is nothing to draw: z = 1 or -1 */
        z[0] = 1;
        *hits = has_one_sign(p, z) && !is_known(p, p->count, p->known, z);
        return UNRELU_OK;
    }
    for (size_t i = 0; i < ROUND; i++)
        blocks[i] = (block){.planes = p,
                            .z = ur_take(&arena, HITS, k * sizeof(double)),
                            .M = ur_take(&arena, k, k * sizeof(double)),
                            .plane = ur_take(&arena, 2, k * sizeof(double)),
                            .x = ur_take(&arena, k, sizeof(double)),
                            .uniforms = ur_take(&arena, k, sizeof(double)),
                            .order = ur_take(&arena, k, sizeof(size_t))};
    UR_TRY(ur_arena_status(&arena, err));
    while (*hits == 0 && *used < most) {
        /* as many blocks as are worth a thread */
        size_t count = 0, want = 1 + (size_t)(*used / (4 * BLOCK));
        for (uint64_t done = *used; count < ROUND && count < want && done < most; count++) {
            blocks[count].first = first + done;
            blocks[count].count = most - done < BLOCK ? most - done : BLOCK;
            done += blocks[count].count;
        }
        if (count >= THREADED)
            UR_TRY(ur_parallel_for(exec, "sampling", count, search_block, blocks, err));
        for (size_t i = 0; i < count && count < THREADED; i++)
            search_block(blocks, i);
        if (ur_cancelled(exec))
            return ur_fail_cancelled(err);
        for (size_t i = 0; i < count; i++) {
            const block *b = &blocks[i];
            *used += b->count;
            for (size_t l = 0; l < b->hits && *hits < UR_PLANES_HITS; l++)
                if (!is_known(p, *hits, z, b->z + l * k))
                    memcpy(z + (*hits)++ * k, b->z + l * k, k * sizeof *z);
        }
    }
    return UNRELU_OK;
}

/* ---- neurons ---- */

uint64_t ur_sample_trials(size_t k)
{
    double sum = 0;
    for (size_t j = 1; j <= k; j++)
        sum += 1 / (double)j;
    double trials = ceil(4 * exp2((double)k - 2) * sum) + SPARE;
    return (uint64_t)fmin(trials, (double)INT64_MAX); /* fits 64 bits */
}

unrelu_status ur_sample_neurons(ur_neurons *hunt, uint64_t trials, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t k = hunt->k, seen = 0, hits = 0;
    double *known = ur_take(&arena, SEEN, k * sizeof *known);
    double *z = ur_take(&arena, UR_PLANES_HITS, k * sizeof *z);
    UR_TRY(ur_arena_status(&arena, err));
    ur_planes planes = {.rows = hunt->rows,
                        .k = k,
                        .Y = hunt->Y,
                        .tolerance = UR_ROUGH * hunt->tolerance,
                        .known = known,
                        .seed = hunt->seed,
                        .stride = k};
    uint64_t left = trials < hunt->budget ? trials : hunt->budget, used = 0;
    while (hunt->found < hunt->k && left > 0 && seen < SEEN) {
        ur_progress(hunt->exec, "sampling", (double)hunt->found / (double)hunt->k);
        planes.count = seen;
        UR_TRY(ur_planes_search(&planes, hunt->tried, left, hunt->exec, z, &hits, &used, err));
        left -= used < left ? used : left;
        hunt->tried += used;
        hunt->budget -= used < hunt->budget ? used : hunt->budget;
        if (hits == 0)
            break;
        for (size_t l = 0; l < hits && seen < SEEN; l++) {
            int grew = 0;
            memcpy(known + seen++ * k, z + l * k, k * sizeof *known);
            UR_TRY(ur_neurons_try_rough(hunt, z + l * k, &grew, err));
        }
    }
    return UNRELU_OK;
}
