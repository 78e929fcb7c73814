/* SPDX-License-Identifier: Apache-2.0 */
/* Figure 1 in words: a table a panel, and the same as JSON. */
#include "figure1.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "json.h"
#include "table.h"

static const char *const keys[FIGURE1_METRICS] = {"err_b", "err_sigma", "sqrt_kl"};

/* ---- text ---------------------------------------------------------------------------- */

static void add_number(cli_table *t, double x)
{
    if (isfinite(x))
        cli_table_add(t, "%.3g", x);
    else
        cli_table_add(t, "-");
}

static void add_spread(cli_table *t, double mean, double sd)
{
    if (isfinite(mean) && isfinite(sd))
        cli_table_add(t, "%.3g (%.1g)", mean, sd);
    else
        add_number(t, mean);
}

static void add_point(cli_table *t, const figure1 *f, size_t point)
{
    for (int m = 0; m < FIGURE1_METHODS; m++) {
        const figure1_row *row = &f->rows[point][m];
        if (m == 0)
            cli_table_add(t, "%zu", cli_figure1_x(&f->points[point]));
        else
            cli_table_add(t, "%s", "");
        cli_table_add(t, "%s", m == FIGURE1_PAPER ? "paper" : "ours");
        for (int k = 0; k < FIGURE1_METRICS; k++)
            add_spread(t, row->mean[k], row->sd[k]);
        cli_table_add(t, "%zu", row->not_psd);
    }
    cli_table_add(t, "%s", "");
    cli_table_add(t, "limit");
    for (int k = 0; k < FIGURE1_METRICS; k++)
        add_number(t, f->rows[point][0].limit[k]);
    cli_table_add(t, "%s", "");
}

static void print_panel(const figure1 *f, int panel, cli_table *t)
{
    static const char *const heads[] = {"", "err_b", "err_Sigma", "sqrt(KL/2)", "not PSD"};
    char fixed[64];
    printf("%s varies, %s\n", cli_figure1_panel(panel),
           cli_figure1_fixed(f, panel, fixed, sizeof fixed));
    cli_table_start(t, 6);
    cli_table_add(t, "%s", cli_figure1_panel(panel));
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        cli_table_add(t, "%s", heads[i]);
    for (size_t p = 0; p < f->count; p++)
        if (f->points[p].panel == panel)
            add_point(t, f, p);
    cli_table_print(t, "rlrrrr");
    putchar('\n');
}

static void print_ratios(const figure1 *f)
{
    static const char *const names[FIGURE1_METRICS] = {"err_b", "err_Sigma", "sqrt(KL/2)"};
    printf("the paper's error over ours, from the least to the greatest of the points\n");
    for (int k = 0; k < FIGURE1_METRICS; k++) {
        double least = INFINITY, most = 0;
        for (size_t p = 0; p < f->count; p++) {
            double ratio =
                f->rows[p][FIGURE1_PAPER].mean[k] / f->rows[p][FIGURE1_EFFICIENT].mean[k];
            least = fmin(least, ratio); /* of a NaN the other is taken */
            most = fmax(most, ratio);
        }
        printf("  %-11s %.1f to %.1f\n", names[k], least, most);
    }
}

static void print_seconds(const figure1 *f)
{
    size_t largest = 0;
    for (size_t p = 1; p < f->count; p++)
        if (f->points[p].n * f->points[p].d > f->points[largest].n * f->points[largest].d)
            largest = p;
    printf("\none fit of n = %zu, d = %zu: the paper's algorithm %.2g s, ours %.2g s\n",
           f->points[largest].n, f->points[largest].d, f->rows[largest][FIGURE1_PAPER].seconds,
           f->rows[largest][FIGURE1_EFFICIENT].seconds);
}

void cli_figure1_print(const figure1 *f)
{
    cli_table *t = malloc(sizeof *t); /* too large for a stack */
    printf("Figure 1 of the one-layer paper: %zu runs a point, seed %llu\n", f->runs,
           (unsigned long long)f->seed);
    printf("paper: its algorithm; ours: 'unrelu fit'; mean (standard deviation) over runs\n"
           "limit: root mean square at the Cramer-Rao bound\n"
           "not PSD: runs without a KL divergence, left out of its mean\n\n");
    for (int panel = 0; t && panel < FIGURE1_PANELS; panel++)
        print_panel(f, panel, t);
    print_ratios(f);
    print_seconds(f);
    free(t);
}

/* ---- JSON ---------------------------------------------------------------------------- */

static void put_metrics(cli_json *json, const char *ending, const double x[FIGURE1_METRICS])
{
    char key[32];
    for (int k = 0; k < FIGURE1_METRICS; k++) {
        snprintf(key, sizeof key, "%s%s", keys[k], ending);
        cli_json_real(json, key, x[k]);
    }
}

static json_t *row_object(const figure1 *f, size_t point, int method, int *failed)
{
    const figure1_point *p = &f->points[point];
    const figure1_row *row = &f->rows[point][method];
    cli_json json = {.object = json_object()};
    cli_json_text(&json, "panel", cli_figure1_panel(p->panel));
    cli_json_whole(&json, "n", p->n);
    cli_json_whole(&json, "d", p->d);
    cli_json_whole(&json, "kappa", p->kappa);
    cli_json_text(&json, "method", cli_figure1_method(method));
    put_metrics(&json, "", row->mean);
    put_metrics(&json, "_sd", row->sd);
    put_metrics(&json, "_limit", row->limit);
    cli_json_whole(&json, "not_psd", row->not_psd);
    cli_json_real(&json, "fit_seconds", row->seconds);
    *failed |= json.failed;
    return json.object;
}

static json_t *paper_settings(int *failed)
{
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    cli_json json = {.object = json_object()};
    cli_json_whole(&json, "batches", (uint64_t)o.batches);
    cli_json_real(&json, "radius", o.radius);
    cli_json_real(&json, "lambda", o.lambda);
    cli_json_whole(&json, "minibatch", (uint64_t)o.minibatch);
    *failed |= json.failed;
    return json.object;
}

json_t *cli_figure1_json(const figure1 *f, int *failed)
{
    cli_json json = cli_json_start("reproduce");
    json_t *rows = json_array();
    for (size_t p = 0; p < f->count; p++)
        for (int m = 0; m < FIGURE1_METHODS; m++)
            json.failed |= json_array_append_new(rows, row_object(f, p, m, &json.failed)) != 0;
    cli_json_text(&json, "kind", "figure1");
    cli_json_whole(&json, "runs", f->runs);
    cli_json_whole(&json, "seed", f->seed);
    cli_json_put(&json, "quick", json_boolean(f->quick));
    cli_json_text(&json, "run_seed", "1000000 seed + 1000 point + run, both from 1 on, mod 2^63");
    cli_json_put(&json, "paper", paper_settings(&json.failed));
    cli_json_put(&json, "rows", rows);
    cli_json_put(&json, "warnings", json_array());
    *failed = json.failed;
    return json.object;
}
