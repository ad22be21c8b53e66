/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_FRAME_LIST_H
#define TERN_OFI_FRAME_LIST_H

/* Copies of numbered frames in the order of their numbers: frames that came before their turn, and
 * frames that may have to be sent again. Numbers wrap around. Locks: the lane's lock. */

#include "lib/util/base/list.h"

#include <stdint.h>

struct tern_ofi_frame {
    struct tern_list_node node;
    uint32_t number;
    size_t length;
    unsigned char bytes[];
};

struct tern_ofi_frame_list {
    struct tern_list_node nodes;
    int count;
    size_t bytes; /* of all frames */
};

/* Makes an empty list. */
void tern_ofi_frames_init(struct tern_ofi_frame_list *list);
/* Puts a copy of a frame into the list, unless a frame of that number is there. Returns false if
 * there is no memory. */
bool tern_ofi_frames_add(struct tern_ofi_frame_list *list, uint32_t number, const void *bytes,
                         size_t length);
/* Returns the first frame, or the next one behind `frame`; NULL if there is none. */
struct tern_ofi_frame *tern_ofi_frames_first(const struct tern_ofi_frame_list *list);
struct tern_ofi_frame *tern_ofi_frames_next(const struct tern_ofi_frame_list *list,
                                            const struct tern_ofi_frame *frame);
/* Takes the first frame out of the list. The caller frees it. */
struct tern_ofi_frame *tern_ofi_frames_take(struct tern_ofi_frame_list *list);
/* Frees all frames before `number`. */
void tern_ofi_frames_drop(struct tern_ofi_frame_list *list, uint32_t number);
/* Frees all frames. */
void tern_ofi_frames_clear(struct tern_ofi_frame_list *list);

#endif
