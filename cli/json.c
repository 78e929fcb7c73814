/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <math.h>
#include <stdio.h>

#include "flags.h"
#include "talk.h"

cli_json cli_json_start(const char *command)
{
    cli_json json = {.object = json_object()};
    cli_json_text(&json, "schema", "unrelu/1");
    cli_json_text(&json, "command", command);
    cli_json_text(&json, "version", unrelu_version());
    return json;
}

void cli_json_put(cli_json *json, const char *key, json_t *value)
{
    json->failed |= json_object_set_new(json->object, key, value) != 0;
}

/* A name in a CSV file need not be UTF-8, and JSON must be: then '?' for each byte beyond ASCII. */
static json_t *text_value(const char *text)
{
    char clean[512];
    json_t *value = json_string(text);
    if (value)
        return value;
    size_t i = 0;
    for (; text[i] && i + 1 < sizeof clean; i++)
        clean[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    clean[i] = '\0';
    return json_string(clean);
}

void cli_json_text(cli_json *json, const char *key, const char *text)
{
    cli_json_put(json, key, text ? text_value(text) : json_null());
}

void cli_json_whole(cli_json *json, const char *key, uint64_t value)
{
    cli_json_put(json, key, json_integer((json_int_t)value));
}

json_t *cli_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

void cli_json_real(cli_json *json, const char *key, double value)
{
    cli_json_put(json, key, cli_json_number(value));
}

void cli_json_append(cli_json *json, json_t *array, json_t *value)
{
    json->failed |= json_array_append_new(array, value) != 0;
}

void cli_json_reals(cli_json *json, const char *key, const double *values, size_t count)
{
    json_t *array = values ? json_array() : json_null();
    for (size_t i = 0; values && i < count; i++)
        cli_json_append(json, array, cli_json_number(values[i]));
    cli_json_put(json, key, array);
}

/* counts are doubles in the model, as they add up over shards */
static void put_counts(cli_json *json, const char *key, const double *values, size_t count)
{
    if (!values)
        return;
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        cli_json_append(json, array, json_integer((json_int_t)values[i]));
    cli_json_put(json, key, array);
}

static void put_names(cli_json *json, const unrelu_gaussian *m)
{
    json_t *array = json_array();
    for (size_t i = 0; i < m->d; i++)
        cli_json_append(json, array, text_value(m->names[i]));
    cli_json_put(json, "names", array);
}

json_t *cli_json_codes(cli_json *json, uint32_t flags)
{
    json_t *codes = json_array();
    for (int bit = 0; bit < UNRELU_FLAG_COUNT; bit++)
        if (flags >> bit & 1)
            cli_json_append(json, codes, json_string(unrelu_flag_name(bit)));
    return codes;
}

void cli_json_flags(cli_json *json, const unrelu_gaussian *m)
{
    json_t *array = json_array();
    for (size_t i = 0; i < m->d; i++)
        cli_json_append(json, array, cli_json_codes(json, m->flags[i]));
    cli_json_put(json, "flags", array);
}

void cli_json_warnings(cli_json *json, const unrelu_warning *warnings, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        cli_json one = {.object = json_object()};
        cli_json_text(&one, "code", warnings[i].code);
        cli_json_text(&one, "message", cli_flagged(warnings[i].message).text);
        json->failed |= one.failed;
        cli_json_append(json, array, one.object);
    }
    cli_json_put(json, "warnings", array);
}

/* the data's scale again */
static void put_quantile(cli_json *json, const char *key, const unrelu_gaussian *m, double z)
{
    json_t *array = json_array();
    for (size_t i = 0; i < m->d; i++)
        cli_json_append(json, array,
                        cli_json_number(unrelu_gaussian_back(m, i, m->b[i] + z * m->scale[i])));
    cli_json_put(json, key, array);
}

static void put_transform(cli_json *json, const unrelu_gaussian *m)
{
    const double z = 1.6448536269514722; /* of 95 % */
    cli_json_text(json, "transform", unrelu_transform_name(m->transform));
    if (m->lambda)
        cli_json_reals(json, "lambda", m->lambda, m->d);
    put_quantile(json, "median", m, 0);
    put_quantile(json, "quantile_05", m, -z);
    put_quantile(json, "quantile_95", m, z);
}

void cli_json_gaussian(cli_json *json, const unrelu_gaussian *m)
{
    const struct {
        const char *key;
        const double *values;
    } arrays[] = {
        {"b", m->b},
        {"b_se", m->b_se},
        {"scale", m->scale},
        {"scale_se", m->scale_se},
        {"limit", m->limit},
        {"noise", m->noise},
        {"eigenvalues", m->eigenvalues},
        {"eigenvalues_se", m->eigenvalues_se},
    };
    cli_json_text(json, "kind", "rectified-gaussian");
    cli_json_whole(json, "n", m->n);
    cli_json_whole(json, "d", m->d);
    cli_json_text(json, "method", m->method);
    cli_json_text(json, "norms", m->norms);
    cli_json_text(json, "angles", m->angles);
    cli_json_whole(json, "seed", m->seed);
    if (m->names)
        put_names(json, m);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (arrays[i].values)
            cli_json_reals(json, arrays[i].key, arrays[i].values, m->d);
    if (m->transform != UNRELU_TRANSFORM_NONE)
        put_transform(json, m);
    put_counts(json, "observed", m->observed, m->d);
    put_counts(json, "positive", m->positive, m->d);
    if (m->flags)
        cli_json_flags(json, m);
    cli_json_real(json, "lambda_min", m->lambda_min);
    cli_json_put(json, "repaired", json_boolean(m->repaired));
    if (m->k) {
        cli_json_whole(json, "k", m->k);
        cli_json_text(json, "how_k", cli_flagged(m->how_k).text);
    }
    cli_json_whole(json, "rows_dropped", m->rows_dropped);
    cli_json_warnings(json, m->warnings, m->warning_count);
}

int cli_json_finish(cli_json *json)
{
    cli_json_real(json, "seconds", cli_seconds());
    int failed = json->failed;
    if (!failed)
        failed = json_dumpf(json->object, stdout, JSON_REAL_PRECISION(17)) != 0 && !ferror(stdout);
    json_decref(json->object);
    if (failed) {
        cli_error("not enough memory for the JSON text");
        return CLI_EXIT_INTERNAL;
    }
    putchar('\n'); /* a failure to write is seen when standard output is flushed */
    return 0;
}
