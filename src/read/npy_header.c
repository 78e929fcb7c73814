/* SPDX-License-Identifier: Apache-2.0 */
/* The header is a Python literal, {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }.
 * numpy writes the keys sorted; any order is read. Everything in it is untrusted. */
#include "read/npy_header.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A plain array's header takes 128 bytes; only long structured dtypes take more than this. */
enum { HEADER_MOST = 65536, SHOWN = 40 };

typedef struct {
    const char *s, *end;
    const char *label;
    unrelu_error *err;
} cursor;

static void skip_blanks(cursor *c)
{
    while (c->s < c->end && strchr(" \t\r\n", *c->s) && *c->s)
        c->s++;
}

static int accept(cursor *c, char wanted)
{
    skip_blanks(c);
    if (c->s == c->end || *c->s != wanted)
        return 0;
    c->s++;
    return 1;
}

static int accept_word(cursor *c, const char *word)
{
    size_t size = strlen(word);
    skip_blanks(c);
    if ((size_t)(c->end - c->s) < size || memcmp(c->s, word, size) != 0)
        return 0;
    c->s += size;
    return 1;
}

static unrelu_status refuse_header(const cursor *c, const char *what)
{
    return ur_fail(c->err, UNRELU_EFORMAT,
                   "%s: the .npy header cannot be read (%s); the file is damaged or not written "
                   "by numpy.save",
                   c->label, what);
}

/* 'text' or "text" into out, cut to size */
static int read_quoted(cursor *c, char *out, size_t size)
{
    skip_blanks(c);
    if (c->s == c->end || (*c->s != '\'' && *c->s != '"'))
        return 0;
    char quote = *c->s++;
    size_t used = 0;
    for (; c->s < c->end && *c->s != quote; c->s++)
        if (used + 1 < size)
            out[used++] = *c->s;
    out[used] = '\0';
    return accept(c, quote);
}

static unrelu_status refuse_dtype(const cursor *c, const char *descr, const char *why)
{
    return ur_fail(c->err, UNRELU_EFORMAT,
                   "%s: dtype '%.*s' %s; save the array as float64, for example "
                   "numpy.save(file, x.astype('<f8'))",
                   c->label, SHOWN, descr, why);
}

static unrelu_status refuse_unknown_dtype(const cursor *c, const char *descr)
{
    static const char *const reasons[128] = {
        ['O'] = "holds Python objects, which are not read",
        ['c'] = "is complex",
        ['S'] = "holds text",
        ['a'] = "holds text",
        ['U'] = "holds text",
        ['V'] = "is structured",
        ['M'] = "holds dates",
        ['m'] = "holds durations",
        ['f'] = "is a float of an unsupported size",
    };
    unsigned char code =
        (unsigned char)(descr[0] && strchr("<>|=", descr[0]) ? descr[1] : descr[0]);
    const char *why = code < 128 ? reasons[code] : NULL;
    return refuse_dtype(c, descr, why ? why : "is not known");
}

static unrelu_status read_dtype(cursor *c, ur_npy *out)
{
    static const struct {
        const char code[4];
        ur_dtype dtype;
        size_t item;
    } known[] = {
        {"b1", UR_B1, 1}, {"i1", UR_I1, 1}, {"u1", UR_U1, 1}, {"i2", UR_I2, 2},
        {"u2", UR_U2, 2}, {"i4", UR_I4, 4}, {"u4", UR_U4, 4}, {"i8", UR_I8, 8},
        {"u8", UR_U8, 8}, {"f4", UR_F4, 4}, {"f8", UR_F8, 8},
    };
    skip_blanks(c);
    if (c->s < c->end && *c->s == '[')
        return ur_fail(c->err, UNRELU_EFORMAT,
                       "%s: the array has a structured dtype (named fields); save its fields as "
                       "the columns of a float64 array, for example "
                       "numpy.lib.recfunctions.structured_to_unstructured(x)",
                       c->label);
    if (!read_quoted(c, out->descr, sizeof out->descr))
        return refuse_header(c, "no dtype after 'descr'");
    const char *descr = out->descr;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!descr[0] || strcmp(descr + 1, known[i].code) != 0)
            continue;
        if (descr[0] == '>' && known[i].item > 1)
            return refuse_dtype(c, descr, "is big-endian");
        if (!strchr(known[i].item > 1 ? "<=" : "<>=|", descr[0]))
            break;
        out->dtype = known[i].dtype;
        out->item = known[i].item;
        return UNRELU_OK;
    }
    char *end = "";
    int text = descr[0] == '<' && descr[1] == 'U' && descr[2] >= '0' && descr[2] <= '9';
    unsigned long points = text ? strtoul(descr + 2, &end, 10) : 0;
    if (!text || *end || points > SIZE_MAX / 8)
        return refuse_unknown_dtype(c, descr);
    out->dtype = UR_TEXT;
    out->item = 4 * points;
    return UNRELU_OK;
}

static unrelu_status read_order(cursor *c, ur_npy *out)
{
    out->fortran = accept_word(c, "True");
    if (out->fortran || accept_word(c, "False"))
        return UNRELU_OK;
    return refuse_header(c, "'fortran_order' is neither True nor False");
}

static unrelu_status read_shape(cursor *c, ur_npy *out)
{
    int overflow = 0, empty = 0;
    out->ndim = 0;
    out->count = 1;
    if (!accept(c, '('))
        return refuse_header(c, "no tuple after 'shape'");
    const char *start = c->s;
    for (skip_blanks(c); c->s < c->end && *c->s >= '0' && *c->s <= '9'; skip_blanks(c)) {
        size_t length = 0;
        for (; c->s < c->end && *c->s >= '0' && *c->s <= '9'; c->s++)
            if (__builtin_mul_overflow(length, (size_t)10, &length) ||
                __builtin_add_overflow(length, (size_t)(*c->s - '0'), &length))
                overflow = 1;
        if (c->s < c->end && *c->s == 'L') /* Python 2 */
            c->s++;
        if (out->ndim < 4)
            out->shape[out->ndim] = length;
        out->ndim++;
        empty |= length == 0;
        out->count = ur_product(out->count, length, &overflow);
        if (!accept(c, ','))
            break;
    }
    if (!accept(c, ')'))
        return refuse_header(c, "'shape' is not a tuple of lengths");
    if (overflow && !empty)
        return ur_fail(c->err, UNRELU_EFORMAT,
                       "%s: the header's shape (%.*s is more elements than any file holds; the "
                       "file is damaged",
                       c->label, (int)(c->s - start > 120 ? 120 : c->s - start), start);
    if (empty)
        out->count = 0;
    return UNRELU_OK;
}

static unrelu_status parse(cursor *c, ur_npy *out)
{
    enum { KEYS = 3 };
    static const struct {
        const char *name;
        unrelu_status (*read)(cursor *c, ur_npy *out);
    } keys[KEYS] = {{"descr", read_dtype}, {"fortran_order", read_order}, {"shape", read_shape}};
    int seen[KEYS] = {0};
    char key[24];
    if (!accept(c, '{'))
        return refuse_header(c, "it is not a Python dictionary");
    while (!accept(c, '}')) {
        if (!read_quoted(c, key, sizeof key) || !accept(c, ':'))
            return refuse_header(c, "a key is missing");
        size_t k = 0;
        while (k < KEYS && (seen[k] || strcmp(key, keys[k].name) != 0))
            k++;
        if (k == KEYS)
            return refuse_header(c, "a key is unknown or given twice");
        seen[k] = 1;
        UR_TRY(keys[k].read(c, out));
        if (!accept(c, ',')) {
            if (!accept(c, '}'))
                return refuse_header(c, "no closing brace");
            break;
        }
    }
    return seen[0] && seen[1] && seen[2] ? UNRELU_OK : refuse_header(c, "a key is missing");
}

/* Length of the header that follows the magic and version; *data is set to where it starts. */
static unrelu_status read_prefix(ur_read_next next, void *context, uint64_t total,
                                 const char *label, size_t *length, size_t *data, unrelu_error *err)
{
    unsigned char p[12];
    if (total == 0)
        return ur_fail(err, UNRELU_EFORMAT, "%s is empty (0 bytes); expected a .npy array", label);
    if (total < 10)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: %" PRIu64 " bytes are too few for a .npy array (its header alone "
                       "takes more); write or copy it again",
                       label, total);
    UR_TRY(next(context, p, 10, err));
    if (memcmp(p, "\x93NUMPY", 6) != 0)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: not a .npy array (it does not start with \\x93NUMPY); write it with "
                       "numpy.save",
                       label);
    if (p[6] < 1 || p[6] > 3)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: .npy format version %d.%d is not known; versions 1 to 3 are read",
                       label, p[6], p[7]);
    *length = (size_t)p[8] | (size_t)p[9] << 8;
    *data = 10;
    if (p[6] == 1)
        return UNRELU_OK;
    if (total < 12)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: %" PRIu64 " bytes are too few for a .npy array; write or copy it again",
                       label, total);
    UR_TRY(next(context, p + 10, 2, err));
    *length |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    *data = 12;
    return UNRELU_OK;
}

unrelu_status ur_npy_read(ur_read_next next, void *context, uint64_t total, const char *label,
                          ur_npy *out, unrelu_error *err)
{
    size_t length = 0, data = 0;
    memset(out, 0, sizeof *out);
    UR_TRY(read_prefix(next, context, total, label, &length, &data, err));
    if (length > total - data)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: the .npy header claims %zu bytes, but only %" PRIu64
                       " follow: the file is truncated or damaged; write or copy it again",
                       label, length, total - data);
    if (length > HEADER_MOST)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: a .npy header of %zu bytes is no plain array of numbers (at most %d "
                       "are read); save it as a float64 array",
                       label, length, HEADER_MOST);
    UR_ARENA(arena);
    char *text = ur_take(&arena, length, 1);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(next(context, text, length, err));
    cursor c = {text, text + length, label, err};
    UR_TRY(parse(&c, out));
    out->data = data + length;
    int overflow = 0;
    size_t need = ur_product(out->count, out->item, &overflow);
    if (overflow)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: the header promises %zu elements of %zu bytes, more than any file "
                       "holds; the file is damaged",
                       label, out->count, out->item);
    if (need > total - out->data)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: the header promises %zu elements (%zu bytes), but only %" PRIu64
                       " bytes follow it: the file is truncated; write or copy it again",
                       label, out->count, need, total - out->data);
    return UNRELU_OK;
}

/* memcpy: a member of an archive need not be aligned */
#define CONVERT(name, type)                                                                        \
    static void name(const unsigned char *in, size_t in_step, double *out, size_t out_step,        \
                     size_t count)                                                                 \
    {                                                                                              \
        type value;                                                                                \
        if (in_step == 1 && out_step == 1) {                                                       \
            for (size_t i = 0; i < count; i++) {                                                   \
                memcpy(&value, in + i * sizeof value, sizeof value);                               \
                out[i] = (double)value;                                                            \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (size_t i = 0; i < count; i++) {                                                       \
            memcpy(&value, in + i * in_step * sizeof value, sizeof value);                         \
            out[i * out_step] = (double)value;                                                     \
        }                                                                                          \
    }

CONVERT(convert_i1, int8_t)
CONVERT(convert_u1, uint8_t)
CONVERT(convert_i2, int16_t)
CONVERT(convert_u2, uint16_t)
CONVERT(convert_i4, int32_t)
CONVERT(convert_u4, uint32_t)
CONVERT(convert_i8, int64_t)
CONVERT(convert_u8, uint64_t)
CONVERT(convert_f4, float)
CONVERT(convert_f8, double)

void ur_npy_convert(ur_dtype dtype, const void *in, size_t in_step, double *out, size_t out_step,
                    size_t count)
{
    static void (*const table[])(const unsigned char *, size_t, double *, size_t, size_t) = {
        [UR_B1] = convert_u1, [UR_I1] = convert_i1, [UR_U1] = convert_u1, [UR_I2] = convert_i2,
        [UR_U2] = convert_u2, [UR_I4] = convert_i4, [UR_U4] = convert_u4, [UR_I8] = convert_i8,
        [UR_U8] = convert_u8, [UR_F4] = convert_f4, [UR_F8] = convert_f8,
    };
    table[dtype](in, in_step, out, out_step, count);
}
