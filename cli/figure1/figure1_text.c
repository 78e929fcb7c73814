/* SPDX-License-Identifier: Apache-2.0 */
/* Figure 1 in words: a table a panel, and the same as JSON. */
#include "figure1.h"

#include <math.h>
#include <stdio.h>

#include "scope.h"
#include "table.h"

static const char *const keys[FIGURE1_METRICS] = {"err_b", "err_sigma", "sqrt_kl"};

/* ---- text ---------------------------------------------------------------------------- */

static void print_panel(const figure1 *f, int panel, cli_table *t)
{
    static const char *const names[FIGURE1_ROWS] = {"paper", "ours", "limit"};
    char titles[64];
    printf("%s varies, %s\n", cli_figure1_panels[panel], f->fixed[panel]);
    snprintf(titles, sizeof titles, "%s||err_b|err_Sigma|sqrt(KL/2)|not PSD",
             cli_figure1_panels[panel]);
    cli_table_titles(t, titles);
    for (size_t p = 0; p < f->count; p++) {
        if (f->points[p].panel != panel)
            continue;
        cli_table_add(t, "%zu", f->points[p].x);
        for (int m = 0; m < FIGURE1_ROWS; m++) {
            const figure1_row *row = &f->rows[p][m];
            cli_table_add(t, "%s", names[m]);
            for (int k = 0; k < FIGURE1_METRICS; k++)
                if (isfinite(row->mean[k]) && isfinite(row->sd[k]))
                    cli_table_add(t, "%.3g (%.1g)", row->mean[k], row->sd[k]);
                else
                    cli_table_add_real(t, "%.3g", row->mean[k]);
            if (m < FIGURE1_LIMIT)
                cli_table_add(t, "%zu", row->not_psd);
            cli_table_add(t, "%s", ""); /* below the number, or no runs */
        }
    }
    cli_table_print(t, "rlrrrr");
    putchar('\n');
}

void cli_figure1_print(const figure1 *f)
{
    static const char *const names[FIGURE1_METRICS] = {"err_b", "err_Sigma", "sqrt(KL/2)"};
    CLI_MEMORY cli_table *t = malloc(sizeof *t); /* too large for a stack */
    size_t largest = 0;
    printf("Figure 1 of the one-layer paper: %zu runs a point, seed %llu\n", f->runs,
           (unsigned long long)f->seed);
    printf("paper: its algorithm; ours: 'unrelu fit'; mean (standard deviation) over runs\n"
           "limit: root mean square at the Cramer-Rao bound\n"
           "not PSD: runs without a KL divergence, left out of its mean\n\n");
    for (int panel = 0; t && panel < FIGURE1_PANELS; panel++)
        print_panel(f, panel, t);
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
    for (size_t p = 1; p < f->count; p++)
        if (f->points[p].n * f->points[p].d > f->points[largest].n * f->points[largest].d)
            largest = p;
    printf("\none fit of n = %zu, d = %zu: the paper's algorithm %.2g s, ours %.2g s\n",
           f->points[largest].n, f->points[largest].d, f->rows[largest][FIGURE1_PAPER].seconds,
           f->rows[largest][FIGURE1_EFFICIENT].seconds);
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

cli_json cli_figure1_json(const figure1 *f)
{
    cli_json json = cli_json_start("reproduce"), paper = {.object = json_object()};
    json_t *rows = json_array();
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    for (size_t i = 0; i < f->count; i++)
        for (int m = 0; m < FIGURE1_METHODS; m++) {
            const figure1_point *p = &f->points[i];
            const figure1_row *row = &f->rows[i][m];
            cli_json one = {.object = json_object()};
            cli_json_text(&one, "panel", cli_figure1_panels[p->panel]);
            cli_json_whole(&one, "n", p->n);
            cli_json_whole(&one, "d", p->d);
            cli_json_whole(&one, "kappa", p->kappa);
            cli_json_text(&one, "method", cli_figure1_methods[m]);
            put_metrics(&one, "", row->mean);
            put_metrics(&one, "_sd", row->sd);
            put_metrics(&one, "_limit", f->rows[i][FIGURE1_LIMIT].mean);
            cli_json_whole(&one, "not_psd", row->not_psd);
            cli_json_real(&one, "fit_seconds", row->seconds);
            cli_json_append_object(&json, rows, &one);
        }
    cli_json_text(&json, "kind", "figure1");
    cli_json_whole(&json, "runs", f->runs);
    cli_json_whole(&json, "seed", f->seed);
    cli_json_put(&json, "quick", json_boolean(f->quick));
    cli_json_text(&json, "run_seed", "1000000 seed + 1000 point + run, both from 1 on, mod 2^63");
    cli_json_whole(&paper, "batches", (uint64_t)o.batches);
    cli_json_real(&paper, "radius", o.radius);
    cli_json_real(&paper, "lambda", o.lambda);
    cli_json_whole(&paper, "minibatch", (uint64_t)o.minibatch);
    json.failed |= paper.failed;
    cli_json_put(&json, "paper", paper.object);
    cli_json_put(&json, "rows", rows);
    cli_json_put(&json, "warnings", json_array());
    return json;
}
