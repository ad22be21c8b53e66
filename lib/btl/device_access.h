/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DEVICE_ACCESS_H
#define TERN_DEVICE_ACCESS_H

/* Device memory that ranks of a node open for longer than a message, for windows: functions of a
 * byte mover (struct tern_btl). Thread-safe. */

#include "lib/accel/accel.h"

#include <stdint.h>

struct tern_device_access {
    /* Lets the ranks of this node open the allocation that holds `start`, until `unshare`. Returns
     * a key, or 0 if that is not possible; then the reason was said. */
    uint64_t (*share)(const void *start);
    void (*unshare)(uint64_t key);
    /* Opens `bytes` bytes at `address` of local rank `owner`. `key`: what `share` returned there.
     * `place`: the context that should use the bytes; NULL: any. Sets *ret_memory to where the
     * bytes are in this process. Returns data of the byte mover, which the caller gives back by
     * `release`; NULL if it cannot. */
    void *(*open)(uint32_t owner, uint64_t key, uint64_t address, uint64_t bytes,
                  const struct tern_accel_place *place, char **ret_memory);
    void (*release)(void *opened);
};

/* Returns the functions of the active byte mover that has them; NULL if there is none. */
const struct tern_device_access *tern_btl_device_access(void);

#endif
