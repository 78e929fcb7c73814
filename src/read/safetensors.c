/* SPDX-License-Identifier: Apache-2.0 */
/* Of JSON only what such a header is made of: an object of objects, texts, lists of whole numbers.
 *   {"__metadata__": {"key": "text"}, "0.weight": {"dtype": "F32", "shape": [32, 10],
 *    "data_offsets": [0, 1280]}} */
#include "read/safetensors.h"

#include "base/error.h"
#include "base/limits.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *start, *at, *end;
    const char *label;
    uint64_t data; /* bytes behind the header */
    unrelu_error *err;
} scanner;

/* ---- characters ---- */

static unrelu_status refuse(const scanner *s, const char *wanted)
{
    return ur_fail(s->err, UNRELU_EFORMAT,
                   "%s: %s is needed at byte %zu of the header; the file is damaged, write it with "
                   "safetensors.torch.save_file",
                   s->label, wanted, (size_t)(s->at - s->start) + 1);
}

static void skip_space(scanner *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\r' || *s->at == '\t'))
        s->at++;
}

static int take_if(scanner *s, char c)
{
    skip_space(s);
    if (s->at == s->end || *s->at != c)
        return 0;
    s->at++;
    return 1;
}

static unrelu_status take(scanner *s, char c)
{
    const char wanted[] = {'\'', c, '\'', '\0'};
    return take_if(s, c) ? UNRELU_OK : refuse(s, wanted);
}

/* what lies between quotes, as it is spelled */
static unrelu_status take_string(scanner *s, const char **text, size_t *size)
{
    *size = 0;
    UR_TRY(take(s, '"'));
    *text = s->at;
    for (; s->at < s->end && *s->at != '"'; s->at++) {
        if ((unsigned char)*s->at < ' ')
            return refuse(s, "a text without control characters");
        if (*s->at == '\\' && ++s->at == s->end)
            break;
    }
    if (s->at == s->end)
        return refuse(s, "the end of a text");
    *size = (size_t)(s->at++ - *text);
    return UNRELU_OK;
}

static unrelu_status take_whole(scanner *s, uint64_t *value)
{
    skip_space(s);
    const char *first = s->at;
    for (*value = 0; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++)
        if (__builtin_mul_overflow(*value, (uint64_t)10, value) ||
            __builtin_add_overflow(*value, (uint64_t)(*s->at - '0'), value))
            return refuse(s, "a smaller number");
    return s->at > first ? UNRELU_OK : refuse(s, "a whole number");
}

/* [1, 2, 3]: the first `most` of them; *count: how many there are */
static unrelu_status take_list(scanner *s, size_t most, uint64_t *values, size_t *count)
{
    UR_TRY(take(s, '['));
    *count = 0;
    if (take_if(s, ']'))
        return UNRELU_OK;
    do {
        uint64_t value;
        UR_TRY(take_whole(s, &value));
        if (*count < most)
            values[*count] = value;
        ++*count;
    } while (take_if(s, ','));
    return take(s, ']');
}

static int is(const char *text, size_t size, const char *word)
{
    return size == strlen(word) && memcmp(text, word, size) == 0;
}

/* ---- one array ---- */

static ur_tensor_type type_of(const char *name)
{
    static const char *const names[] = {"F64", "F32", "F16", "BF16"};
    size_t i = 0;
    while (i < UR_TENSOR_OTHER && strcmp(name, names[i]) != 0)
        i++;
    return (ur_tensor_type)i;
}

size_t ur_safetensors_item(ur_tensor_type type)
{
    static const size_t items[] = {8, 4, 2, 2, 0};
    return items[type];
}

static unrelu_status take_type(scanner *s, ur_tensor *t)
{
    const char *text;
    size_t size;
    UR_TRY(take_string(s, &text, &size));
    if (size >= sizeof t->type_name)
        return refuse(s, "a type such as F32");
    memcpy(t->type_name, text, size);
    t->type_name[size] = '\0';
    t->type = type_of(t->type_name);
    return UNRELU_OK;
}

static unrelu_status take_shape(scanner *s, ur_tensor *t)
{
    uint64_t shape[4] = {0};
    UR_TRY(take_list(s, 4, shape, &t->ndim));
    for (size_t i = 0; i < 4; i++)
        t->shape[i] = (size_t)shape[i];
    return UNRELU_OK;
}

static unrelu_status take_place(scanner *s, ur_tensor *t)
{
    uint64_t place[2] = {0};
    size_t count;
    UR_TRY(take_list(s, 2, place, &count));
    if (count != 2)
        return refuse(s, "a list of two offsets");
    t->begin = place[0];
    t->end = place[1];
    return UNRELU_OK;
}

/* numbers of the shape; 0 where that is beyond all files */
static int count_of(const ur_tensor *t, size_t *count)
{
    *count = 1;
    for (size_t i = 0; i < t->ndim && i < 4; i++)
        if (__builtin_mul_overflow(*count, t->shape[i], count))
            return 0;
    return 1;
}

/* the bytes lie in the file, and are as many as type and shape say */
static unrelu_status check_place(const scanner *s, ur_tensor *t)
{
    size_t bytes = 0;
    if (t->begin > t->end || t->end > s->data)
        return ur_fail(s->err, UNRELU_EFORMAT,
                       "%s: '%.100s' lies at bytes %" PRIu64 " to %" PRIu64
                       ", and there are %" PRIu64 " behind the header; the file is cut short or "
                       "damaged, copy or write it again",
                       s->label, t->name, t->begin, t->end, s->data);
    if (t->type == UR_TENSOR_OTHER || t->ndim > 4)
        return UNRELU_OK;
    if (!count_of(t, &t->count) ||
        __builtin_mul_overflow(t->count, ur_safetensors_item(t->type), &bytes) ||
        bytes != t->end - t->begin)
        return ur_fail(s->err, UNRELU_EFORMAT,
                       "%s: '%.100s' has %" PRIu64 " bytes, which is not what its shape and type "
                       "(%s) take; the file is damaged, write it again",
                       s->label, t->name, t->end - t->begin, t->type_name);
    return UNRELU_OK;
}

static unrelu_status take_tensor(scanner *s, ur_tensor *t)
{
    enum { TYPE = 1, SHAPE = 2, PLACE = 4, ALL = 7 };
    unsigned seen = 0;
    UR_TRY(take(s, '{'));
    do {
        const char *key;
        size_t size;
        UR_TRY(take_string(s, &key, &size));
        UR_TRY(take(s, ':'));
        unsigned now = is(key, size, "dtype")          ? TYPE
                       : is(key, size, "shape")        ? SHAPE
                       : is(key, size, "data_offsets") ? PLACE
                                                       : 0;
        if (now == 0 || seen & now)
            return refuse(s, "dtype, shape and data_offsets, each once,");
        UR_TRY(now == TYPE ? take_type(s, t) : now == SHAPE ? take_shape(s, t) : take_place(s, t));
        seen |= now;
    } while (take_if(s, ','));
    if (seen != ALL)
        return refuse(s, "dtype, shape and data_offsets");
    UR_TRY(take(s, '}'));
    return check_place(s, t);
}

/* {"key": "text", ...}: what others say there is not looked at */
static unrelu_status take_metadata(scanner *s, ur_arena *arena, const char **activation)
{
    const char *key, *text;
    size_t length, size;
    UR_TRY(take(s, '{'));
    if (take_if(s, '}'))
        return UNRELU_OK;
    do {
        UR_TRY(take_string(s, &key, &length));
        UR_TRY(take(s, ':'));
        UR_TRY(take_string(s, &text, &size));
        if (is(key, length, "activation") && size <= UR_NAME_MOST)
            *activation = ur_take_text(arena, "%.*s", (int)size, text);
    } while (take_if(s, ','));
    return take(s, '}');
}

/* ---- the header ---- */

/* every array has a '{' */
static size_t count_braces(const char *text, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += text[i] == '{';
    return count;
}

static unrelu_status take_entry(scanner *s, ur_arena *arena, ur_safetensors *out)
{
    const char *text;
    size_t size;
    UR_TRY(take_string(s, &text, &size));
    UR_TRY(take(s, ':'));
    if (is(text, size, "__metadata__"))
        return take_metadata(s, arena, &out->activation);
    if (size > UR_NAME_MOST)
        return refuse(s, "a shorter name before");
    ur_tensor *t = &out->list[out->count++];
    t->name = ur_take_text(arena, "%.*s", (int)size, text);
    return take_tensor(s, t);
}

/* ---- arrays against each other ---- */

static int by_name(const void *a, const void *b)
{
    const ur_tensor *x = *(const ur_tensor *const *)a, *y = *(const ur_tensor *const *)b;
    return strcmp(x->name, y->name);
}

/* empty ones first, which share a place with whatever follows */
static int by_place(const void *a, const void *b)
{
    const ur_tensor *x = *(const ur_tensor *const *)a, *y = *(const ur_tensor *const *)b;
    return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin)
                                : (x->end > y->end) - (x->end < y->end);
}

/* No name is there twice, of which readers would take either, and no byte belongs to two. */
static unrelu_status check_apart(const ur_safetensors *t, const char *label, unrelu_error *err)
{
    UR_ARENA(arena);
    const ur_tensor **list = ur_take(&arena, t->count, sizeof *list);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < t->count; i++)
        list[i] = &t->list[i];
    if (t->count > 0)
        qsort(list, t->count, sizeof *list, by_name);
    for (size_t i = 1; i < t->count; i++)
        if (strcmp(list[i - 1]->name, list[i]->name) == 0)
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s has two arrays called '%.100s'; write it with "
                           "safetensors.torch.save_file",
                           label, list[i]->name);
    if (t->count > 0)
        qsort(list, t->count, sizeof *list, by_place);
    for (size_t i = 1; i < t->count; i++)
        if (list[i]->begin < list[i - 1]->end)
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: '%.100s' and '%.100s' share bytes from %" PRIu64
                           " on; the file is damaged, write it with safetensors.torch.save_file",
                           label, list[i - 1]->name, list[i]->name, list[i]->begin);
    return UNRELU_OK;
}

unrelu_status ur_safetensors_parse(const char *text, size_t size, uint64_t data, const char *label,
                                   ur_arena *arena, ur_safetensors *out, unrelu_error *err)
{
    scanner s = {text, text, text + size, label, data, err};
    size_t braces = count_braces(text, size);
    *out = (ur_safetensors){0};
    if (braces > UR_MEMBERS_MOST)
        return ur_fail(err, UNRELU_EFORMAT, "%s names more than %d arrays; keep fewer in a file",
                       label, UR_MEMBERS_MOST - 1);
    out->list = ur_take(arena, braces, sizeof *out->list);
    UR_TRY(ur_arena_status(arena, err));
    UR_TRY(take(&s, '{'));
    if (!take_if(&s, '}')) {
        do
            UR_TRY(take_entry(&s, arena, out));
        while (take_if(&s, ','));
        UR_TRY(take(&s, '}'));
    }
    skip_space(&s);
    if (s.at < s.end)
        return refuse(&s, "the end of the header");
    UR_TRY(ur_arena_status(arena, err));
    return check_apart(out, label, err);
}

/* ---- its length ---- */

uint64_t ur_safetensors_length(const unsigned char bytes[UR_SAFETENSORS_LENGTH])
{
    uint64_t length = 0;
    for (int i = UR_SAFETENSORS_LENGTH; i-- > 0;)
        length = length << 8 | bytes[i];
    return length;
}

int ur_safetensors_begins(const unsigned char *bytes, size_t size)
{
    return size > UR_SAFETENSORS_LENGTH && bytes[UR_SAFETENSORS_LENGTH] == '{' &&
           ur_safetensors_length(bytes) <= UR_TENSORS_HEADER_MOST;
}

/* ---- numbers ---- */

static double half(unsigned bits)
{
    unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                  : exponent     ? ldexp(1024 + fraction, (int)exponent - 25)
                                 : ldexp(fraction, -24);
    return bits >> 15 ? -size : size;
}

static double single(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

void ur_safetensors_convert(ur_tensor_type type, const unsigned char *bytes, size_t count,
                            double *out)
{
    if (type == UR_TENSOR_F64) {
        memcpy(out, bytes, count * sizeof *out);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t wide;
        uint16_t narrow;
        if (type == UR_TENSOR_F32) {
            memcpy(&wide, bytes + sizeof wide * i, sizeof wide);
            out[i] = single(wide);
            continue;
        }
        memcpy(&narrow, bytes + sizeof narrow * i, sizeof narrow);
        out[i] = type == UR_TENSOR_F16 ? half(narrow) : single((uint32_t)narrow << 16);
    }
}
