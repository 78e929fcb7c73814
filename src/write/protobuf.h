/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in the wire format of Protocol Buffers: fields of a number each, whole numbers as
 * varints, texts, bytes and messages inside of it with their length before them. */
#ifndef UR_PROTOBUF_H
#define UR_PROTOBUF_H

#include "base/arena.h"

typedef struct {
    ur_arena *arena; /* its bytes lie there, and a failure stays there */
    unsigned char *bytes;
    size_t size, room;
} ur_message;

void ur_message_whole(ur_message *m, unsigned field, uint64_t value);
void ur_message_bytes(ur_message *m, unsigned field, const void *bytes, size_t size);
void ur_message_text(ur_message *m, unsigned field, const char *text);
void ur_message_inside(ur_message *m, unsigned field, const ur_message *inside);

#endif
