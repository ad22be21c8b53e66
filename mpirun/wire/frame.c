/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/wire/frame.h"

#include <stdlib.h>
#include <string.h>

/* The head of a frame on the wire. */
struct head {
    uint32_t size, kind;
    int32_t host, rank, value;
    uint32_t mark;
    uint64_t id;
};
_Static_assert(sizeof(struct head) == TERN_FRAME_HEAD, "no padding");
enum { MARK = 0x4e524554 };

void tern_parcel_raw(struct tern_parcel *parcel, const void *data, size_t size)
{
    if (!size)
        return;
    if (parcel->size + size > parcel->room) {
        parcel->room = 2 * (parcel->size + size);
        parcel->bytes = tern_must_grow(parcel->bytes, parcel->room);
    }
    memcpy(parcel->bytes + parcel->size, data, size);
    parcel->size += size;
}

void tern_parcel_number(struct tern_parcel *parcel, int64_t number)
{
    tern_parcel_raw(parcel, &number, sizeof number);
}

void tern_parcel_blob(struct tern_parcel *parcel, const void *data, size_t size)
{
    tern_parcel_number(parcel, (int64_t)size);
    tern_parcel_raw(parcel, data, size);
}

/* Includes the closing zero. NULL is packed as 0 bytes. */
void tern_parcel_string(struct tern_parcel *parcel, const char *text)
{
    tern_parcel_blob(parcel, text, text ? strlen(text) + 1 : 0);
}

void tern_parcel_strings(struct tern_parcel *parcel, const struct tern_strings *list)
{
    tern_parcel_number(parcel, list->count);
    for (int i = 0; i < list->count; i++)
        tern_parcel_string(parcel, list->items[i]);
}

void tern_parcel_free(struct tern_parcel *parcel)
{
    free(parcel->bytes);
    *parcel = (struct tern_parcel){ 0 };
}

static const char *take(struct tern_reader *reader, size_t size)
{
    if (reader->bad || size > reader->left) {
        reader->bad = true;
        return NULL;
    }
    const char *bytes = reader->at;
    reader->at += size;
    reader->left -= size;
    return bytes;
}

int64_t tern_read_number(struct tern_reader *reader)
{
    int64_t number = 0;
    const char *bytes = take(reader, sizeof number);
    if (bytes)
        memcpy(&number, bytes, sizeof number);
    return number;
}

int tern_read_int(struct tern_reader *reader, int least, int most)
{
    int64_t number = tern_read_number(reader);
    if (number < least || number > most) {
        reader->bad = true;
        return 0;
    }
    return reader->bad ? 0 : (int)number;
}

int tern_read_count(struct tern_reader *reader, int least, int most, size_t bytes)
{
    int count = tern_read_int(reader, least, most);
    if ((size_t)count > reader->left / bytes) {
        reader->bad = true;
        return 0;
    }
    return count;
}

const char *tern_read_blob(struct tern_reader *reader, size_t *ret_size)
{
    int64_t size = tern_read_number(reader);
    const char *bytes = size < 0 ? take(reader, SIZE_MAX) : take(reader, (size_t)size);
    *ret_size = bytes ? (size_t)size : 0;
    return bytes;
}

const char *tern_read_string(struct tern_reader *reader)
{
    size_t size;
    const char *bytes = tern_read_blob(reader, &size);
    if (!size)
        return NULL;
    if (memchr(bytes, '\0', size) != bytes + size - 1) {
        reader->bad = true;
        return NULL;
    }
    return bytes;
}

void tern_read_strings(struct tern_reader *reader, struct tern_strings *list)
{
    int64_t count = tern_read_number(reader);
    for (int64_t i = 0; i < count && !reader->bad; i++) {
        const char *text = tern_read_string(reader);
        if (text)
            tern_strings_add(list, text);
        else
            reader->bad = true;
    }
    reader->bad |= count < 0;
}

void tern_frame_write(struct tern_parcel *parcel, const struct tern_frame *frame)
{
    struct head head = { frame->size,  frame->kind, frame->host, frame->rank,
                         frame->value, MARK,        frame->id };
    tern_parcel_raw(parcel, &head, sizeof head);
    tern_parcel_raw(parcel, frame->data, frame->size);
}

int64_t tern_frame_read(const char *bytes, size_t size, struct tern_frame *ret_frame)
{
    struct head head;
    if (size < sizeof head)
        return 0;
    memcpy(&head, bytes, sizeof head);
    if (head.mark != MARK || head.size > TERN_FRAME_MOST || head.kind >= TERN_FRAME_KINDS)
        return -1;
    if (size - sizeof head < head.size)
        return 0;
    *ret_frame = (struct tern_frame){ head.kind, head.host,           head.rank, head.value,
                                      head.id,   bytes + sizeof head, head.size };
    return (int64_t)sizeof head + head.size;
}
