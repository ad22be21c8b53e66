/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Type signatures (MPI-4.1 section 5.1.11) as numbers. The signature of `count` elements is a
 * polynomial of its basic elements e1 e2 ... en in a fixed base: the sum of e_i * base^(n-i) modulo
 * 2^64. If base^n is kept as well, sums can be joined. By squaring they can be repeated any number
 * of times, without visiting each element. So 10 elements of MPI_INT and one contiguous type of 10
 * have equal numbers.
 *
 * Basic elements that are equal to the machine (MPI_INT and MPI_INT32_T) have equal numbers.
 */

#include "lib/mpi/check/check.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/datatype/datatype_envelope.h"

/* The polynomial of a sequence of basic elements, and base^length. */
struct sequence {
    uint64_t sum, power;
};

static const struct sequence nothing = {0, 1};

static struct sequence join(struct sequence a, struct sequence b)
{
    return (struct sequence){a.sum * b.power + b.sum, a.power * b.power};
}

static struct sequence repeat(struct sequence once, int64_t count)
{
    struct sequence all = nothing;
    for (; count > 0; count >>= 1) {
        if (count & 1)
            all = join(all, once);
        once = join(once, once);
    }
    return all;
}

static struct sequence basic_element(const struct tern_type *type)
{
    uint64_t kind = (uint64_t)type->basic << 16 | (uint64_t)type->size;
    return (struct sequence){(kind + 1) * 0x9e3779b97f4a7c15u, 0xd6e8feb86659fd93u};
}

static struct sequence sequence_of(const struct tern_datatype *datatype);

static struct sequence derive(const struct tern_datatype *datatype)
{
    const struct tern_envelope *envelope = datatype->envelope;
    struct sequence all = nothing;
    if (envelope->combiner != MPI_COMBINER_STRUCT) {
        const struct tern_datatype *old = envelope->types[0];
        return old->type.size ? repeat(sequence_of(old), datatype->type.size / old->type.size)
                              : nothing;
    }
    for (int64_t i = 0; i < envelope->type_count; i++)
        all = join(all, repeat(sequence_of(envelope->types[i]), envelope->numbers[1 + i]));
    return all;
}

/* Returns the sequence of a datatype. Computes a derived type only once, because it never changes.
 * `power` is odd, so never 0, which means unknown. */
static struct sequence sequence_of(const struct tern_datatype *datatype)
{
    struct tern_findings *findings = (struct tern_findings *)&datatype->findings;
    struct sequence all;
    if (datatype->type.size == 0)
        return nothing;
    if (!datatype->envelope || datatype->predefined)
        return basic_element(&datatype->type);
    /* pairs with the release below */
    all.power = __atomic_load_n(&findings->power, __ATOMIC_ACQUIRE);
    all.sum = __atomic_load_n(&findings->sum, __ATOMIC_RELAXED);
    if (!all.power) {
        all = derive(datatype);
        __atomic_store_n(&findings->sum, all.sum, __ATOMIC_RELAXED);
        __atomic_store_n(&findings->power, all.power, __ATOMIC_RELEASE);
    }
    return all;
}

uint64_t tern_check_signature(const struct tern_datatype *type, int64_t count)
{
    struct sequence all = repeat(sequence_of(type), count);
    return all.sum ^ (all.power * 0xff51afd7ed558ccdu);
}
