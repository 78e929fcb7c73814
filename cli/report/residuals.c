/* SPDX-License-Identifier: Apache-2.0 */
/* What the network leaves of the labels: a histogram of all of them, labels against predictions,
 * and a table by output. Cells that were found not to be the network's (sparse noise) are left out
 * where the labels have as many rows as those it was learned from. All is held in memory. */
#include <math.h>
#include <stdlib.h>

#include "chart.h"
#include "files.h"
#include "html.h"
#include "report.h"
#include "scope.h"

enum { BINS = 41, POINTS = 800, WIDTH = 480, HEIGHT = 250 };

typedef struct {
    size_t n, m;
    double *x, *labels, *fitted;
    unsigned char *left_out; /* n m */
    size_t left_out_count;
} data;

static void free_data(data *d)
{
    unrelu_free(d->x);
    unrelu_free(d->labels);
    unrelu_free(d->fitted);
    unrelu_free(d->left_out);
}

static int load(const cli_shared *shared, const char *path, const char *columns, size_t wanted,
                const char *what, double **x, size_t *n)
{
    CLI_SCOPE(cli_close) unrelu_source *source = NULL;
    unrelu_exec exec = cli_exec(shared);
    CLI_TRY(cli_open(path, columns, 1, &source));
    size_t width = unrelu_source_columns(source);
    if (width != wanted)
        return cli_refuse_file("%s has %zu columns, and the network %zu %s", path, width, wanted,
                               what);
    CLI_CALL(unrelu_source_load(source, &exec, x, n, &err));
    return 0;
}

static int predict(const unrelu_network *m, const cli_shared *shared, data *d)
{
    unrelu_exec exec = cli_exec(shared);
    size_t rows = 0;
    CLI_TRY(load(shared, shared->files[1], shared->columns, m->d, "inputs", &d->x, &d->n));
    CLI_TRY(load(shared, shared->files[2], NULL, m->m, "outputs", &d->labels, &rows));
    if (rows != d->n)
        return cli_refuse_file("%s has %zu rows, and %s %zu: they go row by row", shared->files[1],
                               d->n, shared->files[2], rows);
    if (rows == 0) {
        cli_error("%s has no rows", shared->files[1]);
        return CLI_EXIT_DATA;
    }
    d->m = m->m;
    d->fitted = unrelu_alloc(d->n, d->m * sizeof *d->fitted);
    d->left_out = unrelu_alloc(d->n, d->m);
    if (!d->fitted || !d->left_out)
        return cli_no_memory();
    size_t count = m->E_row && m->E_column && d->n == m->n ? m->corrupted : 0;
    for (size_t i = 0; i < count; i++) {
        if (!(m->E_row[i] >= 0 && m->E_row[i] < (double)d->n && m->E_column[i] >= 0 &&
              m->E_column[i] < (double)d->m))
            continue;
        size_t at = (size_t)m->E_row[i] * d->m + (size_t)m->E_column[i];
        d->left_out_count += !d->left_out[at];
        d->left_out[at] = 1;
    }
    CLI_CALL(unrelu_network_predict(m, d->x, d->n, &exec, d->fitted, &err));
    return 0;
}

static double residual(const data *d, size_t i)
{
    return d->labels[i] - d->fitted[i];
}

/* ---- charts ---- */

static void draw_histogram(cli_page *page, const unrelu_network *m, const data *d, double largest)
{
    double counts[BINS] = {0}, edges[BINS + 1], width = 2 * largest / BINS;
    size_t cells = d->n * d->m;
    for (int k = 0; k <= BINS; k++)
        edges[k] = largest * (2.0 * k / BINS - 1);
    for (size_t i = 0; i < cells; i++) {
        if (d->left_out[i])
            continue;
        double at = floor((residual(d, i) + largest) / width);
        counts[(size_t)fmax(0, fmin(BINS - 1, at))]++;
    }
    const char *text = cli_text(
        page, "Histogram of labels less what the network gives; the largest is %.3g.", largest);
    double area = (double)(cells - d->left_out_count) * width;
    cli_chart_histogram(page, &(cli_histogram){.frame = {"Residuals", text, NULL, WIDTH, HEIGHT},
                                               .x_title = "label − network",
                                               .y_title = "labels",
                                               .low = -largest,
                                               .high = largest,
                                               .bins = BINS,
                                               .edges = edges,
                                               .heights = counts,
                                               .counts = counts,
                                               .curve = {0, m->noise, area, -INFINITY}});
}

/* some of all cells */
static void draw_points(cli_page *page, const unrelu_network *m, const data *d)
{
    size_t cells = d->n * d->m, step = (cells + POINTS - 1) / POINTS, count = 0;
    const cli_names outputs = {.names = m->label_names, .letter = "a"};
    const char *names[POINTS];
    double fitted[POINTS], labels[POINTS];
    if (step > 1 && step % d->m == 0)
        step++; /* all outputs in turn */
    for (size_t i = 0; i < cells; i += step) {
        if (d->left_out[i])
            continue;
        names[count] = cli_name_of(page, &outputs, i % d->m);
        fitted[count] = d->fitted[i];
        labels[count++] = d->labels[i];
    }
    const char *text =
        cli_text(page, "%zu of %zu labels against what the network gives.", count, cells);
    cli_chart_points(
        page, &(cli_points){.frame = {"Labels against the network", text, NULL, WIDTH, HEIGHT},
                            .x_title = "network",
                            .y_title = "label",
                            .x_word = "network",
                            .y_word = "label",
                            .count = count,
                            .x = fitted,
                            .y = labels,
                            .size = 4,
                            .labels = names});
}

/* ---- by output ---- */

static void add_output(cli_page *page, const unrelu_network *m, const data *d, size_t j)
{
    double mean = 0, spread = 0, left = 0, largest = 0, n = 0;
    for (size_t i = j; i < d->n * d->m; i += d->m)
        n += !d->left_out[i];
    for (size_t i = j; i < d->n * d->m; i += d->m)
        mean += d->left_out[i] ? 0 : d->labels[i] / n;
    for (size_t i = j; i < d->n * d->m; i += d->m) {
        if (d->left_out[i])
            continue;
        double r = residual(d, i), away = d->labels[i] - mean;
        spread += away * away / n;
        left += r * r / n;
        largest = fmax(largest, fabs(r));
    }
    cli_html_name(page, "<tr>", m->label_names, "a", j);
    cli_html_real(page, sqrt(spread), "%.4g");
    cli_html_real(page, sqrt(left), "%.3g");
    cli_html_real(page, largest, "%.3g");
    cli_html_real(page, spread > 0 ? 100 * (1 - left / spread) : NAN, "%.4g %%");
    cli_html(page, "</tr>\n");
}

int cli_report_residuals(cli_page *page, const unrelu_network *m, const cli_shared *shared)
{
    CLI_SCOPE(free_data) data d = {0};
    double largest = 0;
    CLI_TRY(predict(m, shared, &d));
    for (size_t i = 0; i < d.n * d.m; i++)
        largest = d.left_out[i] ? largest : fmax(largest, fabs(residual(&d, i)));
    cli_html(page,
             "<section id=\"residuals\"><h2>Residuals</h2>\n"
             "<p>Labels less what the network gives, over %s",
             cli_html_counted(page, (double)d.n, "sample"));
    if (d.left_out_count)
        cli_html(page, ", without %s that %s not the network's",
                 cli_html_counted(page, (double)d.left_out_count, "label"),
                 d.left_out_count == 1 ? "is" : "are");
    cli_html(page, ". %s</p><div class=\"grid\">",
             largest == 0 ? "Each of them is met to the last bit."
             : m->noise > 0
                 ? "The line is a normal with the deviation that the network was learned with."
                 : "");
    if (largest > 0) {
        cli_html(page, "<div class=\"card\"><h3>What is left</h3>");
        draw_histogram(page, m, &d, largest);
        cli_html(page, "</div>");
    }
    cli_html(page, "<div class=\"card\"><h3>Labels against the network</h3>");
    draw_points(page, m, &d);
    cli_html(page, "</div></div>\n<div class=\"card\"><h3>By output</h3>");
    cli_html_table(page, d.m > 1 ? "sortable" : "",
                   "<output|deviation of the labels|rms residual|largest|variance explained");
    for (size_t j = 0; j < d.m; j++)
        add_output(page, m, &d, j);
    cli_html(page, "</tbody></table></div></div>\n</section>\n");
    return 0;
}
