/* SPDX-License-Identifier: Apache-2.0 */
/* Conjugate gradients for the step of newton_model.h, preconditioned by its diagonal blocks.
 * H s in one pass over rows: T = D .* (X s') - F (F'F)^-1 F'(D .* X s'), (H s)' = X'(D .* T U'U),
 * where F'(D_l .* X s_l) = Z_l s_l needs no rows. Solved to a relative residual that falls with
 * the residual of the fit and with the gradient, so that the last steps stay Newton steps. */
#include "network/newton/newton_model.h"

#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

enum { STEPS = 60, SHARP_STEPS = 400 };

/* The relative residual that conjugate gradients end at: between these, or rounding where they
 * shall be sharp. A larger ROUGHEST makes cheaper steps and more of them; below FINEST nothing is
 * gained, as the next model differs by more. */
static const double ROUGHEST = .1, FINEST = 1e-9;

typedef struct {
    const double *s; /* k x p */
    const double *N; /* q x k: (F'F)^-1 Z_l s_l in column l */
    const double *C; /* k x k: U'U */
} factors;

static void add_product(const void *context, size_t first, size_t rows, double *scratch,
                        double *sum)
{
    const ur_newton_input *input = context;
    const ur_newton_work *w = input->w;
    const factors *in = input->more;
    size_t k = w->k, q = w->q, p = w->p;
    const double *x = w->problem->x + first * p;
    const double *F = w->now.F + first * q, *D = w->now.D + first * q;
    double *T = scratch, *E = scratch + rows * k;
    ur_gemm(UR_PLAIN, UR_TURNED, rows, k, p, 1, x, p, in->s, p, 0, T, k);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < k; j++)
            T[i * k + j] *= D[i * q + j];
    ur_gemm(UR_PLAIN, UR_PLAIN, rows, k, q, -1, F, q, in->N, k, 1, T, k);
    ur_multiply(rows, k, k, T, in->C, E);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < k; j++)
            E[i * k + j] *= D[i * q + j];
    ur_gemm(UR_TURNED, UR_PLAIN, k, p, rows, 1, E, k, x, p, 1, sum, p);
}

/* y = (H + damping) s; room: 2 q k */
static unrelu_status product(const ur_newton_work *w, const ur_newton_model *model, double lambda,
                             const double *s, double *y, double *room, unrelu_error *err)
{
    size_t k = w->k, q = w->q, p = w->p, kp = w->kp;
    double *YS = room, *N = room + q * k;
    for (size_t l = 0; l < k; l++)
        ur_gemv_steps(q, p, model->Y + l * p, kp, s + l * p, YS + l, k);
    ur_multiply_tn(q, q, k, w->now.K, YS, N);
    const ur_newton_pass pass = {
        .add = add_product, .len = kp, .scratch = 2 * k, .cost = 4 * k * (p + q)};
    const ur_newton_input input = {.w = w, .more = &(factors){s, N, model->C}};
    UR_TRY(ur_newton_sum(&pass, &input, y, err));
    for (size_t j = 0; j < k; j++) {
        const double *v = w->now.V + j * p, *sj = s + j * p;
        double along = model->gauge ? ur_dot(p, v, sj) : 0;
        for (size_t a = 0; a < p; a++)
            y[j * p + a] += model->t[j] * (lambda * sj[a] + along * v[a]) + model->hold[j] * sj[a];
    }
    return UNRELU_OK;
}

/* z = M^-1 r */
static void precondition(const ur_newton_work *w, const ur_newton_model *model, const double *r,
                         double *z)
{
    size_t p = w->p;
    memcpy(z, r, w->kp * sizeof *z);
    for (size_t j = 0; j < w->k; j++) {
        const double *L = model->M + j * p * p;
        ur_trsv(UR_LOWER, UR_PLAIN, p, L, p, z + j * p);
        ur_trsv(UR_LOWER, UR_TURNED, p, L, p, z + j * p);
    }
}

static double accuracy(const ur_newton_work *w, ur_newton_model *model, double size, int sharp)
{
    if (model->first == 0)
        model->first = size;
    double misfit = sqrt(w->now.rss / w->norm), slope = size / model->first;
    return sharp ? UR_ROUNDING : fmin(ROUGHEST, fmax(FINEST, fmin(misfit, slope)));
}

unrelu_status ur_newton_cg(const ur_newton_work *w, ur_newton_model *model, double lambda,
                           int sharp, double *s, int *positive, unrelu_error *err)
{
    size_t kp = w->kp;
    double *r = model->room, *z = r + kp, *d = z + kp, *y = d + kp, *room = y + kp;
    memset(s, 0, w->kp * sizeof *s);
    memcpy(r, w->now.g, w->kp * sizeof *r);
    precondition(w, model, r, z);
    memcpy(d, z, w->kp * sizeof *d);
    double rz = ur_dot(kp, r, z), end = sqrt(rz);
    end *= accuracy(w, model, end, sharp);
    for (int step = 0; step < (sharp ? SHARP_STEPS : STEPS) && sqrt(rz) > end; step++) {
        if (ur_cancelled(&w->exec))
            return ur_fail_cancelled(err);
        UR_TRY(product(w, model, lambda, d, y, room, err));
        double curvature = ur_dot(kp, d, y);
        if (!(curvature > 0) || !isfinite(curvature))
            break;
        ur_add(kp, rz / curvature, d, s);
        ur_add(kp, -rz / curvature, y, r);
        precondition(w, model, r, z);
        double next = ur_dot(kp, r, z);
        ur_scale(kp, next / rz, d);
        ur_add(kp, 1, z, d);
        rz = next;
    }
    *positive = 1;
    return UNRELU_OK;
}
