/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Type signatures (MPI-4.1 section 5.1.11) as numbers. The signature of `count` elements is a
 * polynomial of its basic elements e1 e2 ... en in a fixed base: the sum of e_i * base^(n-i) modulo
 * 2^64. If base^n is kept as well, sums can be joined. By squaring they can be repeated any number
 * of times, without visiting each element. So 10 elements of MPI_INT and one contiguous type of 10
 * have equal numbers.
 *
 * Basic elements that are equal to the machine have equal numbers: MPI_INT and MPI_INT32_T,
 * MPI_LONG and MPI_INT64_T. A pair such as MPI_DOUBLE_INT is two elements. MPI_PACKED matches every
 * sequence; `power` 0 marks a sequence with MPI_PACKED in it, and joining keeps the mark.
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

static struct sequence element(int basic)
{
    if (basic == TERN_BASIC_PACKED)
        return (struct sequence){0, 0};
    basic = basic == TERN_BASIC_LONG            ? TERN_BASIC_INT64
            : basic == TERN_BASIC_UNSIGNED_LONG ? TERN_BASIC_UINT64
                                                : basic;
    return (struct sequence){(uint64_t)(basic + 1) * 0x9e3779b97f4a7c15u, 0xd6e8feb86659fd93u};
}

/* Returns the sequence of a predefined type: one element, or the two of a pair. */
static struct sequence basic_sequence(int basic)
{
    static const uint8_t pairs[TERN_BASIC_COUNT][2] = {
        [TERN_BASIC_FLOAT_INT] = {TERN_BASIC_FLOAT, TERN_BASIC_INT32},
        [TERN_BASIC_DOUBLE_INT] = {TERN_BASIC_DOUBLE, TERN_BASIC_INT32},
        [TERN_BASIC_LONG_INT] = {TERN_BASIC_LONG, TERN_BASIC_INT32},
        [TERN_BASIC_2INT] = {TERN_BASIC_INT32, TERN_BASIC_INT32},
        [TERN_BASIC_SHORT_INT] = {TERN_BASIC_INT16, TERN_BASIC_INT32},
        [TERN_BASIC_LONG_DOUBLE_INT] = {TERN_BASIC_LONG_DOUBLE, TERN_BASIC_INT32},
        [TERN_BASIC_2FLOAT] = {TERN_BASIC_FLOAT, TERN_BASIC_FLOAT},
        [TERN_BASIC_2DOUBLE] = {TERN_BASIC_DOUBLE, TERN_BASIC_DOUBLE},
        [TERN_BASIC_2FLOAT_COMPLEX] = {TERN_BASIC_FLOAT_COMPLEX, TERN_BASIC_FLOAT_COMPLEX},
        [TERN_BASIC_2DOUBLE_COMPLEX] = {TERN_BASIC_DOUBLE_COMPLEX, TERN_BASIC_DOUBLE_COMPLEX},
    };
    const uint8_t *pair = pairs[basic];
    return pair[0] ? join(element(pair[0]), element(pair[1])) : element(basic);
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
 * `power` is odd, and 0 means unknown. With MPI_PACKED it is 0, too: then it is computed each
 * time. */
static struct sequence sequence_of(const struct tern_datatype *datatype)
{
    struct tern_findings *findings = (struct tern_findings *)&datatype->findings;
    struct sequence all;
    if (datatype->type.size == 0)
        return nothing;
    if (!datatype->envelope || (datatype->predefined && !tern_datatype_is_pair(datatype)))
        return basic_sequence(datatype->type.basic);
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
    uint64_t number = all.sum ^ (all.power * 0xff51afd7ed558ccdu);
    return all.power == 0 ? TERN_SIGNATURE_ANY : number == TERN_SIGNATURE_ANY ? 1 : number;
}
