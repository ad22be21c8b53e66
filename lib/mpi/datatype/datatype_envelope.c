/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/mpi/datatype/datatype_envelope.h"

#include <stdlib.h>

struct tern_envelope *tern_envelope_new(int combiner, int64_t number_count, int64_t address_count,
                                        int64_t type_count)
{
    size_t words = (size_t)(number_count + address_count + type_count);
    struct tern_envelope *envelope = calloc(1, sizeof *envelope + words * sizeof(int64_t));
    if (!envelope)
        return NULL;
    _Static_assert(sizeof(struct tern_datatype *) == sizeof(int64_t),
                   "one array serves numbers and pointers");
    int64_t *values = (int64_t *)(envelope + 1);
    envelope->combiner = combiner;
    envelope->number_count = number_count;
    envelope->address_count = address_count;
    envelope->type_count = type_count;
    envelope->numbers = values;
    envelope->addresses = values + number_count;
    envelope->types = (struct tern_datatype **)(values + number_count + address_count);
    return envelope;
}
