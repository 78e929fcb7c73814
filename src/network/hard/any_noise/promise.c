/* SPDX-License-Identifier: Apache-2.0 */
/* What the fit leaves, over all rows and apart from the solver; the least that any network of k
 * neurons can leave; and Theorem 13 in numbers.
 * Bound: f(X V') U' has rank <= k, so that no network leaves less than the singular values of A
 * beyond the k-th (of A about its column means where e is fitted): sqrt(s_{k+1}^2 + ...), from
 * those of a QR factorisation's triangle. It is 0 where m <= k.
 * Theorem 13, all constants 1: with omega = k^2 kappa^4 / epsilon^4 Corollary 7 needs
 *   sqrt(omega) (sqrt(d / n) + n^(-1/4)) <= epsilon,  k < 1 / epsilon,
 * and has (k kappa / epsilon)^8 values for each of 100 k^2 entries of M to guess. */
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/hard/any_noise/any_noise.h"

#include <math.h>

double ur_any_epsilon(size_t n, size_t d, size_t k, double kappa)
{
    double rate = sqrt((double)d / (double)n) + pow((double)n, -.25);
    return cbrt((double)k * kappa * kappa * rate);
}

/* t = n^(-1/4): sqrt(d) t^2 + t = epsilon^3 / (k kappa^2) */
double ur_any_needed(double epsilon, size_t d, size_t k, double kappa)
{
    double rate = pow(epsilon, 3) / ((double)k * kappa * kappa);
    double t = 2 * rate / (1 + sqrt(1 + 4 * sqrt((double)d) * rate));
    return pow(t, -4);
}

double ur_any_guesses(double epsilon, size_t k, double kappa)
{
    return 800 * (double)(k * k) * log10((double)k * kappa / epsilon);
}

/* the largest singular value and its ratio to the k-th; infinite where there is none */
static unrelu_status condition(size_t n, size_t p, size_t k, const double *A, double *largest,
                               double *kappa, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t r = n < p ? n : p;
    double *s = ur_take(&arena, r, sizeof *s);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_svd(n, p, A, NULL, s, NULL, err));
    *largest = s[0];
    *kappa = k <= r && s[k - 1] > UR_ROUNDING * s[0] ? s[0] / s[k - 1] : INFINITY;
    return UNRELU_OK;
}

static double excess(const ur_data *data)
{
    double most = 0;
    for (size_t j = 0; j < data->d; j++) {
        double mean = 0, second = 0, fourth = 0, n = (double)data->n;
        for (size_t i = 0; i < data->n; i++)
            mean += data->x[i * data->d + j] / n;
        for (size_t i = 0; i < data->n; i++)
            second += pow(data->x[i * data->d + j] - mean, 2) / n;
        for (size_t i = 0; i < data->n && second > 0; i++)
            fourth += pow((data->x[i * data->d + j] - mean) / sqrt(second), 4) / n;
        if (second > 0 && fabs(fourth - 3) > fabs(most))
            most = fourth - 3;
    }
    return most;
}

unrelu_status ur_any_measure(const ur_problem *given, const ur_weights *weights,
                             const ur_frame *frame, const ur_newton_fit *fit, ur_any_measures *out,
                             unrelu_error *err)
{
    UR_ARENA(arena);
    const ur_data *data = &given->data;
    size_t n = data->n, m = data->m, k = fit->k;
    double *y = ur_take(&arena, n, m * sizeof *y), *S = ur_take(&arena, m, m * sizeof *S);
    double *s = ur_take(&arena, m, sizeof *s), squares = 0, largest;
    *out = (ur_any_measures){.kurtosis = excess(data)};
    UR_TRY(ur_arena_status(&arena, err));
    /* what is left, in units of the labels, and its products (upper half) */
    UR_TRY(ur_network_outputs(weights, data->x, n, given->exec, y, err));
    for (size_t i = 0; i < n * m; i++) {
        y[i] = data->a[i] / data->unit - y[i] / data->unit;
        squares += y[i] * y[i];
    }
    ur_syrk(UR_UPPER, UR_TURNED, m, n, 1, y, m, 0, S, m);
    UR_TRY(ur_eigen_symmetric(m, S, s, NULL, err));
    out->objective = data->unit * sqrt(squares);
    out->spectral = data->unit * sqrt(fmax(0, s[m - 1]));
    /* the bound; 0 where it is rounding */
    for (size_t i = 0; i < n * m; i++)
        y[i] = data->a[i] / data->unit;
    if (frame->terms.constant)
        ur_any_centre(n, m, y, y);
    UR_TRY(ur_qr_triangle(n, m, y, S, err));
    UR_TRY(ur_svd(m, m, S, NULL, s, NULL, err));
    for (size_t j = k; j < m; j++)
        out->bound = hypot(out->bound, s[j]);
    out->bound = out->bound < UR_ROUNDING * s[0] ? 0 : out->bound * data->unit;
    UR_TRY(condition(m, k, k, fit->U, &out->sigma, &out->kappa_u, err));
    UR_TRY(condition(k, frame->p, k, fit->V, &largest, &out->kappa_v, err));
    out->sigma *= data->unit;
    return UNRELU_OK;
}
