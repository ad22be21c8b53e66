/* SPDX-License-Identifier: BSD-3-Clause */

/* Requests named in packets: a table index, so that a packet never makes us follow an address. */

#include "lib/pml/pml_request.h"

#include <stdlib.h>

static struct tern_pml_request **table; /* a free entry holds the next free one as an odd integer */
static uint32_t table_size, first_free;

int tern_number_give(struct tern_pml_request *request)
{
    if (request->number)
        return 0;
    if (!first_free) {
        uint32_t size = table_size ? table_size * 2 : 64;
        struct tern_pml_request **larger = realloc(table, size * sizeof *table);
        if (!larger)
            return tern_error(TERN_ERR_NO_MEM, "no memory for %u requests in flight", size);
        table = larger;
        for (uint32_t i = table_size ? table_size : 1; i < size; i++)
            table[i] = (void *)(uintptr_t)((i + 1 < size ? i + 1 : 0) * 2 + 1);
        first_free = table_size ? table_size : 1;
        table_size = size;
    }
    request->number = first_free;
    first_free = (uintptr_t)table[first_free] / 2;
    table[request->number] = request;
    return 0;
}

void tern_number_take_back(struct tern_pml_request *request)
{
    if (!request->number)
        return;
    table[request->number] = (void *)(uintptr_t)(first_free * 2 + 1);
    first_free = request->number;
    request->number = 0;
}

struct tern_pml_request *tern_number_find(uint64_t number)
{
    if (number == 0 || number >= table_size || (uintptr_t)table[number] & 1)
        return NULL;
    return table[number];
}
