/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/wire/frame_list.h"

#include <stdlib.h>
#include <string.h>

static struct tern_ofi_frame *frame_at(struct tern_list_node *node)
{
    return TERN_CONTAINER(node, struct tern_ofi_frame, node);
}

void tern_ofi_frames_init(struct tern_ofi_frame_list *list)
{
    *list = (struct tern_ofi_frame_list){0};
    tern_list_init(&list->nodes);
}

bool tern_ofi_frames_add(struct tern_ofi_frame_list *list, uint32_t number, const void *bytes,
                         size_t length)
{
    struct tern_list_node *before = list->nodes.prev;
    for (; before != &list->nodes; before = before->prev) {
        int32_t ahead = (int32_t)(number - frame_at(before)->number);
        if (ahead == 0)
            return true;
        if (ahead > 0)
            break;
    }
    struct tern_ofi_frame *frame = malloc(sizeof *frame + length);
    if (!frame)
        return false;
    frame->number = number;
    frame->length = length;
    memcpy(frame->bytes, bytes, length);
    tern_list_append(before->next, &frame->node); /* ahead of the next, that is behind `before` */
    list->count++;
    list->bytes += length;
    return true;
}

struct tern_ofi_frame *tern_ofi_frames_first(const struct tern_ofi_frame_list *list)
{
    return tern_list_empty(&list->nodes) ? NULL : frame_at(list->nodes.next);
}

struct tern_ofi_frame *tern_ofi_frames_next(const struct tern_ofi_frame_list *list,
                                            const struct tern_ofi_frame *frame)
{
    return frame->node.next == &list->nodes ? NULL : frame_at(frame->node.next);
}

struct tern_ofi_frame *tern_ofi_frames_take(struct tern_ofi_frame_list *list)
{
    struct tern_ofi_frame *first = tern_ofi_frames_first(list);
    tern_list_remove(&first->node);
    list->count--;
    list->bytes -= first->length;
    return first;
}

void tern_ofi_frames_drop(struct tern_ofi_frame_list *list, uint32_t number)
{
    const struct tern_ofi_frame *first;
    while ((first = tern_ofi_frames_first(list)) && (int32_t)(first->number - number) < 0)
        free(tern_ofi_frames_take(list));
}

void tern_ofi_frames_clear(struct tern_ofi_frame_list *list)
{
    while (list->count)
        free(tern_ofi_frames_take(list));
}
