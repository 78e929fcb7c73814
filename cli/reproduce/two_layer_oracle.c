/* SPDX-License-Identifier: Apache-2.0 */
/* Algorithm 8 guesses M such that M S U = I, S a sketch that only serves to make M smaller; the
 * number of guesses is beyond any computer (1e241 for k = 1). Here the right one is given: M S is
 * the left inverse of U. What is left is the algorithm's own:
 *   3a  G with entries N(0, eta^2), eta = eps^-2 kappa(U)^2 k |M S E|_F / sqrt(n), constants 1 and
 *       1 / eps = k + 1 (the paper asks for 1 / eps > k); or the best of powers of 2 about the size
 *       of M S E, by the regression of step 4, which is how the algorithm chooses among guesses
 *   3b  y = sign(M S A + G)
 *   3c  max sum_q y_q <w, x_q> over |w| <= 1: w = sum_q y_q x_q over its length
 *   4   U by least squares. */
#include <math.h>

#include "scope.h"
#include "two_layer_study.h"

enum { SMALLEST_POWER = -6, LARGEST_POWER = 6 }; /* of 2, about the size of M S E */

/* G (k x k, symmetric, positive definite) becomes its Cholesky factor; B (k x m) its solution */
static unrelu_status solve(size_t k, double *G, size_t m, double *B)
{
    for (size_t i = 0; i < k; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = G[i * k + j];
            for (size_t l = 0; l < j; l++)
                sum -= G[i * k + l] * G[j * k + l];
            if (i == j && !(sum > 0))
                return UNRELU_EDATA;
            G[i * k + j] = i == j ? sqrt(sum) : sum / G[j * k + j];
        }
        for (size_t c = 0; c < m; c++) {
            for (size_t l = 0; l < i; l++)
                B[i * m + c] -= G[i * k + l] * B[l * m + c];
            B[i * m + c] /= G[i * k + i];
        }
    }
    for (size_t i = k; i-- > 0;)
        for (size_t c = 0; c < m; c++) {
            for (size_t l = i + 1; l < k; l++)
                B[i * m + c] -= G[l * k + i] * B[l * m + c];
            B[i * m + c] /= G[i * k + i];
        }
    return UNRELU_OK;
}

/* C (k x m) = F' A, F (n x k), A (n x m) */
static void multiply_tn(size_t n, size_t k, const double *F, size_t m, const double *A, double *C)
{
    memset(C, 0, k * m * sizeof *C);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k; j++)
            for (size_t c = 0; c < m; c++)
                C[j * m + c] += F[i * k + j] * A[i * m + c];
}

/* Y (n x k) = A (U^+)', U (m x k): the labels, or their noise, in the coordinates of neurons */
static unrelu_status by_neurons(const two_layer_data *data, const double *A, double *Y)
{
    size_t n = data->n, k = data->k, m = data->m;
    const double *U = data->truth->U;
    CLI_ARRAY double *G = unrelu_alloc(k * k, sizeof *G);
    CLI_ARRAY double *inverse = unrelu_alloc(k * m, sizeof *inverse);
    if (!G || !inverse)
        return UNRELU_ENOMEM;
    multiply_tn(m, k, U, k, U, G);
    for (size_t i = 0; i < k * m; i++)
        inverse[i] = U[i % m * k + i / m];
    CLI_TRY(solve(k, G, m, inverse));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k; j++) {
            Y[i * k + j] = 0;
            for (size_t c = 0; c < m; c++)
                Y[i * k + j] += inverse[j * m + c] * A[i * m + c];
        }
    return UNRELU_OK;
}

/* 3b and 3c; normals: n x k, those of G before they are scaled by eta */
static void half_spaces(const two_layer_data *data, const double *Y, const double *normals,
                        double eta, double *V)
{
    size_t n = data->n, d = data->d, k = data->k;
    memset(V, 0, k * d * sizeof *V);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k; j++) {
            double sign = Y[i * k + j] + eta * normals[i * k + j] > 0 ? 1 : -1;
            for (size_t l = 0; l < d; l++)
                V[j * d + l] += sign * data->x[i * d + l];
        }
    for (size_t j = 0; j < k; j++) {
        double square = 0;
        for (size_t l = 0; l < d; l++)
            square += V[j * d + l] * V[j * d + l];
        for (size_t l = 0; l < d; l++)
            V[j * d + l] /= sqrt(square);
    }
}

/* 4 */
static unrelu_status regress(const two_layer_data *data, unrelu_network *model)
{
    size_t n = data->n, d = data->d, k = data->k, m = data->m;
    CLI_ARRAY double *F = unrelu_alloc(n * k, sizeof *F);
    CLI_ARRAY double *G = unrelu_alloc(k * k, sizeof *G);
    CLI_ARRAY double *B = unrelu_alloc(k * m, sizeof *B);
    if (!F || !G || !B)
        return UNRELU_ENOMEM;
    for (size_t i = 0; i < n * k; i++) {
        double t = 0;
        for (size_t l = 0; l < d; l++)
            t += model->V[i % k * d + l] * data->x[i / k * d + l];
        F[i] = fmax(0, t);
    }
    multiply_tn(n, k, F, k, F, G);
    multiply_tn(n, k, F, m, data->a, B);
    CLI_TRY(solve(k, G, m, B));
    for (size_t i = 0; i < m * k; i++)
        model->U[i] = B[i % k * m + i / k];
    return UNRELU_OK;
}

unrelu_status cli_two_layer_objective(const two_layer_data *data, const unrelu_network *model,
                                      const unrelu_exec *exec, double *objective, unrelu_error *err)
{
    size_t cells = data->n * data->m;
    double sum = 0;
    CLI_ARRAY double *y = unrelu_alloc(cells, sizeof *y);
    if (!y)
        return UNRELU_ENOMEM;
    CLI_TRY(unrelu_network_predict(model, data->x, data->n, exec, y, err));
    for (size_t i = 0; i < cells; i++)
        sum += (data->a[i] - y[i]) * (data->a[i] - y[i]);
    *objective = sqrt(sum);
    return UNRELU_OK;
}

unrelu_status cli_two_layer_oracle(const two_layer_data *data, two_layer_dither dither,
                                   const unrelu_exec *exec, unrelu_network *model,
                                   unrelu_error *err)
{
    size_t n = data->n, k = data->k;
    unrelu_network_plant_options normal;
    unrelu_network_plant_options_init(&normal, sizeof normal);
    normal.d = k;
    normal.seed = ~data->seed & INT64_MAX; /* other numbers than those of the inputs */
    CLI_ARRAY double *Y = unrelu_alloc(n * k, sizeof *Y);
    CLI_ARRAY double *normals = unrelu_alloc(n * k, sizeof *normals);
    if (!Y || !normals)
        return UNRELU_ENOMEM;
    CLI_TRY(by_neurons(data, data->E, Y));
    double size = cli_two_layer_norm(n * k, Y); /* |M S E|_F */
    CLI_TRY(by_neurons(data, data->a, Y));
    CLI_TRY(unrelu_network_draw(&normal, NULL, 0, n, exec, normals, NULL, err));
    double one_over_eps = (double)k + 1, best = INFINITY, eta = 0;
    double printed = one_over_eps * one_over_eps * data->kappa_u * data->kappa_u * (double)k *
                     size / sqrt((double)n);
    if (dither == DITHER_PRINTED)
        eta = printed;
    for (int power = SMALLEST_POWER; dither == DITHER_BEST && power <= LARGEST_POWER; power++) {
        double objective, trial = ldexp(size / sqrt((double)n * (double)k), power);
        half_spaces(data, Y, normals, trial, model->V);
        CLI_TRY(regress(data, model));
        CLI_TRY(cli_two_layer_objective(data, model, exec, &objective, err));
        if (objective < best) {
            best = objective;
            eta = trial;
        }
    }
    half_spaces(data, Y, normals, eta, model->V);
    return regress(data, model);
}
