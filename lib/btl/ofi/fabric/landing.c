/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/fabric/landing.h"

#include <sys/mman.h>

enum { ALL_BYTES = TERN_OFI_LANDING_PIECES * TERN_OFI_LANDING_BYTES };

bool tern_ofi_landing_open(struct tern_ofi_landing *landing, uint32_t rail,
                           struct fid_ep *endpoint)
{
    if (landing->memory)
        return true;
    void *memory =
        mmap(NULL, ALL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    madvise(memory, ALL_BYTES, MADV_DONTFORK); /* as the port's other buffers */
    if (tern_ofi_register_own(rail, endpoint, memory, ALL_BYTES, FI_READ | FI_WRITE,
                              &landing->region)) {
        munmap(memory, ALL_BYTES);
        return false;
    }
    landing->memory = memory;
    return true;
}

void tern_ofi_landing_close(struct tern_ofi_landing *landing)
{
    tern_ofi_deregister(&landing->region);
    if (landing->memory)
        munmap(landing->memory, ALL_BYTES);
    *landing = (struct tern_ofi_landing){0};
}

unsigned char *tern_ofi_landing_take(struct tern_ofi_landing *landing)
{
    for (uint32_t i = 0; i < TERN_OFI_LANDING_PIECES; i++)
        if (!(landing->used >> i & 1)) {
            landing->used |= 1u << i;
            return landing->memory + i * TERN_OFI_LANDING_BYTES;
        }
    return NULL;
}

void tern_ofi_landing_give(struct tern_ofi_landing *landing, const unsigned char *piece)
{
    if (landing->memory)
        landing->used &= ~(1u << ((piece - landing->memory) / TERN_OFI_LANDING_BYTES));
}
