/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "flags.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model_text.h"
#include "table.h"
#include "verdict_text.h"
#include "width.h"

enum {
    MANY = 40,  /* columns from which on not all are shown, but */
    FIRST = 20, /* the first of them and */
    OTHERS = 20,
    NAMED = 6, /* columns in a sentence */
};

#define MANY_TIES 0.5

/* ---- what is right and what is not -------------------------------------------------- */

/* 5 % over all columns; p-values are multiples of 0.001 */
double cli_check_level(const cli_check_findings *f)
{
    return fmax(0.05 / (double)(f->model.d ? f->model.d : 1), 0.002);
}

double cli_check_value(const cli_check_findings *f, const double *values, size_t j)
{
    return values && f->place[j] < f->model.d ? values[f->place[j]] : NAN;
}

cli_look cli_check_look(const cli_check_findings *f, size_t j)
{
    double ks = f->ks[j], p = f->ks_p[j];
    if (!isfinite(ks) || !isfinite(p))
        return CLI_NOT_JUDGED;
    return p < cli_check_level(f) && ks >= CLI_CHECK_DISTANCE ? CLI_LOOKS_WRONG : CLI_LOOKS_RIGHT;
}

void cli_check_transform(const unrelu_transform_advice *advice, char *text, size_t size)
{
    text[0] = '\0';
    if (advice->values == 0 || (isnan(advice->lambda) && isnan(advice->lost[0])))
        return;
    if (advice->transform == UNRELU_TRANSFORM_BOXCOX && isfinite(advice->lambda))
        snprintf(text, size, "boxcox:%.2f", advice->lambda);
    else
        snprintf(text, size, "%s", unrelu_transform_name(advice->transform));
}

/* ---- the sentence ------------------------------------------------------------------- */

static size_t count_looks(const cli_check_findings *f, cli_look look)
{
    size_t count = 0;
    for (size_t j = 0; j < f->d; j++)
        count += cli_check_look(f, j) == look;
    return count;
}

static void append(char *text, size_t size, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", more);
}

static void append_names(const cli_check_findings *f, char *text, size_t size)
{
    size_t listed = 0;
    for (size_t j = 0; j < f->d; j++) {
        char name[64];
        if (cli_check_look(f, j) != CLI_LOOKS_WRONG || listed++ > NAMED)
            continue;
        snprintf(name, sizeof name, "%.40s", unrelu_source_name(f->samples, j));
        append(text, size, listed == 1 ? ": " : ", ");
        append(text, size, listed > NAMED ? "..." : name);
    }
}

static void append_transform(const cli_check_findings *f, size_t wrong, char *text, size_t size)
{
    char name[32], more[128];
    cli_check_transform(&f->advice[f->d], name, sizeof name);
    if (!*name || strcmp(name, "none") == 0)
        return;
    snprintf(more, sizeof more, wrong ? "; try --transform %s" : "; --transform %s fits better",
             name);
    append(text, size, more);
}

void cli_check_verdict(const cli_check_findings *f, char *text, size_t size)
{
    size_t wrong = count_looks(f, CLI_LOOKS_WRONG), right = count_looks(f, CLI_LOOKS_RIGHT);
    size_t judged = wrong + right;
    if (judged == 0)
        snprintf(text, size, "no column could be judged");
    else if (wrong > 0 && judged == 1)
        snprintf(text, size, "the column does not look like a rectified Gaussian");
    else if (wrong > 0)
        snprintf(text, size, "%zu of %zu columns %s not look like a rectified Gaussian", wrong,
                 judged, wrong == 1 ? "does" : "do");
    else
        snprintf(text, size, "%s%s like a rectified Gaussian",
                 judged == 1 ? "the column" : "all columns", judged == 1 ? " looks" : " look");
    if (wrong > 0)
        append_names(f, text, size);
    append_transform(f, wrong, text, size);
}

/* ---- the table ---------------------------------------------------------------------- */

static void add_number(cli_table *table, const char *format, double value)
{
    char text[32];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, format, value);
#pragma GCC diagnostic pop
    cli_table_add(table, "%s", isfinite(value) ? text : "-");
}

static void add_remarks(cli_table *table, const cli_check_findings *f, size_t j)
{
    char text[CLI_TABLE_CELL] = "";
    size_t i = f->place[j];
    if (i == f->model.d)
        append(text, sizeof text, "cannot be fitted");
    if (cli_check_look(f, j) == CLI_LOOKS_WRONG)
        append(text, sizeof text,
               f->ties[j] > MANY_TIES ? "looks wrong (rounded?)" : "looks wrong");
    for (int bit = 0; bit < UNRELU_FLAG_COUNT && i < f->model.d && f->model.flags; bit++)
        if (f->model.flags[i] >> bit & 1) {
            append(text, sizeof text, *text ? ", " : "");
            append(text, sizeof text, unrelu_flag_name(bit));
        }
    cli_table_add(table, "%s", text);
}

static void add_column(cli_table *table, const cli_check_findings *f, size_t j)
{
    char transform[32];
    size_t i = f->place[j];
    cli_check_transform(&f->advice[j], transform, sizeof transform);
    cli_table_add_name(table, unrelu_source_name(f->samples, j));
    add_number(table, "%.1f %%", i < f->model.d ? 100 * cli_censored_share(&f->model, i) : NAN);
    add_number(table, "%.3f", f->ks[j]);
    add_number(table, "%.3f", f->ks_p[j]);
    add_number(table, "%.1f %%", 100 * f->ties[j]);
    cli_table_add(table, "%s", *transform ? transform : "-");
    add_remarks(table, f, j);
}

static int is_shown(const cli_check_findings *f, size_t j, size_t *others)
{
    size_t i = f->place[j];
    if (f->d <= MANY || j < FIRST)
        return 1;
    if (cli_check_look(f, j) != CLI_LOOKS_WRONG && i < f->model.d &&
        !(f->model.flags && f->model.flags[i]))
        return 0;
    return (*others)++ < OTHERS;
}

static void print_columns(const cli_check_findings *f)
{
    static const char *const titles[] = {"column", "censored",  "KS",     "p",
                                         "ties",   "transform", "remarks"};
    cli_table table;
    size_t shown = 0, others = 0;
    cli_table_start(&table, 7);
    for (size_t k = 0; k < 7; k++)
        cli_table_add(&table, "%s", titles[k]);
    for (size_t j = 0; j < f->d; j++)
        if (is_shown(f, j, &others)) {
            shown++;
            add_column(&table, f, j);
        }
    cli_table_print(&table, "lrrrrll");
    if (shown < f->d)
        printf("  ... the first %d and some that stand out of %zu columns: --json has all\n", FIRST,
               f->d);
}

static void print_warnings(const unrelu_gaussian *m)
{
    printf("\n%s\n", m->warning_count ? "a fit would warn:" : "a fit would not warn");
    for (size_t i = 0; i < m->warning_count; i++) {
        printf("  %s: ", m->warnings[i].code);
        cli_print_wrapped(cli_flagged(m->warnings[i].message).text,
                          (int)strlen(m->warnings[i].code) + 4, 4);
    }
}

static void print_left_out(const cli_check_findings *f)
{
    for (size_t j = 0; j < f->d; j++)
        if (f->place[j] >= f->model.d) {
            printf(
                "a fit stops at column %s, which cannot be fitted, unless --drop leaves it out\n",
                unrelu_source_name(f->samples, j));
            return;
        }
}

void cli_print_check(const cli_check_findings *f)
{
    char verdict[640];
    printf("%zu rows, %zu column%s; KS is the largest distance of the distribution from the fitted "
           "one,\np the share of samples of the fitted one that are as far from theirs\n\n",
           f->model.n, f->d, cli_plural(f->d));
    print_columns(f);
    print_warnings(&f->model);
    print_left_out(f);
    putchar('\n');
    cli_check_verdict(f, verdict, sizeof verdict);
    cli_print_wrapped(verdict, 0, 0);
}
