/* SPDX-License-Identifier: Apache-2.0 */
/* Conjugate gradients for the step of newton_model.h, preconditioned by its diagonal blocks.
 * H s in one pass over rows: T = D .* (X s') - F (F'F)^-1 F'(D .* X s'), (H s)' = X'(D .* T U'U),
 * where F'(D_l .* X s_l) = Z_l s_l needs no rows. Solved to a relative residual that falls with
 * the residual of the fit and with the gradient, so that the last steps stay Newton steps. */
#include "network/newton/newton_model.h"

#include "dense/linear.h"
#include "pass/parallel.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { STEPS = 60, SHARP_STEPS = 400 };

typedef struct {
    const ur_newton_model *model;
    const double *s; /* k x p */
    const double *N; /* q x k: (F'F)^-1 Z_l s_l in column l */
} input_of_product;

static void product_block(const ur_newton_work *w, const void *input, size_t first, size_t rows,
                          double *sum, double *room)
{
    const input_of_product *in = input;
    size_t k = w->k, q = w->q, p = w->p;
    const double *x = w->problem->x + first * p;
    const double *F = w->now.F + first * q, *D = w->now.D + first * q;
    double *T = room, *E = room + rows * k;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)k, (int)p, 1, x, (int)p,
                in->s, (int)p, 0, T, (int)k);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < k; j++)
            T[i * k + j] *= D[i * q + j];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)k, (int)q, -1, F, (int)q,
                in->N, (int)k, 1, T, (int)k);
    ur_multiply(rows, k, k, T, in->model->C, E);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < k; j++)
            E[i * k + j] *= D[i * q + j];
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)k, (int)p, (int)rows, 1, E, (int)k, x,
                (int)p, 1, sum, (int)p);
}

/* y = (H + damping) s; room: 2 q k */
static unrelu_status product(const ur_newton_work *w, const ur_newton_model *model, double lambda,
                             const double *s, double *y, double *room, unrelu_error *err)
{
    size_t k = w->k, q = w->q, p = w->p, kp = w->kp;
    double *YS = room, *N = room + q * k;
    for (size_t l = 0; l < k; l++)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)q, (int)p, 1, model->Y + l * p, (int)kp,
                    s + l * p, 1, 0, YS + l, (int)k);
    ur_multiply_tn(q, q, k, w->now.K, YS, N);
    input_of_product in = {model, s, N};
    unrelu_status status = ur_newton_pass(w, product_block, &in, kp, 4 * k * (p + q), y, err);
    for (size_t j = 0; j < k && status == UNRELU_OK; j++) {
        const double *v = w->now.V + j * p, *sj = s + j * p;
        double along = model->gauge ? cblas_ddot((int)p, v, 1, sj, 1) : 0;
        for (size_t a = 0; a < p; a++)
            y[j * p + a] += model->t[j] * (lambda * sj[a] + along * v[a]) + model->hold[j] * sj[a];
    }
    return status;
}

/* z = M^-1 r */
static void precondition(const ur_newton_work *w, const ur_newton_model *model, const double *r,
                         double *z)
{
    size_t p = w->p;
    memcpy(z, r, w->kp * sizeof *z);
    for (size_t j = 0; j < w->k; j++) {
        const double *L = model->M + j * p * p;
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)p, L, (int)p,
                    z + j * p, 1);
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)p, L, (int)p,
                    z + j * p, 1);
    }
}

static double accuracy(const ur_newton_work *w, ur_newton_model *model, double size, int sharp)
{
    if (model->first == 0)
        model->first = size;
    double misfit = sqrt(w->now.rss / w->norm), slope = size / model->first;
    return sharp ? 1e-13 : fmin(.1, fmax(1e-9, fmin(misfit, slope)));
}

unrelu_status ur_newton_cg(const ur_newton_work *w, ur_newton_model *model, double lambda,
                           int sharp, double *s, int *positive, unrelu_error *err)
{
    int kp = (int)w->kp;
    double *r = model->room, *z = r + kp, *d = z + kp, *y = d + kp, *room = y + kp;
    memset(s, 0, w->kp * sizeof *s);
    memcpy(r, w->now.g, w->kp * sizeof *r);
    precondition(w, model, r, z);
    memcpy(d, z, w->kp * sizeof *d);
    double rz = cblas_ddot(kp, r, 1, z, 1), end = sqrt(rz);
    end *= accuracy(w, model, end, sharp);
    for (int step = 0; step < (sharp ? SHARP_STEPS : STEPS) && sqrt(rz) > end; step++) {
        if (ur_cancelled(&w->exec))
            return ur_fail_cancelled(err);
        unrelu_status status = product(w, model, lambda, d, y, room, err);
        if (status != UNRELU_OK)
            return status;
        double curvature = cblas_ddot(kp, d, 1, y, 1);
        if (!(curvature > 0) || !isfinite(curvature))
            break;
        cblas_daxpy(kp, rz / curvature, d, 1, s, 1);
        cblas_daxpy(kp, -rz / curvature, y, 1, r, 1);
        precondition(w, model, r, z);
        double next = cblas_ddot(kp, r, 1, z, 1);
        cblas_dscal(kp, next / rz, d, 1);
        cblas_daxpy(kp, 1, z, 1, d, 1);
        rz = next;
    }
    *positive = 1;
    return UNRELU_OK;
}
