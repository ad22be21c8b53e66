/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/mpi/datatype/datatype_signature.h"

#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/datatype/datatype_envelope.h"
#include "lib/type/external.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

/* Continues the walk with `count` elements of a type. */
static int descend(struct tern_signature *signature, const struct tern_datatype *datatype,
                   int64_t count)
{
    if (count == 0 || datatype->type.size == 0)
        return 0;
    if (signature->depth == signature->room) {
        int room = signature->room ? 2 * signature->room : 8;
        struct tern_signature_level *grown =
            realloc(signature->levels, (size_t)room * sizeof *grown);
        if (!grown)
            return tern_error(TERN_ERR_NO_MEM, "no memory for %d levels of a datatype", room);
        signature->levels = grown;
        signature->room = room;
    }
    signature->levels[signature->depth++] =
        (struct tern_signature_level){.datatype = datatype, .left = count};
    return 0;
}

int tern_signature_start(struct tern_signature *signature, const struct tern_datatype *datatype,
                         int64_t count)
{
    *signature = (struct tern_signature){0};
    return descend(signature, datatype, count);
}

int tern_signature_next(struct tern_signature *signature, struct tern_signature_run *ret_run)
{
    while (signature->depth > 0) {
        struct tern_signature_level *level = &signature->levels[signature->depth - 1];
        const struct tern_datatype *datatype = level->datatype;
        const struct tern_envelope *envelope = datatype->envelope;
        if (datatype->type.basic != TERN_BASIC_NONE) {
            *ret_run = (struct tern_signature_run){
                datatype->type.basic,
                datatype->type.size * level->left / tern_external_packed_size(datatype->type.basic),
            };
            signature->depth--;
            return 0;
        }
        if (envelope->combiner != MPI_COMBINER_STRUCT) {
            const struct tern_datatype *old = envelope->types[0];
            level->datatype = old;
            level->left *= datatype->type.size / old->type.size;
            continue;
        }
        if (level->block == envelope->type_count) {
            level->block = 0;
            level->left--;
        }
        if (level->left == 0) {
            signature->depth--;
            continue;
        }
        int64_t block = level->block++;
        int error = descend(signature, envelope->types[block], envelope->numbers[1 + block]);
        if (error)
            return error;
    }
    *ret_run = (struct tern_signature_run){TERN_BASIC_NONE, 0};
    return 0;
}

void tern_signature_drop(struct tern_signature *signature)
{
    free(signature->levels);
}
