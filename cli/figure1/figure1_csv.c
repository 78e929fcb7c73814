/* SPDX-License-Identifier: Apache-2.0 */
/* figure1.csv holds all that is known, so that a run that was interrupted goes on from it. Numbers
 * have six digits, and are rounded to them before anything else sees them: the results of a run
 * in two parts are those of one in a single part. */
#include "figure1.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "files.h"
#include "scope.h"

static const char header[] =
    "panel,n,d,kappa,method,runs,err_b,err_b_sd,err_sigma,err_sigma_sd,sqrt_kl,sqrt_kl_sd,not_psd,"
    "limit_b,limit_sigma,limit_kl,seconds,seed,version";

enum { RUNS = 5, FIRST_METRIC, NOT_PSD = 12, FIRST_LIMIT, SECONDS = 16, SEED, VERSION, FIELDS };

enum { KEY = 128 }; /* bytes of what a row begins with: panel,n,d,kappa,method, */

static void put_key(const figure1 *f, size_t row, char key[KEY])
{
    const figure1_point *p = &f->points[row / FIGURE1_METHODS];
    snprintf(key, KEY, "%s,%zu,%zu,%zu,%s,", cli_figure1_panels[p->panel], p->n, p->d, p->kappa,
             cli_figure1_methods[row % FIGURE1_METHODS]);
}

/* ---- writing ------------------------------------------------------------------------- */

static void put_number(FILE *out, double x)
{
    if (isfinite(x))
        fprintf(out, ",%.6g", x);
    else
        fputc(',', out);
}

int cli_figure1_save(const figure1 *f, const char *path)
{
    CLI_MEMORY char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return cli_no_memory();
    fprintf(out, "%s\n", header);
    for (size_t i = 0; i < f->count * FIGURE1_METHODS; i++) {
        char key[KEY];
        const figure1_row *rows = f->rows[i / FIGURE1_METHODS], *row = &rows[i % FIGURE1_METHODS];
        if (!cli_figure1_is_done(f, i / FIGURE1_METHODS))
            continue;
        put_key(f, i, key);
        fprintf(out, "%s%zu", key, f->runs);
        for (int k = 0; k < FIGURE1_METRICS; k++) {
            put_number(out, row->mean[k]);
            put_number(out, row->sd[k]);
        }
        fprintf(out, ",%zu", row->not_psd);
        for (int k = 0; k < FIGURE1_METRICS; k++)
            put_number(out, rows[FIGURE1_LIMIT].mean[k]);
        put_number(out, row->seconds);
        fprintf(out, ",%llu,%s\n", (unsigned long long)f->seed, unrelu_version());
    }
    int failed = ferror(out);
    return fclose(out) == 0 && !failed ? cli_write_file(path, text, size) : cli_no_memory();
}

/* ---- reading ------------------------------------------------------------------------- */

static int refuse_settings(const char *path, size_t line, const char *why)
{
    return cli_usage("%s: line %zu %s; go on with the settings it was made with, give another -o, "
                     "or start anew with --restart",
                     path, line, why);
}

static int refuse_content(const char *path, size_t line, const char *why)
{
    return cli_refuse_file("%s: line %zu %s; give another -o, or start anew with --restart", path,
                           line, why);
}

static int get_number(const char *text, double *x)
{
    char *end;
    *x = *text ? strtod(text, &end) : NAN;
    return !*text || (end != text && !*end);
}

static int take_line(figure1 *f, const char *path, size_t number, char *line)
{
    char *field[FIELDS], *rest = line, *end, key[KEY];
    size_t count = 0, row = 0, rows = f->count * FIGURE1_METHODS;
    for (; row < rows; row++) {
        put_key(f, row, key);
        if (strncmp(line, key, strlen(key)) == 0)
            break;
    }
    while (rest && count < FIELDS)
        field[count++] = strsep(&rest, ",");
    if (count < FIELDS || rest)
        return refuse_content(path, number, "is not a row of this table");
    if (strtoull(field[SEED], NULL, 10) != f->seed)
        return refuse_settings(path, number, "is of another --seed");
    if (strtoull(field[RUNS], NULL, 10) != f->runs)
        return refuse_settings(path, number, "is of another number of --runs");
    if (strcmp(field[VERSION], unrelu_version()) != 0)
        return refuse_settings(path, number, "is of another version of unrelu");
    if (row == rows)
        return refuse_settings(
            path, number, f->quick ? "is no point of --quick" : "is no point of the full figure");
    figure1_row *all = f->rows[row / FIGURE1_METHODS], *one = &all[row % FIGURE1_METHODS];
    int good = get_number(field[SECONDS], &one->seconds);
    for (int k = 0; k < FIGURE1_METRICS; k++) {
        good &= get_number(field[FIRST_METRIC + 2 * k], &one->mean[k]);
        good &= get_number(field[FIRST_METRIC + 2 * k + 1], &one->sd[k]);
        good &= get_number(field[FIRST_LIMIT + k], &all[FIGURE1_LIMIT].mean[k]);
    }
    one->not_psd = strtoul(field[NOT_PSD], &end, 10);
    one->done = good && end != field[NOT_PSD] && !*end;
    return one->done ? 0 : refuse_content(path, number, "has a field that is not a number");
}

static void close_file(FILE **file)
{
    if (*file)
        fclose(*file);
}

int cli_figure1_load(figure1 *f, const char *path)
{
    CLI_MEMORY char *line = NULL;
    CLI_SCOPE(close_file) FILE *file = fopen(path, "r");
    size_t size = 0, number = 0;
    if (!file && errno == ENOENT)
        return 0;
    if (!file)
        return cli_refuse_file("cannot open %s: %s", path, strerror(errno));
    while (getline(&line, &size, file) > 0) {
        line[strcspn(line, "\r\n")] = '\0';
        if (++number > 1)
            CLI_TRY(take_line(f, path, number, line));
        else if (strcmp(line, header) != 0)
            return refuse_content(path, number, "is not the head of this table");
    }
    return ferror(file) ? cli_refuse_file("cannot read %s: %s", path, strerror(errno)) : 0;
}
