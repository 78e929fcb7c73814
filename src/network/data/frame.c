/* SPDX-License-Identifier: Apache-2.0 */
/* Coordinates in which the solvers work. Columns of the inputs are first brought to one
 * scale, then a pivoted QR factorisation without centring gives x = sqrt(n) Q: a covariance
 * of condition 1e6 costs the rows of V six digits, where a Cholesky factor of it would cost
 * twelve. */
#include "network/data/frame.h"
#include "base/error.h"
#include "dense/linear.h"
#include "network/problem/tolerance.h"

#include <math.h>
#include <string.h>

enum { MANY = 20000 }; /* rows beyond which the factorisation of some serves for all */
/* rows kept back: twice as many as the rule wants for each input and neuron, two more than it wants
 * at least, as some may be alike */
enum { KEPT_A_WEIGHT = 2, MORE_KEPT = 2 };
/* labels for each weight that the others must have: exact fits are found with 1.6 to 2.5. Larger,
 * and small samples are never certified. */
enum { LABELS_A_WEIGHT = 2 };

/* the rows of f as they are in the data, with the ones */
static void gather_rows(const ur_data *data, const ur_frame *f, size_t first, size_t rows,
                        double *raw)
{
    for (size_t i = 0; i < rows; i++) {
        const double *x = data->x + f->row[first + i] * f->d;
        memcpy(raw + i * f->q, x, f->d * sizeof *raw);
        if (f->terms.hidden)
            raw[i * f->q + f->d] = 1;
    }
}

static unrelu_status factor(const ur_data *data, ur_frame *f, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t n = f->n, q = f->q;
    double *raw = ur_take(&arena, n, q * sizeof *raw), *R = ur_take(&arena, q, q * sizeof *R);
    double *eye = ur_take(&arena, q, q * sizeof *eye), *scale = ur_take(&arena, q, sizeof *scale);
    UR_TRY(ur_arena_status(&arena, err));
    gather_rows(data, f, 0, n, raw);
    for (size_t j = 0; j < q; j++) { /* columns over powers of two near their largest entry */
        double largest = 0;
        for (size_t i = 0; i < n; i++)
            largest = fmax(largest, fabs(raw[i * q + j]));
        scale[j] = largest > 0 ? ldexp(1, ilogb(largest)) : 1;
        for (size_t i = 0; i < n; i++)
            raw[i * q + j] /= scale[j];
    }
    UR_TRY(ur_qr_pivoted(n, q, raw, UR_ROUNDING, &f->p, f->x, R, NULL, err));
    if (f->p == 0)
        return ur_fail(err, UNRELU_EDATA, "all inputs are 0: nothing can be learned from them");
    double root = sqrt((double)n);
    for (size_t i = 0; i < n * f->p; i++)
        f->x[i] *= root;
    /* forth = R / sqrt(n), back its inverse or the one of least norm: in equilibrated columns where
     * there is an inverse, so that scales cost no digits */
    int whole = f->p == q;
    for (size_t i = 0; i < f->p; i++) {
        eye[i * f->p + i] = 1;
        for (size_t j = 0; j < q; j++)
            f->forth[i * q + j] = R[i * q + j] / root * (whole ? 1 : scale[j]);
    }
    UR_TRY(ur_least_squares(f->p, q, f->p, f->forth, eye, whole ? 0 : UR_ROUNDING, f->back, NULL,
                            err));
    for (size_t i = 0; i < f->p && whole; i++)
        for (size_t j = 0; j < q; j++) {
            f->forth[i * q + j] *= scale[j];
            f->back[j * f->p + i] /= scale[j];
        }
    return UNRELU_OK;
}

/* the maps of fewer rows, applied to all: white to within 1 / sqrt(MANY), which is enough */
static unrelu_status borrow(const ur_data *data, ur_frame *f, unrelu_error *err)
{
    enum { ROWS = 256 };
    UR_ARENA(arena);
    ur_frame few;
    double *raw = ur_take(&arena, ROWS, f->q * sizeof *raw);
    UR_TRY(ur_frame_make(data, MANY, f->terms, 0, &arena, &few, err));
    f->p = few.p;
    memcpy(f->forth, few.forth, f->p * f->q * sizeof *f->forth);
    memcpy(f->back, few.back, f->q * f->p * sizeof *f->back);
    for (size_t first = 0; first < f->n; first += ROWS) {
        size_t rows = f->n - first < ROWS ? f->n - first : ROWS;
        gather_rows(data, f, first, rows, raw);
        ur_multiply(rows, f->q, f->p, raw, f->back, f->x + first * f->p);
    }
    return UNRELU_OK;
}

size_t ur_frame_rows(const ur_data *data, size_t k)
{
    size_t kept = KEPT_A_WEIGHT * (data->d + k), least = UR_LEAST_HELD + MORE_KEPT;
    size_t weights = k * (data->d + data->m) + data->m;
    kept = kept > least ? kept : least;
    int enough = data->n > kept && (data->n - kept) * data->m >= LABELS_A_WEIGHT * weights;
    return enough ? data->n - kept : data->n;
}

unrelu_status ur_frame_make(const ur_data *data, size_t rows, ur_terms terms, int each,
                            ur_arena *arena, ur_frame *f, unrelu_error *err)
{
    size_t n = rows < data->n ? rows : data->n, q = data->d + (terms.hidden ? 1 : 0), m = data->m;
    *f = (ur_frame){.n = n, .q = q, .d = data->d, .m = m, .terms = terms};
    f->x = ur_take(arena, n, q * sizeof *f->x);
    f->a = ur_take(arena, n, m * sizeof *f->a);
    f->unit = ur_take(arena, m, sizeof *f->unit);
    f->row = ur_take(arena, n, sizeof *f->row);
    f->forth = ur_take(arena, q, q * sizeof *f->forth);
    f->back = ur_take(arena, q, q * sizeof *f->back);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t j = 0; j < m; j++)
        f->unit[j] = each ? data->column_unit[j] : data->unit;
    for (size_t i = 0; i < n; i++) {
        f->row[i] = (size_t)((double)i * ((double)data->n / (double)n));
        for (size_t j = 0; j < m; j++) {
            double a = f->a[i * m + j] = data->a[f->row[i] * m + j] / f->unit[j];
            f->size += a * a;
        }
    }
    return n > MANY ? borrow(data, f, err) : factor(data, f, err);
}

unsigned char *ur_frame_mark(const ur_frame *f, size_t n, ur_arena *arena)
{
    unsigned char *used = !f || f->n == n ? NULL : ur_take(arena, n, 1);
    for (size_t i = 0; used && i < f->n; i++)
        used[f->row[i]] = 1;
    return used;
}

void ur_frame_forth(const ur_frame *f, size_t k, const double *raw, double *V)
{
    ur_multiply_nt(k, f->q, f->p, raw, f->forth, V);
}

void ur_frame_back(const ur_frame *f, size_t k, const double *V, double *raw)
{
    ur_multiply_nt(k, f->p, f->q, V, f->back, raw);
}

void ur_rows_join(size_t k, size_t d, size_t q, const double *V, const double *c, double *rows)
{
    for (size_t j = 0; j < k; j++) {
        memcpy(rows + j * q, V + j * d, d * sizeof *rows);
        if (q > d)
            rows[j * q + d] = c[j];
    }
}

unrelu_status ur_frame_enter(const ur_frame *f, unrelu_activation activation, size_t k,
                             const double *V, const double *c, double *inside, unrelu_error *err)
{
    UR_ARENA(arena);
    double *rows = ur_take(&arena, k, f->q * sizeof *rows);
    UR_TRY(ur_arena_status(&arena, err));
    ur_rows_join(k, f->d, f->q, V, c, rows);
    ur_frame_forth(f, k, rows, inside);
    if (ur_activation_degree(activation) > 0)
        ur_unit_rows(k, f->p, inside);
    return UNRELU_OK;
}

unrelu_status ur_frame_labels(const ur_frame *f, double tolerance, size_t *rank, double *y,
                              double *diagonal, unrelu_error *err)
{
    size_t n = f->n, m = f->m, wide = m + (f->terms.constant ? 1 : 0);
    UR_ARENA(arena);
    double *labels = ur_take(&arena, n, wide * sizeof *labels);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < n; i++) {
        memcpy(labels + i * wide, f->a + i * m, m * sizeof *labels);
        if (f->terms.constant)
            labels[i * wide + m] = 1;
    }
    return ur_qr_pivoted(n, wide, labels, tolerance, rank, y, NULL, diagonal, err);
}

ur_newton ur_frame_problem(const ur_frame *f, unrelu_activation activation, const unrelu_exec *exec)
{
    return (ur_newton){.n = f->n,
                       .p = f->p,
                       .m = f->m,
                       .x = f->x,
                       .a = f->a,
                       .f = activation,
                       .constant = f->terms.constant,
                       .exec = exec};
}

unrelu_status ur_frame_weights(const ur_frame *f, unrelu_activation activation,
                               const ur_newton_fit *fit, ur_arena *arena, ur_weights *w,
                               unrelu_error *err)
{
    size_t d = f->d, q = f->q, k = fit->k, m = f->m;
    UR_ARENA(own);
    double *raw = ur_take(&own, k, q * sizeof *raw);
    size_t *order = ur_take(&own, k, sizeof *order);
    *w = (ur_weights){.d = d, .k = k, .m = m, .f = activation};
    w->U = ur_take(arena, m, k * sizeof *w->U);
    w->V = ur_take(arena, k, d * sizeof *w->V);
    w->c = ur_take(arena, k, sizeof *w->c);
    w->e = ur_take(arena, m, sizeof *w->e);
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    ur_frame_back(f, k, fit->V, raw);
    for (size_t j = 0; j < k; j++) {
        memcpy(w->V + j * d, raw + j * q, d * sizeof *raw);
        w->c[j] = f->terms.hidden ? raw[j * q + d] : 0;
    }
    for (size_t i = 0; i < m * k; i++)
        w->U[i] = fit->U[i] * f->unit[i / k];
    for (size_t i = 0; i < m; i++)
        w->e[i] = fit->e[i] * f->unit[i];
    return ur_weights_normalise(w, order, err);
}
