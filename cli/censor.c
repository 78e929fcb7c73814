/* SPDX-License-Identifier: Apache-2.0 */
#include "censor.h"

#include <float.h>
#include <math.h>

#include "files.h"
#include "scope.h"

int cli_parse_limits(const char *text, double **limits, size_t *count)
{
    *count = 0;
    if (!text)
        return 0;
    CLI_MEMORY char *copy = strdup(text);
    *limits = malloc((strlen(text) + 1) * sizeof **limits); /* more than enough */
    if (!copy || !*limits)
        return cli_no_memory();
    for (char *rest = copy, *item; (item = strsep(&rest, ","));)
        CLI_TRY(cli_parse_real("--censor-at", item, -DBL_MAX, DBL_MAX, "a number",
                               &(*limits)[(*count)++]));
    return 0;
}

/* NAME=V; a name may hold an equals sign itself */
static int parse_limit(char *item, const unrelu_source *samples, double *limit)
{
    char *equals = strrchr(item, '='), *end;
    size_t d = unrelu_source_columns(samples), found = 0;
    if (!equals)
        return cli_usage("--limit: '%s' is not NAME=VALUE", item);
    *equals = '\0';
    while (found < d && strcmp(unrelu_source_name(samples, found), item) != 0)
        found++;
    unsigned long number = strtoul(item, &end, 10);
    if (found == d && *item && !*end && number >= 1 && number <= d)
        found = number - 1;
    if (found == d)
        return cli_usage("--limit: no column is called '%s'; the first is '%s'", item,
                         unrelu_source_name(samples, 0));
    return cli_parse_real("--limit", equals + 1, -DBL_MAX, DBL_MAX, "a number", &limit[found]);
}

int cli_open_limited(const cli_shared *shared, const char *path, const cli_limits *limits, int once,
                     cli_limited *samples)
{
    *samples = (cli_limited){0};
    CLI_TRY(cli_open(path, shared->columns, once, &samples->source));
    if (limits->file)
        CLI_TRY(cli_open(limits->file, shared->columns, once, &samples->limits));
    if (!limits->named)
        return 0;
    size_t d = unrelu_source_columns(samples->source);
    CLI_MEMORY char *copy = strdup(limits->named);
    samples->limit = malloc(d * sizeof *samples->limit);
    if (!copy || !samples->limit)
        return cli_no_memory();
    for (size_t j = 0; j < d; j++)
        samples->limit[j] = NAN;
    for (char *rest = copy, *item; (item = strsep(&rest, ","));)
        CLI_TRY(parse_limit(item, samples->source, samples->limit));
    return 0;
}

void cli_close_limited(cli_limited *samples)
{
    cli_close(&samples->limits);
    cli_close(&samples->source);
    free(samples->limit);
}
