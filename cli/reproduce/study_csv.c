/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a study holds all that is known, so that a run that was interrupted goes on from it.
 * Numbers have six digits, and are rounded to them before anything else sees them: the results of a
 * run in two parts are those of one in a single part. Its columns:
 *   panel, the keys of the kind, method, runs, each metric and its deviation, the runs counted
 *   apart, the limits, seconds, seed, version */
#include "study.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "files.h"
#include "scope.h"

enum { TEXT = 512, FIELDS = 64 }; /* bytes of a head or key, fields of a row, at most */

typedef struct {
    char text[TEXT];
} line;

static void append(line *l, const char *format, const char *text)
{
    size_t used = strlen(l->text);
    snprintf(l->text + used, sizeof l->text - used, format, text);
}

static line header(const study_kind *kind)
{
    line l = {"panel"};
    for (size_t i = 0; kind->keys[i]; i++)
        append(&l, ",%s", kind->keys[i]);
    append(&l, "%s", ",method,runs");
    for (size_t k = 0; k < kind->metric_count; k++) {
        append(&l, ",%s", kind->metrics[k].key);
        append(&l, ",%s_sd", kind->metrics[k].key);
    }
    append(&l, ",%s", kind->lost);
    for (size_t k = 0; k < kind->metric_count; k++)
        if (kind->metrics[k].limit)
            append(&l, ",%s", kind->metrics[k].limit);
    append(&l, "%s", ",seconds,seed,version");
    return l;
}

/* what a row begins with: panel,n,d,kappa,method, */
static line row_key(const study *s, size_t point, size_t series)
{
    const study_panel *panel = cli_study_panel(s, point);
    line l = {0};
    append(&l, "%s", panel->key);
    for (size_t i = 0; s->kind->keys[i]; i++) {
        char number[32] = "";
        double key = s->points[point].key[series][i];
        if (isfinite(key))
            snprintf(number, sizeof number, "%.15g", key);
        append(&l, ",%s", number);
    }
    append(&l, ",%s,", panel->series[series].key);
    return l;
}

/* ---- writing ------------------------------------------------------------------------- */

static void put_number(FILE *out, double x)
{
    if (isfinite(x))
        fprintf(out, ",%.6g", x);
    else
        fputc(',', out);
}

static void put_row(FILE *out, const study *s, size_t point, size_t series)
{
    const study_kind *kind = s->kind;
    const study_row *rows = s->rows[point], *row = &rows[series];
    line key = row_key(s, point, series);
    fprintf(out, "%s%zu", key.text, s->runs);
    for (size_t k = 0; k < kind->metric_count; k++) {
        put_number(out, row->mean[k]);
        put_number(out, row->sd[k]);
    }
    fprintf(out, ",%zu", row->lost);
    for (size_t k = 0; k < kind->metric_count; k++)
        if (kind->metrics[k].limit)
            put_number(out, rows[STUDY_LIMIT].mean[k]);
    put_number(out, row->seconds);
    fprintf(out, ",%llu,%s\n", (unsigned long long)s->seed, unrelu_version());
}

int cli_study_save(const study *s, const char *path)
{
    CLI_MEMORY char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return cli_no_memory();
    line head = header(s->kind);
    fprintf(out, "%s\n", head.text);
    for (size_t p = 0; p < s->count; p++)
        for (size_t i = 0; i < cli_study_panel(s, p)->count && cli_study_is_done(s, p); i++)
            put_row(out, s, p, i);
    int failed = ferror(out);
    return fclose(out) == 0 && !failed ? cli_write_file(path, text, size) : cli_no_memory();
}

/* ---- reading ------------------------------------------------------------------------- */

static int refuse_settings(const char *path, size_t number, const char *why)
{
    return cli_usage("%s: line %zu %s; go on with the settings it was made with, give another -o, "
                     "or start anew with --restart",
                     path, number, why);
}

static int refuse_content(const char *path, size_t number, const char *why)
{
    return cli_refuse_file("%s: line %zu %s; give another -o, or start anew with --restart", path,
                           number, why);
}

static int get_number(const char *text, double *x)
{
    char *end;
    *x = *text ? strtod(text, &end) : NAN;
    return !*text || (end != text && !*end);
}

/* which row a line is of; 0: of none */
static int find_row(const study *s, const char *text, size_t *point, size_t *series)
{
    for (size_t p = 0; p < s->count; p++)
        for (size_t i = 0; i < cli_study_panel(s, p)->count; i++) {
            line key = row_key(s, p, i);
            if (strncmp(text, key.text, strlen(key.text)) == 0) {
                *point = p;
                *series = i;
                return 1;
            }
        }
    return 0;
}

/* fields from that of the first metric on; 0: one is no number */
static int take_numbers(study *s, size_t point, size_t series, char *const *field)
{
    const study_kind *kind = s->kind;
    study_row *row = &s->rows[point][series];
    char *end;
    int good = 1;
    for (size_t k = 0; k < kind->metric_count; k++) {
        good &= get_number(*field++, &row->mean[k]);
        good &= get_number(*field++, &row->sd[k]);
    }
    row->lost = strtoul(*field, &end, 10);
    good &= end != *field && !*end;
    field++;
    for (size_t k = 0; k < kind->metric_count; k++)
        if (kind->metrics[k].limit)
            good &= get_number(*field++, &s->rows[point][STUDY_LIMIT].mean[k]);
    good &= get_number(*field, &row->seconds);
    row->done = good;
    return good;
}

static int take_line(study *s, const char *path, size_t number, char *text)
{
    char *field[FIELDS], *rest = text, why[64];
    line head = header(s->kind);
    size_t count = 0, wanted = 1, first = 2, point = 0, series = 0;
    int found = find_row(s, text, &point, &series);
    for (const char *c = head.text; *c; c++)
        wanted += *c == ',';
    while (s->kind->keys[first - 2])
        first++; /* panel, keys, method */
    while (rest && count < FIELDS)
        field[count++] = strsep(&rest, ",");
    if (count != wanted || rest)
        return refuse_content(path, number, "is not a row of this table");
    if (strtoull(field[wanted - 2], NULL, 10) != s->seed)
        return refuse_settings(path, number, "is of another --seed");
    if (strtoull(field[first], NULL, 10) != s->runs)
        return refuse_settings(path, number, "is of another number of --runs");
    if (strcmp(field[wanted - 1], unrelu_version()) != 0)
        return refuse_settings(path, number, "is of another version of unrelu");
    snprintf(why, sizeof why, "is no point of %s%s", s->quick ? "--quick" : "the full ",
             s->quick ? "" : s->kind->figure);
    if (!found)
        return refuse_settings(path, number, why);
    return take_numbers(s, point, series, field + first + 1)
               ? 0
               : refuse_content(path, number, "has a field that is not a number");
}

static void close_file(FILE **file)
{
    if (*file)
        fclose(*file);
}

int cli_study_load(study *s, const char *path)
{
    CLI_MEMORY char *text = NULL;
    CLI_SCOPE(close_file) FILE *file = fopen(path, "r");
    line head = header(s->kind);
    size_t size = 0, number = 0;
    if (!file && errno == ENOENT)
        return 0;
    if (!file)
        return cli_refuse_file("cannot open %s: %s", path, strerror(errno));
    while (getline(&text, &size, file) > 0) {
        text[strcspn(text, "\r\n")] = '\0';
        if (++number > 1)
            CLI_TRY(take_line(s, path, number, text));
        else if (strcmp(text, head.text) != 0)
            return refuse_content(path, number, "is not the head of this table");
    }
    return ferror(file) ? cli_refuse_file("cannot read %s: %s", path, strerror(errno)) : 0;
}
