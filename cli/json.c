/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <math.h>
#include <stdio.h>

#include "escape.h"
#include "flags.h"
#include "talk.h"

static void *take(size_t size)
{
    return unrelu_alloc(1, size);
}

cli_json cli_json_start(const char *command)
{
    json_set_alloc_funcs(take, unrelu_free); /* so that --max-memory counts it */
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

/* A name in a CSV file need not be UTF-8, and JSON must be. */
json_t *cli_json_string(const char *text)
{
    char clean[512];
    if (cli_is_utf8(text))
        return json_string(text);
    size_t i = 0;
    for (; text[i] && i + 1 < sizeof clean; i++)
        clean[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    clean[i] = '\0';
    return json_string(clean);
}

void cli_json_text(cli_json *json, const char *key, const char *text)
{
    cli_json_put(json, key, text ? cli_json_string(text) : json_null());
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

void cli_json_append_object(cli_json *json, json_t *array, const cli_json *object)
{
    json->failed |= object->failed;
    cli_json_append(json, array, object->object);
}

void cli_json_reals(cli_json *json, const char *key, const double *values, size_t count)
{
    json_t *array = values ? json_array() : json_null();
    for (size_t i = 0; values && i < count; i++)
        cli_json_append(json, array, cli_json_number(values[i]));
    cli_json_put(json, key, array);
}

json_t *cli_json_codes(cli_json *json, uint32_t flags)
{
    json_t *codes = json_array();
    for (int bit = 0; *unrelu_flag_name(bit); bit++)
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
        cli_json_append_object(json, array, &one);
    }
    cli_json_put(json, "warnings", array);
}

/* Into memory of its full length: json_dumps, which lets its text grow, leaves out parts of keys
 * where it cannot. */
char *cli_json_dump(cli_json *json, size_t *length)
{
    static const size_t flags = JSON_INDENT(1) | JSON_REAL_PRECISION(6);
    *length = json->failed ? 0 : json_dumpb(json->object, NULL, 0, flags);
    char *text = *length ? unrelu_alloc(*length, 1) : NULL;
    int whole = text && json_dumpb(json->object, text, *length, flags) == *length;
    json_decref(json->object);
    if (whole)
        return text;
    unrelu_free(text);
    return NULL;
}

int cli_json_finish(cli_json *json)
{
    cli_json_real(json, "seconds", cli_seconds());
    int failed = json->failed;
    if (!failed)
        failed = json_dumpf(json->object, stdout, JSON_REAL_PRECISION(17)) != 0 && !ferror(stdout);
    json_decref(json->object);
    if (failed)
        return cli_no_memory_for("the JSON text");
    putchar('\n'); /* a failure to write is seen when standard output is flushed */
    return 0;
}
