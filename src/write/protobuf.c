/* SPDX-License-Identifier: Apache-2.0 */
#include "write/protobuf.h"

#include <string.h>

enum { VARINT = 0, LENGTH = 2, FIRST_ROOM = 256 };

static void put(ur_message *m, const void *bytes, size_t size)
{
    if (size > m->room - m->size) {
        size_t room = m->room + size > FIRST_ROOM ? 2 * (m->room + size) : FIRST_ROOM;
        unsigned char *more = ur_take(m->arena, room, 1);
        if (!more)
            return;
        if (m->size > 0)
            memcpy(more, m->bytes, m->size);
        m->bytes = more;
        m->room = room;
    }
    if (size > 0)
        memcpy(m->bytes + m->size, bytes, size);
    m->size += size;
}

/* 7 bits a byte, the lowest first; the highest bit says that more follow */
static void put_varint(ur_message *m, uint64_t value)
{
    for (; value > 127; value >>= 7)
        put(m, &(unsigned char){(unsigned char)(value | 128)}, 1);
    put(m, &(unsigned char){(unsigned char)value}, 1);
}

void ur_message_whole(ur_message *m, unsigned field, uint64_t value)
{
    put_varint(m, field << 3 | VARINT);
    put_varint(m, value);
}

void ur_message_bytes(ur_message *m, unsigned field, const void *bytes, size_t size)
{
    put_varint(m, field << 3 | LENGTH);
    put_varint(m, size);
    put(m, bytes, size);
}

void ur_message_text(ur_message *m, unsigned field, const char *text)
{
    ur_message_bytes(m, field, text, strlen(text));
}

void ur_message_inside(ur_message *m, unsigned field, const ur_message *inside)
{
    ur_message_bytes(m, field, inside->bytes, inside->size);
}
