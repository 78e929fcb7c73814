/* SPDX-License-Identifier: Apache-2.0 */
/* The experiments of Figure 1 of the one-layer paper: the published algorithm and ours on the same
 * data. The data of a run with the seed J are those of
 *   unrelu generate gaussian -d D -n N --kappa K --seed J,
 * fitted with --seed J. The limit of a run is what the Cramer-Rao bound says of its own truth;
 * where Sigma = I (kappa = 1) to second order E KL = sum_ij Var(Sigma_ij) / 4 + sum_i Var(b_i) / 2.
 * With kappa > 1 the divergence mixes errors of pairs, whose joint bound is not known here: none is
 * given. */
#include <math.h>
#include <stdio.h>

#include "unrelu/unrelu.h"

#include "files.h"
#include "report/html.h"
#include "scope.h"
#include "show/models.h"
#include "study.h"

#define SIGMA "\u03a3"
#define KAPPA "\u03ba"

enum { N_PANEL, D_PANEL, KAPPA_PANEL, PANELS };
enum { PAPER, EFFICIENT, METHODS };
enum { ERR_B, ERR_SIGMA, SQRT_KL, METRICS };
enum { N, D, K }; /* keys */

static const study_metric metrics[METRICS] = {
    {"err_b", "limit_b", "err_b", "error of b", 0},
    {"err_sigma", "limit_sigma", "err_Sigma", "error of " SIGMA, 0},
    {"sqrt_kl", "limit_kl", "sqrt(KL/2)", "\u221a(KL / 2)", 0},
};

static const study_series methods[METHODS] = {
    {"paper", "paper", "paper\u2019s algorithm", NULL},
    {"efficient", "ours", "unrelu", NULL},
};

#define OF_ALL .count = METHODS, .series = methods, .shows = {ERR_B, ERR_SIGMA, SQRT_KL, -1}
static const char limit[] = "Cram\u00e9r\u2013Rao limit";

static const study_panel panels[PANELS] = {
    {"n", "n", "n", "samples n", "More samples", NULL, limit, 1, OF_ALL},
    {"d", "d", "d", "columns d", "More columns", NULL, limit, 0, OF_ALL},
    {"kappa", "kappa", KAPPA, "condition number " KAPPA, "A larger condition number", NULL, limit,
     0, OF_ALL},
};

/* ---- which points: those of the paper, or a few small ones ---- */

static void add(study *s, size_t panel, size_t x, size_t n, size_t d, size_t kappa)
{
    study_point *p = cli_study_add(s, panel, (double)x, (double)n * (double)d);
    for (int m = 0; m < METHODS; m++) {
        p->key[m][N] = (double)n;
        p->key[m][D] = (double)d;
        p->key[m][K] = (double)kappa;
    }
}

static void plan(study *s)
{
    const size_t n = s->quick ? 20000 : 500000, d = 5, kappa = 1;
    for (size_t x = 20000; x <= (s->quick ? 50000 : 200000); x += 30000)
        add(s, N_PANEL, x, x, d, kappa);
    for (size_t x = 5; x <= (s->quick ? 9 : 25); x += 4)
        add(s, D_PANEL, x, n, x, kappa);
    for (size_t x = 1; x <= 25; x += s->quick ? 24 : 4)
        add(s, KAPPA_PANEL, x, n, d, x);
    snprintf(s->fixed[N_PANEL], sizeof *s->fixed, "d = %zu, kappa = %zu", d, kappa);
    snprintf(s->fixed[D_PANEL], sizeof *s->fixed, "n = %zu, kappa = %zu", n, kappa);
    snprintf(s->fixed[KAPPA_PANEL], sizeof *s->fixed, "n = %zu, d = %zu", n, d);
}

/* ---- one run plants a model, draws samples, and fits them by both methods ---- */

static double square_sum(const double *x, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sum;
}

static unrelu_status add_limits(const unrelu_gaussian *truth, double n, double kappa,
                                study_result *out, unrelu_error *err)
{
    size_t d = truth->d;
    CLI_ARRAY double *b_se = unrelu_alloc(d, sizeof *b_se);
    CLI_ARRAY double *sigma_se = unrelu_alloc(d * d, sizeof *sigma_se);
    if (!b_se || !sigma_se)
        return UNRELU_ENOMEM;
    CLI_TRY(unrelu_gaussian_bound(truth, n, b_se, NULL, sigma_se, NULL, err));
    double norm = square_sum(truth->scale, d);
    double b = square_sum(b_se, d), sigma = square_sum(sigma_se, d * d);
    out->limit_square[ERR_B] = b / norm;
    out->limit_square[ERR_SIGMA] = sigma / (norm * norm);
    out->limit_square[SQRT_KL] = kappa == 1 ? (sigma / 4 + b / 2) / 2 : NAN;
    return UNRELU_OK;
}

static unrelu_status fit(const unrelu_gaussian *truth, const double *x, size_t n, int method,
                         uint64_t seed, const unrelu_exec *exec, study_result *out,
                         unrelu_error *err)
{
    CLI_MADE unrelu_gaussian *model = NULL;
    CLI_SCOPE(cli_close) unrelu_source *source = NULL;
    unrelu_gaussian_distance far;
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    o.seed = seed;
    if (method == PAPER) {
        o.norms = UNRELU_NORMS_SGD;
        o.angles = UNRELU_ANGLES_SIGNS;
        o.literal = 1;
    }
    double start = cli_seconds();
    CLI_TRY(unrelu_source_memory(x, n, truth->d, NULL, &source, err));
    CLI_TRY(unrelu_gaussian_fit(source, &o, exec, &model, err));
    out->seconds[method] = cli_seconds() - start;
    CLI_TRY(unrelu_gaussian_compare(truth, model, &far, err));
    double kl = fmin(far.kl, far.kl_reverse);
    out->value[method][ERR_B] = far.b_error;
    out->value[method][ERR_SIGMA] = far.sigma_error;
    out->value[method][SQRT_KL] = sqrt(kl / 2);
    out->lost[method] = !isfinite(kl);
    return UNRELU_OK;
}

static unrelu_status run(const study *s, const study_point *p, uint64_t seed,
                         const unrelu_exec *exec, study_result *out, unrelu_error *err)
{
    const double *key = p->key[0];
    size_t n = (size_t)key[N], d = (size_t)key[D];
    CLI_MADE unrelu_gaussian *truth = NULL;
    CLI_SCOPE(cli_free_sampler) unrelu_sampler *sampler = NULL;
    CLI_ARRAY double *x = unrelu_alloc(n * d, sizeof *x);
    unrelu_gaussian_plant_options o;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    (void)s;
    o.d = d;
    o.kappa = key[K];
    o.seed = seed;
    if (!x)
        return UNRELU_ENOMEM;
    CLI_TRY(unrelu_gaussian_plant(&o, &truth, err));
    CLI_TRY(unrelu_gaussian_sampler(truth, ~seed, &sampler, err)); /* as generate does */
    CLI_TRY(unrelu_sampler_draw(sampler, 0, n, exec, x, err));
    for (int m = 0; m < METHODS; m++)
        CLI_TRY(fit(truth, x, n, m, seed, exec, out, err));
    return add_limits(truth, key[N], key[K], out, err);
}

/* ---- what it says beside its numbers ---- */

static void print_head(const study *s)
{
    printf("Figure 1 of the one-layer paper: %zu runs a point, seed %llu\n", s->runs,
           (unsigned long long)s->seed);
    printf("paper: its algorithm; ours: 'unrelu fit'; mean (standard deviation) over runs\n"
           "limit: root mean square at the Cramer-Rao bound\n"
           "not PSD: runs without a KL divergence, left out of its mean\n\n");
}

static void print_end(const study *s)
{
    size_t largest = 0;
    printf("the paper's error over ours, from the least to the greatest of the points\n");
    for (int k = 0; k < METRICS; k++) {
        double least = INFINITY, most = 0;
        for (size_t p = 0; p < s->count; p++) {
            double ratio = s->rows[p][PAPER].mean[k] / s->rows[p][EFFICIENT].mean[k];
            least = fmin(least, ratio); /* of a NaN the other is taken */
            most = fmax(most, ratio);
        }
        printf("  %-11s %.1f to %.1f\n", metrics[k].name, least, most);
    }
    for (size_t p = 1; p < s->count; p++)
        if (s->points[p].work > s->points[largest].work)
            largest = p;
    const double *key = s->points[largest].key[0];
    printf("\none fit of n = %.0f, d = %.0f: the paper's algorithm %.2g s, ours %.2g s\n", key[N],
           key[D], s->rows[largest][PAPER].seconds, s->rows[largest][EFFICIENT].seconds);
}

static void put_json(const study *s, cli_json *json)
{
    cli_json paper = {.object = json_object()};
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    (void)s;
    cli_json_whole(&paper, "batches", (uint64_t)o.batches);
    cli_json_real(&paper, "radius", o.radius);
    cli_json_real(&paper, "lambda", o.lambda);
    cli_json_whole(&paper, "minibatch", (uint64_t)o.minibatch);
    json->failed |= paper.failed;
    cli_json_put(json, "paper", paper.object);
}

static void intro(const study *s, cli_page *page)
{
    (void)s;
    cli_html(page, "<p>The experiments of Figure 1 of the one-layer paper, with <b "
                   "style=\"color: var(--second)\">\u25a0 its algorithm</b> and with <b "
                   "style=\"color: var(--first)\">\u25cf unrelu</b> on the same data. Points are "
                   "means over the runs, bars one standard deviation; every run has a W and b of "
                   "its own. <b style=\"color: var(--soft)\">\u2504 Dashed</b> is the "
                   "Cram\u00e9r\u2013Rao limit: the root mean square error that no unbiased method "
                   "goes below, for one coordinate or one pair at a time. A mean is a little below "
                   "its root mean square, by 5 %% at d = 5.</p>\n");
    cli_html(page,
             "<p class=\"note\">error of b = |b \u2212 b*| / |W*|<sub>F</sub>; error of " SIGMA
             " = |" SIGMA " \u2212 " SIGMA "*|<sub>F</sub> / |W*|<sub>F</sub>\u00b2; KL is the "
             "smaller of the two divergences of the Gaussians before the rectifier. Where a "
             "run of the paper\u2019s algorithm ends with a " SIGMA " that is not positive "
             "definite there is none, and the run is left out of the mean. With " KAPPA
             " &gt; 1 no limit of KL is known here.</p>\n");
}

const study_kind cli_study_figure1 = {
    .name = "figure1",
    .brief = {"the three panels of Figure 1 of the one-layer paper: errors against samples,",
              "columns and condition number, its algorithm and ours on the same data"},
    .title = "Figure 1, reproduced",
    .model = "x = ReLU(W z + b)",
    .figure = "figure",
    .runs = 10,
    .quick_runs = 2,
    .keys = {"n", "d", "kappa"},
    .metric_count = METRICS,
    .metrics = metrics,
    .lost = "not_psd",
    .lost_name = "not PSD",
    .lost_title = "not PSD",
    .panel_count = PANELS,
    .panels = panels,
    .plan = plan,
    .run = run,
    .print_head = print_head,
    .print_end = print_end,
    .json = put_json,
    .intro = intro,
};
