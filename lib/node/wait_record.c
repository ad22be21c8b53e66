/* SPDX-License-Identifier: BSD-3-Clause */

/* The record is mapped when the rank waits long for the first time, so that short jobs do not pay
 * for it. */
#include "lib/node/wait_record.h"

#include "lib/node/pages.h"
#include "lib/rte/node_memory.h"
#include "lib/rte/rte.h"
#include "lib/util/base/atomic.h"
#include "lib/util/base/error.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct tern_wait_record *record; /* NULL: not mapped */
static bool missing;                    /* the record cannot be mapped */

bool tern_wait_record_wanted(void)
{
    return !missing && tern_rte.node_memory_fd >= 0 && tern_rte_gives_node_memory(tern_rte.job);
}

/* Maps the pages that hold the record. */
static void map(void)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t at = tern_wait_record_offset(tern_rte.local_size, tern_rte.local_rank);
    uint64_t start = at / page * page, size = at + sizeof *record - start;
    void *bytes = MAP_FAILED;
    if (tern_pages_reserve(tern_rte.node_memory_fd, start, size) == 0)
        bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, tern_rte.node_memory_fd,
                     (off_t)start);
    if (bytes == MAP_FAILED)
        missing = true;
    else
        record = (struct tern_wait_record *)((char *)bytes + (at - start));
}

void tern_wait_record_write(const struct tern_wait_record *wanted)
{
    if (!record)
        map();
    if (!record)
        return;
    uint32_t changes = record->changes | 1;
    __atomic_store_n(&record->changes, changes, __ATOMIC_RELAXED);
    tern_fence_release(); /* a launcher that sees a part of the new record sees the odd number */
    memcpy((char *)record + sizeof changes, (const char *)wanted + sizeof changes,
           sizeof *record - sizeof changes);
    record->process = getpid();
    record->waits = 1;
    tern_store_release(&record->changes, changes + 1);
}

void tern_wait_record_again(uint64_t messages)
{
    if (!record)
        return;
    __atomic_store_n(&record->messages, messages, __ATOMIC_RELAXED);
    __atomic_store_n(&record->waits, 1, __ATOMIC_RELAXED);
}

void tern_wait_record_pause(void)
{
    if (record)
        __atomic_store_n(&record->waits, 0, __ATOMIC_RELAXED);
}
