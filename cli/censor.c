/* SPDX-License-Identifier: Apache-2.0 */
#include "censor.h"

#include <float.h>
#include <math.h>

#include "files.h"
#include "scope.h"

static size_t count_commas(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == ',';
    return count;
}

int cli_parse_limits(const char *text, double **limits, size_t *count)
{
    *limits = NULL;
    *count = 0;
    if (!text)
        return 1;
    char *copy = strdup(text), *rest = copy, *item;
    *limits = malloc((count_commas(text) + 1) * sizeof **limits);
    int good = copy && *limits;
    if (!good)
        cli_error("not enough memory");
    while (good && (item = strsep(&rest, ",")))
        good = cli_parse_real("--censor-at", item, -DBL_MAX, DBL_MAX, "a number",
                              &(*limits)[(*count)++]);
    free(copy);
    return good;
}

/* NAME=V; a name may hold an equals sign itself */
static int parse_limit(char *item, const unrelu_source *samples, double *limit)
{
    char *equals = strrchr(item, '=');
    size_t d = unrelu_source_columns(samples), found = d;
    double value;
    if (!equals) {
        cli_usage("--limit: '%s' is not NAME=VALUE", item);
        return 0;
    }
    *equals = '\0';
    for (size_t j = 0; j < d && found == d; j++)
        if (strcmp(unrelu_source_name(samples, j), item) == 0)
            found = j;
    char *end;
    unsigned long number = strtoul(item, &end, 10);
    if (found == d && *item && !*end && number >= 1 && number <= d)
        found = number - 1;
    if (found == d) {
        cli_usage("--limit: no column is called '%s'; the first is '%s'", item,
                  unrelu_source_name(samples, 0));
        return 0;
    }
    if (!cli_parse_real("--limit", equals + 1, -DBL_MAX, DBL_MAX, "a number", &value))
        return 0;
    limit[found] = value;
    return 1;
}

/* NAME=V with commas between; returns the exit status */
static int parse_named(const char *text, const unrelu_source *samples, double **limit)
{
    size_t d = unrelu_source_columns(samples);
    char *copy = strdup(text), *rest = copy, *item;
    *limit = malloc(d * sizeof **limit);
    int good = copy && *limit;
    if (!good)
        cli_error("not enough memory");
    for (size_t j = 0; j < d && good; j++)
        (*limit)[j] = NAN;
    while (good && (item = strsep(&rest, ",")))
        good = parse_limit(item, samples, *limit);
    int memory = copy && *limit;
    free(copy);
    return good ? 0 : memory ? CLI_EXIT_USAGE : CLI_EXIT_INTERNAL;
}

int cli_open_limited(const cli_shared *shared, const char *path, const cli_limits *limits, int once,
                     cli_limited *samples)
{
    *samples = (cli_limited){0};
    CLI_TRY(cli_open(path, shared->columns, once, &samples->source));
    if (limits->file)
        CLI_TRY(cli_open(limits->file, shared->columns, once, &samples->limits));
    return limits->named ? parse_named(limits->named, samples->source, &samples->limit) : 0;
}

void cli_close_limited(cli_limited *samples)
{
    cli_close(&samples->limits);
    cli_close(&samples->source);
    free(samples->limit);
}
