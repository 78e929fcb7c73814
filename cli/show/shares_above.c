/* SPDX-License-Identifier: Apache-2.0 */
#include "shares_above.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "escape.h"
#include "model_text.h"
#include "scope.h"

typedef struct {
    char text[32];
} short_name;

/* of a model without names, as tables show it */
static const char *name_of(const unrelu_gaussian *m, size_t i, short_name *room)
{
    snprintf(room->text, sizeof room->text, "x%zu", i + 1);
    return m->names ? m->names[i] : room->text;
}

static int find_column(const unrelu_gaussian *m, const char *name, size_t *column)
{
    short_name room;
    for (*column = 0; *column < m->d; ++*column)
        if (strcmp(name_of(m, *column, &room), name) == 0)
            return 0;
    return cli_usage("--exceed: the model has no column '%s'; its columns are '%s'%s", name,
                     name_of(m, 0, &room), m->d > 1 ? ", ..." : "");
}

static int add(const unrelu_gaussian *m, size_t column, double value, double level,
               cli_exceedances *out)
{
    cli_exceedance *one = &out->of[out->count];
    *one = (cli_exceedance){.column = column, .value = value};
    CLI_CALL(unrelu_gaussian_exceed(m, column, value, level, &one->share, one->ci, &err));
    out->count++;
    return 0;
}

static int add_item(const unrelu_gaussian *m, char *item, double level, cli_exceedances *out)
{
    char *equals = strrchr(item, '='); /* a name may have one */
    double value;
    size_t column;
    CLI_TRY(cli_parse_real("--exceed", equals ? equals + 1 : item, -DBL_MAX, DBL_MAX,
                           "a number: give NAME=V, or V for every column", &value));
    if (equals) {
        *equals = '\0';
        CLI_TRY(find_column(m, item, &column));
        return add(m, column, value, level, out);
    }
    for (column = 0; column < m->d; column++)
        CLI_TRY(add(m, column, value, level, out));
    return 0;
}

int cli_exceed(const unrelu_gaussian *m, const char *text, double level, cli_exceedances *out)
{
    unrelu_error none = {.text = "not enough memory for the shares of --exceed"};
    size_t items = 1;
    if (!text)
        return 0;
    for (const char *c = text; *c; c++)
        items += *c == ',';
    CLI_MEMORY char *copy = strdup(text);
    out->of = unrelu_alloc(items, m->d * sizeof *out->of);
    if (!copy || !out->of)
        return cli_exit(UNRELU_ENOMEM, &none);
    char *rest = copy, *item;
    while ((item = strsep(&rest, ",")))
        CLI_TRY(add_item(m, item, level, out));
    return 0;
}

void cli_free_exceedances(cli_exceedances *some)
{
    unrelu_free(some->of);
}

void cli_print_exceedances(const unrelu_gaussian *m, const cli_exceedances *some, double level)
{
    cli_table table;
    if (some->count == 0)
        return;
    cli_print("\nshare above a value, before censoring (in brackets %.4g %% intervals)\n",
              100 * level);
    cli_table_titles(&table, "column|above|share");
    for (size_t i = 0; i < some->count; i++) {
        const cli_exceedance *one = &some->of[i];
        cli_add_column_name(&table, m, one->column);
        cli_table_add(&table, "%.6g", one->value);
        if (isnan(one->share))
            cli_table_add(&table, "-");
        else if (isnan(one->ci[0]) || isnan(one->ci[1]))
            cli_table_add(&table, "%.3g %%", 100 * one->share);
        else
            cli_table_add(&table, "%.3g %% (%.3g to %.3g %%)", 100 * one->share, 100 * one->ci[0],
                          100 * one->ci[1]);
    }
    cli_table_print(&table, "lrr");
}

void cli_json_exceedances(cli_json *json, const unrelu_gaussian *m, const cli_exceedances *some)
{
    json_t *array = json_array();
    for (size_t i = 0; i < some->count; i++) {
        cli_json one = {.object = json_object()};
        short_name room;
        cli_json_text(&one, "column", name_of(m, some->of[i].column, &room));
        cli_json_real(&one, "value", some->of[i].value);
        cli_json_real(&one, "share", some->of[i].share);
        cli_json_reals(&one, "ci", some->of[i].ci, 2);
        cli_json_append_object(json, array, &one);
    }
    cli_json_put(json, "exceed", array);
}
