/* SPDX-License-Identifier: Apache-2.0 */
/* A study in words: a table a panel, and the same as JSON. */
#include "study.h"

#include <math.h>
#include <stdio.h>

#include "scope.h"
#include "table.h"

/* ---- text ---------------------------------------------------------------------------- */

static void add_value(cli_table *t, const study_metric *metric, double mean, double sd)
{
    if (metric->is_share && isfinite(mean))
        cli_table_add(t, "%.0f %%", 100 * mean);
    else if (isfinite(mean) && isfinite(sd))
        cli_table_add(t, "%.3g (%.1g)", mean, sd);
    else
        cli_table_add_real(t, "%.3g", mean);
}

/* the first row of a point has its x */
static void add_row(cli_table *t, const study *s, size_t point, size_t series)
{
    const study_panel *panel = cli_study_panel(s, point);
    const study_row *row = &s->rows[point][series];
    int is_limit = series == STUDY_LIMIT;
    if (series == 0)
        cli_table_add(t, "%.15g", s->points[point].x);
    else
        cli_table_add(t, "%s", "");
    cli_table_add(t, "%s", is_limit ? "limit" : panel->series[series].name);
    for (const int *k = panel->shows; *k >= 0; k++)
        add_value(t, &s->kind->metrics[*k], row->mean[*k], row->sd[*k]);
    if (is_limit)
        cli_table_add(t, "%s", "");
    else
        cli_table_add(t, "%zu", row->lost);
}

static void print_panel(const study *s, size_t which, cli_table *t)
{
    const study_panel *panel = &s->kind->panels[which];
    char titles[160], align[STUDY_METRICS + 4] = "rl";
    printf("%s varies, %s\n", panel->varies, s->fixed[which]);
    size_t used = (size_t)snprintf(titles, sizeof titles, "%s|", panel->varies), columns = 2;
    for (const int *k = panel->shows; *k >= 0; k++) {
        used +=
            (size_t)snprintf(titles + used, sizeof titles - used, "|%s", s->kind->metrics[*k].name);
        align[columns++] = 'r';
    }
    snprintf(titles + used, sizeof titles - used, "|%s", s->kind->lost_name);
    align[columns] = 'r';
    cli_table_titles(t, titles);
    for (size_t p = 0; p < s->count; p++) {
        if (s->points[p].panel != which)
            continue;
        for (size_t i = 0; i < panel->count; i++)
            add_row(t, s, p, i);
        if (panel->limit)
            add_row(t, s, p, STUDY_LIMIT);
    }
    cli_table_print(t, align);
    putchar('\n');
}

int cli_study_print(const study *s)
{
    CLI_MEMORY cli_table *t = malloc(sizeof *t); /* too large for a stack */
    if (!t)
        return cli_no_memory_for("the tables");
    s->kind->print_head(s);
    for (size_t panel = 0; panel < s->kind->panel_count; panel++)
        print_panel(s, panel, t);
    s->kind->print_end(s);
    return 0;
}

/* ---- JSON ---------------------------------------------------------------------------- */

static void put_key(cli_json *json, const char *name, double key)
{
    if (key >= 0 && key < 0x1p53 && key == floor(key))
        cli_json_whole(json, name, (uint64_t)key);
    else
        cli_json_real(json, name, key);
}

static void put_metrics(cli_json *json, const study_kind *kind, const char *ending,
                        const double x[STUDY_METRICS])
{
    char key[48];
    for (size_t k = 0; k < kind->metric_count; k++) {
        snprintf(key, sizeof key, "%s%s", kind->metrics[k].key, ending);
        cli_json_real(json, key, x[k]);
    }
}

static cli_json row_json(const study *s, size_t point, size_t series)
{
    const study_kind *kind = s->kind;
    const study_panel *panel = cli_study_panel(s, point);
    const study_row *row = &s->rows[point][series];
    cli_json one = {.object = json_object()};
    cli_json_text(&one, "panel", panel->key);
    for (size_t i = 0; kind->keys[i]; i++)
        put_key(&one, kind->keys[i], s->points[point].key[series][i]);
    cli_json_text(&one, "method", panel->series[series].key);
    put_metrics(&one, kind, "", row->mean);
    put_metrics(&one, kind, "_sd", row->sd);
    put_metrics(&one, kind, "_limit", s->rows[point][STUDY_LIMIT].mean);
    cli_json_whole(&one, kind->lost, row->lost);
    cli_json_real(&one, "fit_seconds", row->seconds);
    return one;
}

cli_json cli_study_json(const study *s)
{
    cli_json json = cli_json_start("reproduce");
    json_t *rows = json_array();
    for (size_t p = 0; p < s->count; p++)
        for (size_t i = 0; i < cli_study_panel(s, p)->count; i++) {
            cli_json one = row_json(s, p, i);
            cli_json_append_object(&json, rows, &one);
        }
    cli_json_text(&json, "kind", s->kind->name);
    cli_json_whole(&json, "runs", s->runs);
    cli_json_whole(&json, "seed", s->seed);
    cli_json_put(&json, "quick", json_boolean(s->quick));
    cli_json_text(&json, "run_seed", "1000000 seed + 1000 point + run, both from 1 on, mod 2^63");
    if (s->kind->json)
        s->kind->json(s, &json);
    cli_json_put(&json, "rows", rows);
    cli_json_put(&json, "warnings", json_array());
    return json;
}
