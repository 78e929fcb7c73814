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

unrelu_source_options cli_reading(const cli_shared *shared, const cli_limits *limits, int once)
{
    return (unrelu_source_options){.size = sizeof(unrelu_source_options),
                                   .columns = shared->columns,
                                   .single_pass = once,
                                   .indicator = limits->indicator,
                                   .uncensored = limits->uncensored,
                                   .top = limits->top,
                                   .na = limits->na,
                                   .complete = limits->complete};
}

/* the file of limits has the names of the samples' columns, and limits alone in them */
static int open_limits(const cli_shared *shared, const cli_limits *limits, int once,
                       const unrelu_gaussian *model, cli_limited *samples)
{
    const unrelu_source_options reading = {.size = sizeof reading,
                                           .columns = shared->columns,
                                           .single_pass = once,
                                           .indicator = model ? "" : NULL,
                                           .top = model ? "" : NULL,
                                           .na = limits->na};
    if (limits->file)
        CLI_CALL(cli_open_samples(limits->file, &reading, model, &samples->limits, &err));
    return 0;
}

int cli_open_limited(const cli_shared *shared, const char *path, const cli_limits *limits, int once,
                     const unrelu_gaussian *model, cli_limited *samples)
{
    const unrelu_source_options reading = cli_reading(shared, limits, once);
    *samples = (cli_limited){0};
    CLI_CALL(cli_open_samples(path, &reading, model, &samples->source, &err));
    CLI_TRY(open_limits(shared, limits, once, model, samples));
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
