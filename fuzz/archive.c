/* SPDX-License-Identifier: Apache-2.0 */
/* A .npz file from a text, so that what is tried is the content of models and not their checksums.
 * Every line is an array:
 *   NAME TYPE SHAPE VALUE VALUE ...
 *   kind U - network
 *   V f8 2x3 1 0 .5 -1 nan 1e300
 * TYPE is f8, f4, i8, i4, u1, b1 or U (text, in which ~ stands for a blank); SHAPE is what the
 * header says, "-" being a single value, whether as many values follow or not. */
#include "fuzz.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

enum { ROOM = 1 << 18, MEMBERS = 64, NAME = 48 };

typedef struct {
    unsigned char bytes[ROOM];
    size_t used;
} buffer;

typedef struct {
    char name[NAME];
    size_t start, size;
    uint32_t sum;
} member;

static void put(buffer *b, const void *bytes, size_t size)
{
    if (size > ROOM - b->used)
        size = ROOM - b->used;
    memcpy(b->bytes + b->used, bytes, size);
    b->used += size;
}

static void put_number(buffer *b, uint64_t value, size_t size)
{
    put(b, &value, size); /* little-endian, as files are */
}

/* ---- an array ---- */

static void put_header(buffer *b, const char *type, size_t longest, const char *shape)
{
    char text[256], places[96] = "";
    size_t used = 0;
    for (const char *s = shape; *s && used + 4 < sizeof places; s++)
        if (*s == 'x')
            used += (size_t)sprintf(places + used, ", ");
        else if (*s >= '0' && *s <= '9')
            places[used++] = *s;
    if (*places && !strchr(places, ','))
        strcat(places, ",");
    if (*type == 'U')
        snprintf(text, sizeof text, "{'descr': '<U%zu', 'fortran_order': False, 'shape': (%s), }\n",
                 longest, places);
    else
        snprintf(text, sizeof text,
                 "{'descr': '%c%.2s', 'fortran_order': False, 'shape': (%s), }\n",
                 strchr("ub", *type) ? '|' : '<', type, places);
    put(b, "\x93NUMPY\x01\0", 8);
    put_number(b, strlen(text), 2);
    put(b, text, strlen(text));
}

static void put_text(buffer *b, const char *value, size_t longest)
{
    for (size_t i = 0, over = 0; i < longest; i++) {
        over |= !value[i - (over ? i : 0)];
        put_number(b, over ? 0 : value[i] == '~' ? ' ' : (unsigned char)value[i], 4);
    }
}

static void put_value(buffer *b, const char *type, const char *value)
{
    double x = strtod(value, NULL);
    float single = (float)x;
    int64_t whole = fabs(x) < 0x1p62 ? (int64_t)x : INT64_MAX;
    if (strcmp(type, "f4") == 0)
        put(b, &single, sizeof single);
    else if (strcmp(type, "f8") == 0)
        put(b, &x, sizeof x);
    else
        put_number(b, (uint64_t)whole, (size_t)(type[1] - '0'));
}

static void put_array(buffer *b, const char *type, const char *shape, const char *values)
{
    static char copy[ROOM];
    size_t longest = 0, length;
    for (const char *s = values; *s; s += length + (s[length] != '\0'))
        if ((length = strcspn(s, " ")) > longest)
            longest = length;
    put_header(b, type, longest, shape);
    snprintf(copy, sizeof copy, "%s", values);
    char *rest = copy, *value;
    while ((value = strsep(&rest, " ")))
        if (*type == 'U')
            put_text(b, value, longest);
        else if (*value)
            put_value(b, type, value);
}

static int is_type(const char *type)
{
    static const char *const known[] = {"f8", "f4", "i8", "i4", "u1", "b1", "U"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(type, known[i]) == 0)
            return 1;
    return 0;
}

/* ---- the archive: stored members, then the directory of them ---- */

/* what an entry has in both places */
static void put_entry(buffer *b, const member *m)
{
    put_number(b, 20, 2); /* version that it needs */
    put_number(b, 0, 8);  /* flags, stored, time and date */
    put_number(b, m->sum, 4);
    put_number(b, m->size, 4);
    put_number(b, m->size, 4);
    put_number(b, strlen(m->name), 2);
    put_number(b, 0, 2);
}

static void put_member(buffer *b, member *m, const buffer *array)
{
    m->start = b->used;
    m->size = array->used;
    m->sum = (uint32_t)crc32(0, array->bytes, (unsigned)array->used);
    put_number(b, 0x04034b50, 4);
    put_entry(b, m);
    put(b, m->name, strlen(m->name));
    put(b, array->bytes, array->used);
}

static void put_directory(buffer *b, const member *members, size_t count)
{
    size_t start = b->used;
    for (size_t i = 0; i < count; i++) {
        put_number(b, 0x02014b50, 4);
        put_number(b, 20, 2);
        put_entry(b, &members[i]);
        put_number(b, 0, 6);
        put_number(b, 0, 4);
        put_number(b, members[i].start, 4);
        put(b, members[i].name, strlen(members[i].name));
    }
    size_t size = b->used - start;
    put_number(b, 0x06054b50, 4);
    put_number(b, 0, 4);
    put_number(b, count, 2);
    put_number(b, count, 2);
    put_number(b, size, 4);
    put_number(b, start, 4);
    put_number(b, 0, 2);
}

const char *fuzz_archive(const char *name, const uint8_t *text, size_t size)
{
    static buffer file, array;
    static char lines[ROOM];
    member members[MEMBERS];
    size_t count = 0;
    file.used = 0;
    snprintf(lines, sizeof lines, "%.*s", (int)size, (const char *)text);
    char *rest = lines, *line;
    while ((line = strsep(&rest, "\n")) && count < MEMBERS) {
        char *word = strsep(&line, " "), *type = strsep(&line, " "), *shape = strsep(&line, " ");
        if (!shape || !is_type(type) || strlen(word) > NAME - 5)
            continue;
        array.used = 0;
        put_array(&array, type, shape, line ? line : "");
        snprintf(members[count].name, NAME, "%s.npy", word);
        put_member(&file, &members[count++], &array);
    }
    put_directory(&file, members, count);
    return fuzz_file(name, file.bytes, file.used);
}
