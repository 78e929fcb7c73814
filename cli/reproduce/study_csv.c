/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a study holds all that is known, so that a run that was interrupted goes on from it.
 * Numbers have six digits, and are rounded to them before anything else sees them: the results of a
 * run in two parts are those of one in a single part. Its columns:
 *   panel, the keys of the kind, method, runs, each metric and its deviation, the runs counted
 *   apart, the limits, seconds, seed, version */
#include "study.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "files.h"
#include "scope.h"

/* bytes of a head or key, fields of a row, bytes of one, at most */
enum { TEXT = 512, FIELDS = 64, LINE = 2048 };

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

/* the line that is read: its fields, and what its columns are called */
typedef struct {
    const char *path;
    size_t number;
    char *field[FIELDS];
    char *name[FIELDS];
    line head; /* of the names */
} row_of_text;

static int refuse_field(const row_of_text *r, size_t i, const char *want)
{
    char why[2 * TEXT];
    snprintf(why, sizeof why, "has '%.40s' in the column %s, which is not %s", r->field[i],
             r->name[i], want);
    return refuse_content(r->path, r->number, why);
}

/* An empty field is NaN. Others are as they were written: a digit, and what may follow; no sign,
 * blank, hexadecimal digit, nan or inf. */
static int get_number(const row_of_text *r, size_t i, double most, double *x)
{
    const char *text = r->field[i];
    char *end = NULL;
    *x = NAN;
    if (!*text)
        return 0;
    if (*text >= '0' && *text <= '9' && strspn(text, "0123456789.e+-") == strlen(text))
        *x = strtod(text, &end);
    return end && !*end && isfinite(*x) && *x <= most
               ? 0
               : refuse_field(r, i, most == 1 ? "a number from 0 to 1" : "a number of at least 0");
}

static int get_whole(const row_of_text *r, size_t i, unsigned long long most, unsigned long long *x)
{
    const char *text = r->field[i];
    char want[64];
    int digits = *text && strspn(text, "0123456789") == strlen(text);
    errno = 0;
    *x = strtoull(text, NULL, 10);
    snprintf(want, sizeof want, "a whole number up to %llu", most);
    return digits && errno == 0 && *x <= most ? 0 : refuse_field(r, i, want);
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

/* fields from that of the first metric on */
static int take_numbers(study *s, size_t point, size_t series, const row_of_text *r, size_t i)
{
    const study_metric *metrics = s->kind->metrics;
    study_row *row = &s->rows[point][series];
    unsigned long long lost = 0;
    for (size_t k = 0; k < s->kind->metric_count; k++) {
        CLI_TRY(get_number(r, i++, metrics[k].is_share ? 1 : DBL_MAX, &row->mean[k]));
        CLI_TRY(get_number(r, i++, DBL_MAX, &row->sd[k]));
    }
    CLI_TRY(get_whole(r, i++, s->runs, &lost));
    row->lost = lost;
    for (size_t k = 0; k < s->kind->metric_count; k++)
        if (metrics[k].limit)
            CLI_TRY(get_number(r, i++, metrics[k].is_share ? 1 : DBL_MAX,
                               &s->rows[point][STUDY_LIMIT].mean[k]));
    CLI_TRY(get_number(r, i, DBL_MAX, &row->seconds));
    row->done = 1;
    return 0;
}

static size_t split(char *text, char **field)
{
    size_t count = 0;
    while (text && count < FIELDS)
        field[count++] = strsep(&text, ",");
    return text ? FIELDS + 1 : count;
}

static int take_line(study *s, const char *path, size_t number, char *text)
{
    row_of_text r = {.path = path, .number = number, .head = header(s->kind)};
    char why[64];
    size_t wanted = split(r.head.text, r.name), first = 2, point = 0, series = 0;
    unsigned long long seed = 0, runs = 0;
    int found = find_row(s, text, &point, &series);
    while (s->kind->keys[first - 2])
        first++; /* panel, keys, method */
    if (split(text, r.field) != wanted)
        return refuse_content(path, number, "is not a row of this table");
    CLI_TRY(get_whole(&r, wanted - 2, INT64_MAX, &seed));
    CLI_TRY(get_whole(&r, first, STUDY_MOST_RUNS, &runs));
    if (seed != s->seed)
        return refuse_settings(path, number, "is of another --seed");
    if (runs != s->runs)
        return refuse_settings(path, number, "is of another number of --runs");
    if (strcmp(r.field[wanted - 1], unrelu_version()) != 0)
        return refuse_settings(path, number, "is of another version of unrelu");
    snprintf(why, sizeof why, "is no point of %s%s", s->quick ? "--quick" : "the full ",
             s->quick ? "" : s->kind->figure);
    if (!found)
        return refuse_settings(path, number, why);
    if (s->rows[point][series].done)
        return refuse_content(path, number, "is of a point that stands above it already");
    return take_numbers(s, point, series, &r, first + 1);
}

static void close_file(FILE **file)
{
    if (*file)
        fclose(*file);
}

/* a line without its end; *more: 0 after the last */
static int read_line(FILE *file, const char *path, size_t number, char *text, int *more)
{
    size_t size = 0;
    int c = getc(file);
    for (*more = c != EOF; c != EOF && c != '\n'; c = getc(file)) {
        if (c == '\0' || size + 1 == LINE)
            return refuse_content(path, number,
                                  c ? "is too long for this table" : "has a byte of value 0");
        text[size++] = (char)c;
    }
    if (size > 0 && text[size - 1] == '\r')
        size--;
    text[size] = '\0';
    return 0;
}

int cli_study_load(study *s, const char *path)
{
    char text[LINE];
    struct stat is;
    int more = 1;
    if (stat(path, &is) == 0 && !S_ISREG(is.st_mode) && !S_ISDIR(is.st_mode))
        return cli_refuse_file("%s is no file that a study could go on from: a device or a pipe",
                               path);
    CLI_SCOPE(close_file) FILE *file = fopen(path, "r");
    line head = header(s->kind);
    if (!file && errno == ENOENT)
        return 0;
    if (!file)
        return cli_refuse_file("cannot open %s: %s", path, strerror(errno));
    for (size_t number = 1;; number++) {
        CLI_TRY(read_line(file, path, number, text, &more));
        if (!more)
            break;
        if (number > 1)
            CLI_TRY(take_line(s, path, number, text));
        else if (strcmp(text, head.text) != 0)
            return refuse_content(path, number, "is not the head of this table");
    }
    return ferror(file) ? cli_refuse_file("cannot read %s: %s", path, strerror(errno)) : 0;
}
