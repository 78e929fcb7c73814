/* SPDX-License-Identifier: Apache-2.0 */
/* The conditions of the theorems, each a question to the problem and its outcome. Where there is no
 * network, what is asked of one is untested, but for what k alone decides. */
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/hard/any_noise/any_noise.h"
#include "network/promise/promise.h"
#include "paper/two_layer/two_layer.h"

#include <math.h>
#include <string.h>

#define LEVEL_TEXT "level 0.001 in all" /* UR_CONDITION_LEVEL, for docs */

/* of the largest singular value: rows that are closer to dependent are known to few digits */
static const double RANK_LOST = 1e-9;
/* 1 - |cosine| of columns of U that count as parallel: what labels of full precision leave */
static const double PARALLEL = 1e-12;

__attribute__((format(printf, 4, 5))) static unrelu_status
find(ur_case *c, ur_finding *finding, ur_holds holds, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    *finding = (ur_finding){holds, ur_take_values(c->arena, format, values)};
    va_end(values);
    return UNRELU_OK;
}

static int has_network(const ur_case *c)
{
    return c->out->answer != UR_NONE;
}

static unrelu_status without_network(ur_case *c, ur_finding *f)
{
    return find(c, f, UR_UNTESTED, "no network was found to ask this of");
}

/* ---- the kind of network ---- */

static const char *name_of(ur_case *c)
{
    char name[48];
    unrelu_activation_name(c->given->options.activation, name, sizeof name);
    return ur_take_copy(c->arena, name);
}

static unrelu_status test_rectified(ur_case *c, ur_finding *f, unrelu_error *err)
{
    (void)err;
    int yes = ur_activation_rectifies(c->given->options.activation);
    return find(c, f, yes ? UR_KEPT : UR_BROKEN, yes ? "%s is 0 below 0" : "%s is not 0 below 0",
                name_of(c));
}
const ur_condition ur_is_rectified = {"the activation is 0 below 0 and injective above",
                                      "its name (section 9.1)", test_rectified};

static unrelu_status test_relu(ur_case *c, ur_finding *f, unrelu_error *err)
{
    (void)err;
    int yes = c->given->options.activation.kind == UNRELU_RELU;
    return find(c, f, yes ? UR_KEPT : UR_BROKEN,
                yes ? "the activation is %s" : "the activation is %s, not relu", name_of(c));
}
const ur_condition ur_is_relu = {"the activation is the relu", "its name", test_relu};

static unrelu_status test_bias(ur_case *c, ur_finding *f, int hidden_only)
{
    ur_terms terms = has_network(c) ? c->out->terms : ur_terms_of(c->given->options.biases);
    int yes = !terms.hidden && (hidden_only || !terms.constant);
    return find(c, f, yes ? UR_KEPT : UR_BROKEN,
                yes ? "biases of the network: %s" : "the network has biases (%s)",
                ur_terms_name(terms));
}
static unrelu_status test_no_bias(ur_case *c, ur_finding *f, unrelu_error *err)
{
    (void)err;
    return test_bias(c, f, 0);
}
const ur_condition ur_has_no_bias = {"the network has no biases", "which biases were fitted",
                                     test_no_bias};
static unrelu_status test_no_hidden_bias(ur_case *c, ur_finding *f, unrelu_error *err)
{
    (void)err;
    return test_bias(c, f, 1);
}
const ur_condition ur_has_no_hidden_bias = {
    "the network has no hidden biases",
    "which biases were fitted; an offset of the labels is noise", test_no_hidden_bias};

static unrelu_status test_no_noise(ur_case *c, ur_finding *f, unrelu_error *err)
{
    (void)err;
    const ur_outcome *out = c->out;
    if (out->answer == UR_EXACT)
        return find(c, f, UR_KEPT, "the labels are met (residual %.2g)", out->certificate.residual);
    if (out->answer == UR_NONE)
        return find(c, f, out->proof ? UR_BROKEN : UR_UNTESTED,
                    out->proof ? "no network of %zu neurons gives these labels"
                               : "no network of %zu neurons was found that meets the labels",
                    c->k);
    return find(c, f, UR_BROKEN, "the labels are not met (residual %.2g, and %.2g is needed)",
                out->certificate.residual, c->given->data.floor);
}
const ur_condition ur_has_no_noise = {"the labels are without noise",
                                      "whether the network meets them to their digits",
                                      test_no_noise};

/* ---- ranks ---- */

/* singular values of A (rows x columns): how many count, and the largest over the last of these */
static unrelu_status rank_of(size_t rows, size_t columns, const double *A, size_t *rank,
                             double *kappa, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t least = rows < columns ? rows : columns;
    double *s = ur_take(&arena, least, sizeof *s);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_svd(rows, columns, A, NULL, s, NULL, err));
    for (*rank = 0; *rank < least && s[*rank] > RANK_LOST * s[0];)
        ++*rank;
    *kappa = *rank > 0 ? s[0] / s[*rank - 1] : INFINITY;
    return UNRELU_OK;
}

static unrelu_status test_v_rank(ur_case *c, ur_finding *f, unrelu_error *err)
{
    UR_ARENA(arena);
    const ur_data *data = &c->given->data;
    size_t d = data->d, k = c->k, rank = 0;
    double kappa;
    if (k > d)
        return find(c, f, UR_BROKEN, "k = %zu neurons and d = %zu inputs: V has rank %zu at most",
                    k, d, d);
    if (!has_network(c))
        return without_network(c, f);
    double *V = ur_take(&arena, k, d * sizeof *V);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < k * d; i++)
        V[i] = c->out->weights.V[i] * data->input_rms[i % d];
    ur_unit_rows(k, d, V);
    UR_TRY(rank_of(k, d, V, &rank, &kappa, err));
    return find(c, f, rank == k ? UR_KEPT : UR_BROKEN,
                "V has rank %zu for k = %zu neurons of d = %zu inputs (kappa %.3g)", rank, k, d,
                kappa);
}
const ur_condition ur_v_has_rank = {"V has rank k, so that k <= d",
                                    "k and d; singular values of V, above 1e-9 of the largest",
                                    test_v_rank};

static unrelu_status test_u_rank(ur_case *c, ur_finding *f, unrelu_error *err)
{
    size_t m = c->given->data.m, k = c->k, rank = 0;
    if (k > m)
        return find(c, f, UR_BROKEN, "k = %zu neurons and m = %zu labels: U has rank %zu at most",
                    k, m, m);
    if (!has_network(c))
        return without_network(c, f);
    UR_TRY(rank_of(m, k, c->out->weights.U, &rank, &c->kappa_u, err));
    return find(c, f, rank == k ? UR_KEPT : UR_BROKEN,
                "U has rank %zu for k = %zu neurons and m = %zu labels (kappa %.3g)", rank, k, m,
                c->kappa_u);
}
const ur_condition ur_u_has_rank = {"U has rank k, so that m >= k",
                                    "k and m; singular values of U, above 1e-9 of the largest",
                                    test_u_rank};

static unrelu_status test_labels_rank(ur_case *c, ur_finding *f, unrelu_error *err)
{
    UR_ARENA(arena);
    const ur_data *data = &c->given->data;
    size_t n = data->n, m = data->m, least = n < m ? n : m, rank = 0;
    int constant = has_network(c) && c->out->terms.constant;
    double *A = ur_take(&arena, n, m * sizeof *A), *Q = ur_take(&arena, n, least * sizeof *Q);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < n * m; i++)
        A[i] = data->a[i] / data->column_unit[i % m] -
               (constant ? c->out->weights.e[i % m] / data->column_unit[i % m] : 0);
    UR_TRY(ur_qr_pivoted(n, m, A, data->tolerance, &rank, Q, NULL, NULL, err));
    if (c->k == 0)
        return find(c, f, UR_UNTESTED, "the labels have rank %zu, and k is not known", rank);
    return find(c, f, rank == c->k ? UR_KEPT : UR_BROKEN, "the labels%s have rank %zu, and k = %zu",
                constant ? " without e" : "", rank, c->k);
}
const ur_condition ur_labels_have_rank = {
    "the labels have rank k", "pivots of a QR factorisation, above the labels' rounding",
    test_labels_rank};

/* ---- the law of the inputs ---- */

static unrelu_status look_at_inputs(ur_case *c, unrelu_error *err)
{
    if (c->inputs)
        return UNRELU_OK;
    c->inputs = ur_take(c->arena, 1, sizeof *c->inputs);
    UR_TRY(ur_arena_status(c->arena, err));
    return ur_inputs_law_test(&c->given->data, c->given->exec, c->inputs, err);
}

static unrelu_status too_few_rows(ur_case *c, ur_finding *f)
{
    return find(c, f, UR_UNTESTED, "%zu rows of %zu inputs are too few to test their law",
                c->given->data.n, c->given->data.d);
}

static unrelu_status test_span(ur_case *c, ur_finding *f, unrelu_error *err)
{
    UR_TRY(look_at_inputs(c, err));
    if (c->inputs->tests == 0)
        return too_few_rows(c, f);
    int yes = c->inputs->rank == c->given->data.d;
    return find(c, f, yes ? UR_KEPT : UR_BROKEN,
                yes ? "the covariance of the %zu inputs has full rank"
                    : "the covariance of the %zu inputs is singular: some are constant or follow "
                      "from others",
                c->given->data.d);
}
const ur_condition ur_inputs_span = {"the covariance of the inputs has full rank",
                                     "eigenvalues of their correlations", test_span};

static unrelu_status test_normal(ur_case *c, ur_finding *f, unrelu_error *err)
{
    const char *of = "all inputs jointly";
    UR_TRY(look_at_inputs(c, err));
    const ur_inputs_law *law = c->inputs;
    if (law->tests == 0)
        return too_few_rows(c, f);
    if (law->column != SIZE_MAX)
        of = ur_take_text(c->arena, "input %zu", law->column + 1);
    int yes = law->p >= UR_CONDITION_LEVEL;
    return find(c, f, yes ? UR_KEPT : UR_BROKEN,
                "%s (the %s of %s is %.4g and %.4g for normal ones; p = %.2g of %zu tests, level "
                "%g in all)",
                yes ? "normal inputs are not rejected" : "the inputs are not normal", law->what, of,
                law->value, law->usual, law->p, law->tests, UR_CONDITION_LEVEL);
}
const ur_condition ur_inputs_normal = {
    "the inputs are normal",
    "skewness and kurtosis of every input and Mardia's kurtosis of all, " LEVEL_TEXT, test_normal};

static unrelu_status test_centred(ur_case *c, ur_finding *f, unrelu_error *err)
{
    UR_TRY(look_at_inputs(c, err));
    const ur_inputs_law *law = c->inputs;
    if (law->tests == 0)
        return too_few_rows(c, f);
    if (!isfinite(law->mean_p))
        return find(c, f, UR_UNTESTED, "whether the inputs have mean 0 needs a regular covariance");
    int yes = law->mean_p >= UR_CONDITION_LEVEL;
    return find(c, f, yes ? UR_KEPT : UR_BROKEN,
                "%s (chi2 = %.4g with %zu degrees of freedom, p = %.2g, level %g)",
                yes ? "mean 0 of the inputs is not rejected" : "the mean of the inputs is not 0",
                law->mean_chi2, law->rank, law->mean_p, UR_CONDITION_LEVEL);
}
const ur_condition ur_inputs_centred = {
    "the inputs have mean 0", "Hotelling's test of their mean, " LEVEL_TEXT, test_centred};

static unrelu_status test_symmetric(ur_case *c, ur_finding *f, unrelu_error *err)
{
    const ur_data *data = &c->given->data;
    ur_sample s = {.n = data->n, .d = data->d, .m = data->m, .x = data->x, .a = data->a};
    ur_symmetry test;
    UR_TRY(ur_symmetry_test(&s, c->given->options.seed, c->given->exec, &test, err));
    if (test.degrees >= data->n)
        return too_few_rows(c, f);
    int yes = test.p >= UR_CONDITION_LEVEL;
    return find(c, f, yes ? UR_KEPT : UR_BROKEN,
                "%s (chi2 = %.4g with %zu degrees of freedom, p = %.2g, level %g)",
                yes ? "symmetry of the inputs about 0 is not rejected"
                    : "the inputs are not symmetric about 0",
                test.statistic, test.degrees, test.p, UR_CONDITION_LEVEL);
}
const ur_condition ur_inputs_symmetric = {
    "the inputs are symmetric about 0",
    "means of odd functions of them (columns, cubes, waves), " LEVEL_TEXT, test_symmetric};

/* ---- of one theorem alone ---- */

/* Correlations of v_i x and v_j x, which orthonormal rows and standard normal x make independent.
 * By chance 1 / sqrt(n); V of labels with noise has errors of its own, about as much again for each
 * row (ICA's are .65 to 1 / sqrt(n) a coordinate). */
static unrelu_status test_orthonormal(ur_case *c, ur_finding *f, unrelu_error *err)
{
    UR_ARENA(arena);
    const ur_data *data = &c->given->data;
    size_t n = data->n, d = data->d, k = c->k;
    if (!has_network(c))
        return without_network(c, f);
    double *t = ur_take(&arena, n, k * sizeof *t), *C = ur_take(&arena, k, k * sizeof *C);
    UR_TRY(ur_arena_status(&arena, err));
    ur_multiply_nt(n, d, k, data->x, c->out->weights.V, t);
    for (size_t j = 0; j < k; j++) {
        double mean = 0;
        for (size_t i = 0; i < n; i++)
            mean += t[i * k + j] / (double)n;
        for (size_t i = 0; i < n; i++)
            t[i * k + j] -= mean;
    }
    ur_multiply_tn(n, k, k, t, t, C);
    double worst = 0, chance = sqrt((c->out->answer == UR_EXACT ? 1 : 3) / (double)n);
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < i; j++)
            worst = fmax(worst, fabs(C[i * k + j]) / sqrt(C[i * k + i] * C[j * k + j]));
    double tests = (double)k * (double)(k - 1) / 2,
           p = fmin(1, tests * ur_two_sided(worst / chance));
    return find(c, f, k == 1 || p >= UR_CONDITION_LEVEL ? UR_KEPT : UR_BROKEN,
                "the largest overlap of two rows of V, the correlation of v_i x and v_j x, is %.2g "
                "(orthonormal: about %.2g; p = %.2g of %.0f pairs, level %g in all)",
                worst, chance, p, tests, UR_CONDITION_LEVEL);
}
const ur_condition ur_v_is_orthonormal = {
    "the rows of V are orthonormal",
    "correlations of v_i x and v_j x against 1 / sqrt(n), " LEVEL_TEXT, test_orthonormal};

static unrelu_status test_carries(ur_case *c, ur_finding *f, unrelu_error *err)
{
    (void)err;
    int order = c->given->options.order;
    if (c->given->options.literal) /* by_start: order 2 is not printed */
        order = order == 4 ? 4 : 3;
    double signal = ur_activation_hermite(c->given->options.activation, 1, 0, order);
    return find(c, f, UR_KEPT, "the Hermite coefficient of order %d is %.4g", order, signal);
}
const ur_condition ur_order_carries = {"the Hermite coefficient of the score's order is not 0",
                                       "its quadrature; an order without one is refused",
                                       test_carries};

static unrelu_status test_distinguishes(ur_case *c, ur_finding *f, unrelu_error *err)
{
    double ratio;
    if (!has_network(c))
        return without_network(c, f);
    UR_TRY(ur_distinguishing(&c->given->data, &c->out->weights, &ratio, err));
    if (!isfinite(ratio))
        return find(c, f, UR_UNTESTED,
                    "the distinguishing matrix of k = %zu neurons is too large "
                    "for these samples",
                    c->k);
    return find(c, f, ratio > RANK_LOST ? UR_KEPT : UR_BROKEN,
                "the distinguishing matrix has a smallest singular value of %.2g of the largest",
                ratio);
}
const ur_condition ur_distinguishes = {
    "the distinguishing matrix has full rank",
    "its singular values on the samples, above 1e-9 of the largest", test_distinguishes};

/* largest |cosine| of two columns of U */
static unrelu_status closest_outputs(const ur_case *c, double *cosine, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t m = c->given->data.m, k = c->k;
    double *T = ur_take(&arena, k, m * sizeof *T);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < m * k; i++)
        T[i % k * m + i / k] = c->out->weights.U[i];
    ur_unit_rows(k, m, T);
    *cosine = 0;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < i; j++)
            *cosine = fmax(*cosine, fabs(ur_short_dot(m, T + i * m, T + j * m)));
    return UNRELU_OK;
}

static unrelu_status test_parallel(ur_case *c, ur_finding *f, unrelu_error *err)
{
    double cosine;
    if (!has_network(c))
        return without_network(c, f);
    UR_TRY(closest_outputs(c, &cosine, err));
    if (1 - cosine > PARALLEL)
        return find(c, f, UR_KEPT, "the largest |cosine| of two columns of U is %.4g", cosine);
    return find(
        c, f, UR_BROKEN,
        "two columns of U are parallel (m = %zu labels): Algorithm 7 cannot tell u from -u, "
        "though the theorem as printed allows them",
        c->given->data.m);
}
const ur_condition ur_no_parallel_outputs = {"no two columns of U are parallel",
                                             "cosines of the columns of U", test_parallel};

static unrelu_status test_alone(ur_case *c, ur_finding *f, unrelu_error *err)
{
    UR_ARENA(arena);
    const ur_data *data = &c->given->data;
    size_t n = data->n, d = data->d, k = c->k, rarest = 0;
    if (!has_network(c))
        return without_network(c, f);
    size_t *alone = ur_take(&arena, k, sizeof *alone);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < n; i++) {
        size_t on = 0, which = 0;
        for (size_t j = 0; j < k; j++)
            if (ur_short_dot(d, c->out->weights.V + j * d, data->x + i * d) + c->out->weights.c[j] >
                0) {
                on++;
                which = j;
            }
        alone[which] += on == 1;
    }
    for (size_t j = 1; j < k; j++)
        rarest = alone[j] < alone[rarest] ? j : rarest;
    return find(c, f, alone[rarest] >= d ? UR_KEPT : UR_BROKEN,
                "neuron %zu is on alone in %zu of %zu samples, and Algorithm 7 needs d = %zu of "
                "each",
                rarest + 1, alone[rarest], n, d);
}
const ur_condition ur_each_alone = {"every neuron is on alone in d samples (Lemma 21)",
                                    "the samples are counted", test_alone};

/* ---- noise ---- */

static int has_note(const ur_outcome *out, const char *code)
{
    for (size_t i = 0; i < out->notes.count; i++)
        if (strcmp(out->notes.list[i].code, code) == 0)
            return 1;
    return 0;
}

static unrelu_status test_light(ur_case *c, ur_finding *f, unrelu_error *err)
{
    ur_noise_law law;
    if (c->out->answer == UR_EXACT)
        return find(c, f, UR_KEPT, "the labels have no noise");
    if (!has_network(c))
        return without_network(c, f);
    if (has_note(c->out, "no-se"))
        return find(c, f, UR_UNTESTED, "what a raw estimate leaves is not the noise alone");
    UR_TRY(ur_noise_law_test(c->given, &c->out->weights, &law, err));
    if (law.mean_p < UR_CONDITION_LEVEL)
        return find(c, f, UR_BROKEN,
                    "what is left of label %zu has not mean 0 (z = %.3g, p = %.2g of %zu columns, "
                    "level %g in all)",
                    law.mean_column + 1, law.mean_z, law.mean_p, c->given->data.m,
                    UR_CONDITION_LEVEL);
    int yes = law.tail_p >= UR_CONDITION_LEVEL;
    return find(c, f, yes ? UR_KEPT : UR_BROKEN,
                "%s (the largest of %zu residuals is %.3g standard deviations; p = %.2g for normal "
                "ones, level %g)",
                yes ? "noise of mean 0 with normal tails is not rejected"
                    : "the noise has heavier tails than a normal law",
                law.cells, law.tail, law.tail_p, UR_CONDITION_LEVEL);
}
const ur_condition ur_noise_is_light = {
    "the noise has mean 0 and is sub-Gaussian",
    "means of the residuals' columns, and the largest against that of normal ones, " LEVEL_TEXT,
    test_light};

static unrelu_status test_independent(ur_case *c, ur_finding *f, unrelu_error *err)
{
    (void)err;
    if (c->out->answer == UR_EXACT)
        return find(c, f, UR_KEPT, "the labels have no noise");
    if (!has_network(c))
        return without_network(c, f);
    int no = has_note(c->out, "dependent-rest");
    return find(c, f, no ? UR_BROKEN : UR_KEPT,
                no ? "what is left depends on the inputs, more than in 20 shuffles"
                   : "what is left depends on the inputs no more than in 20 shuffles");
}
const ur_condition ur_noise_is_independent = {
    "the noise is independent of the inputs",
    "moments of what is left with the inputs, against 20 shuffles of its rows", test_independent};

/* u_has_rank was asked before */
static unrelu_status test_epsilon(ur_case *c, ur_finding *f, unrelu_error *err)
{
    (void)err;
    const ur_data *data = &c->given->data;
    if (!has_network(c) || !isfinite(c->kappa_u))
        return without_network(c, f);
    double epsilon = ur_any_epsilon(data->n, data->d, c->k, c->kappa_u), most = 1 / (double)c->k;
    return find(c, f, epsilon < most ? UR_KEPT : UR_UNTESTED,
                "with its constants as 1, which it does not tell, n = %zu is enough for epsilon "
                "%.2g, and it asks for epsilon < 1 / k = %.2g",
                data->n, epsilon, most);
}
const ur_condition ur_epsilon_is_small = {
    "n is large enough for an epsilon below 1 / k",
    "Corollary 7 with its constants as 1: below it is yes, else untested", test_epsilon};

/* ---- wrong cells ---- */

static unrelu_status test_orthogonal(ur_case *c, ur_finding *f, unrelu_error *err)
{
    double cosine;
    if (!has_network(c))
        return without_network(c, f);
    UR_TRY(closest_outputs(c, &cosine, err));
    return find(c, f, cosine <= RANK_LOST ? UR_KEPT : UR_BROKEN,
                "the largest |cosine| of two columns of U is %.2g", cosine);
}
const ur_condition ur_u_is_orthogonal = {"the columns of U are orthonormal, up to their scale",
                                         "cosines of the columns of U, at most 1e-9",
                                         test_orthogonal};

static unrelu_status test_incoherent(ur_case *c, ur_finding *f, unrelu_error *err)
{
    (void)err;
    const ur_data *data = &c->given->data;
    if (!has_network(c) || !isfinite(c->out->incoherence))
        return without_network(c, f);
    double bound = (double)data->m / (c->out->incoherence * pow(log((double)data->n), 2));
    return find(c, f, (double)c->k <= bound ? UR_KEPT : UR_BROKEN,
                "k = %zu and m / (mu log^2 n) = %.2g (mu = %.3g of the network's labels)", c->k,
                bound, c->out->incoherence);
}
const ur_condition ur_is_incoherent = {
    "k <= m / (mu log^2 n)", "mu of Definition 13, of the network's labels", test_incoherent};

static unrelu_status test_random(ur_case *c, ur_finding *f, unrelu_error *err)
{
    (void)err;
    if (c->out->answer != UR_EXACT)
        return find(c, f, UR_UNTESTED, "whether wrong cells are at random was not tested");
    return find(c, f, c->out->evidence.doubt ? UR_BROKEN : UR_KEPT, "%s",
                c->out->evidence.doubt ? "the places of wrong cells depend on the inputs"
                                       : "the places of wrong cells do not show to depend on the "
                                         "inputs");
}
const ur_condition ur_wrong_at_random = {"wrong cells are at random",
                                         "whether their places depend on the inputs", test_random};
