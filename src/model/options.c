/* SPDX-License-Identifier: Apache-2.0 */
#include "model/options.h"

#include "base/error.h"
#include "base/text.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* "a|b|c" as "a, b, c" */
static void list_words(const char *words, char *out, size_t size)
{
    size_t used = 0;
    for (; *words && used + 3 < size; words++) {
        out[used++] = *words == '|' ? ',' : *words;
        if (*words == '|')
            out[used++] = ' ';
    }
    out[used] = '\0';
}

static const char *wanted(const ur_option *o, char *text, size_t size)
{
    char words[256];
    if (o->type != UR_OPTION_CHOICE)
        return o->want;
    list_words(o->words, words, sizeof words);
    snprintf(text, size, "one of %s", words);
    return text;
}

static int in_range(const ur_option *o, double value)
{
    return value >= o->least && value <= o->most;
}

/* 1e6 is a whole number too */
static int read_whole(const ur_option *o, const char *text, double *value)
{
    return ur_text_number(text, value) && *value == floor(*value) && in_range(o, *value);
}

static int read_value(const ur_option *o, const char *text, void *field)
{
    double value = 0;
    uint64_t whole;
    int index, good = 1;
    switch (o->type) {
    case UR_OPTION_CHOICE:
        index = ur_text_index(o->words, text);
        good = index >= 0;
        if (good)
            memcpy(field, &index, sizeof index);
        return good;
    case UR_OPTION_YES:
        index = ur_text_index("no|yes|false|true|0|1", text);
        good = index >= 0;
        if (good)
            *(int *)field = index % 2;
        return good;
    case UR_OPTION_INT:
        good = read_whole(o, text, &value);
        if (good)
            *(int *)field = (int)value;
        return good;
    case UR_OPTION_SIZE:
        good = read_whole(o, text, &value);
        if (good)
            *(size_t *)field = (size_t)value;
        return good;
    case UR_OPTION_REAL:
        good = ur_text_number(text, &value) && in_range(o, value);
        if (good)
            *(double *)field = value;
        return good;
    case UR_OPTION_TEXT:
        good = *text != '\0';
        if (good)
            memcpy(field, &text, sizeof text);
        return good;
    default:
        good = ur_text_whole(text, &whole);
        if (good)
            *(uint64_t *)field = whole;
        return good;
    }
}

unrelu_status ur_option_set(const ur_option *table, void *options, const char *name,
                            const char *value, unrelu_error *err)
{
    char text[320];
    const ur_option *o = table;
    while (o->name && !ur_text_same_name(o->name, name))
        o++;
    if (!o->name)
        return ur_fail(err, UNRELU_EUSAGE, "there is no option '%.80s'", name);
    size_t known;
    memcpy(&known, options, sizeof known);
    if (o->offset >= known)
        return ur_fail(err, UNRELU_EUSAGE,
                       "options of %zu bytes have no `%s`: set them up with their _init function, "
                       "in a program compiled for this version",
                       known, o->name);
    void *field = (char *)options + o->offset;
    if (!value && o->type == UR_OPTION_YES) {
        *(int *)field = 1;
        return UNRELU_OK;
    }
    if (!value)
        return ur_fail(err, UNRELU_EUSAGE, "`%s` needs a value: %s", o->name,
                       wanted(o, text, sizeof text));
    if (o->type == UR_OPTION_OWN ? o->read(options, value) : read_value(o, value, field))
        return UNRELU_OK;
    return ur_fail(err, UNRELU_EUSAGE, "`%s`: '%.80s' is not %s", o->name, value,
                   wanted(o, text, sizeof text));
}

int ur_option_show(const ur_option *table, size_t i, unrelu_option *out)
{
    for (size_t j = 0; j <= i; j++)
        if (!table[j].name)
            return 0;
    *out =
        (unrelu_option){table[i].name, table[i].type == UR_OPTION_YES ? "no|yes" : table[i].words};
    return 1;
}

int ur_option_bias(const char *text, unrelu_bias_law *law, double *value)
{
    int word = ur_text_index("rectified|normal", text);
    double number = 0;
    if (word < 0 && !ur_text_number(text, &number))
        return 0;
    *law = word < 0 ? UNRELU_BIAS_FIXED : (unrelu_bias_law)word;
    *value = number;
    return 1;
}
