/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/rma/atomics.h"

#include "lib/type/external.h"

#include <stddef.h>
#include <string.h>

#define INLINED static inline __attribute__((always_inline))

/* The pairs whose elements have padding. */
struct short_int {
    short value;
    int index;
};
struct long_double_int {
    long double value;
    int index;
};
struct double_int {
    double value;
    int index;
};

static int span_of(enum tern_basic basic, int packed)
{
    switch (basic) {
    case TERN_BASIC_SHORT_INT: return sizeof(struct short_int);
    case TERN_BASIC_DOUBLE_INT:
    case TERN_BASIC_LONG_INT: return sizeof(struct double_int);
    case TERN_BASIC_LONG_DOUBLE_INT: return sizeof(struct long_double_int);
    default: return packed;
    }
}

/* All operations on all classes; `loop` is NULL where one is not defined. Pairs without a name know
 * the last four only, from MAXLOC on. */
static struct tern_rma_combine combines[TERN_REDUCE_OPS][TERN_BASIC_COUNT];
enum { FIRST_OF_PAIRS = TERN_REDUCE_MAXLOC, OPS_OF_PAIRS = TERN_REDUCE_OPS - FIRST_OF_PAIRS };
static struct tern_rma_combine pairs[OPS_OF_PAIRS][TERN_REDUCE_PAIRS];

static int round_up(int bytes, int alignment)
{
    return (bytes + alignment - 1) / alignment * alignment;
}

/* Fills in one operation on a pair. C aligns numbers to their size, so a pair has a hole inside if
 * its index is the longer one. */
static void init_pair(enum tern_reduce_op op, int number)
{
    int index, value = tern_reduce_pair_bytes(number, &index);
    int index_at = round_up(value, index), span = round_up(index_at + index, value);
    bool hole = index_at > value;
    struct tern_type type = {.basic = TERN_BASIC_BYTE, .extent = span};
    bool moves = op == TERN_REDUCE_REPLACE || op == TERN_REDUCE_NO_OP;
    pairs[op - FIRST_OF_PAIRS][number] = (struct tern_rma_combine){
        .basic = TERN_RMA_PAIRS + number,
        .op = op,
        .loop = moves ? tern_reduce_find(op, &type) : tern_reduce_find_pair(op, number),
        .packed = value + index,
        .span = span,
        .hole = hole ? value : 0,
        .hole_end = hole ? index_at : 0,
    };
}

void tern_rma_combine_init(void)
{
    static bool done;
    for (int basic = TERN_BASIC_NONE + 1; basic < TERN_BASIC_COUNT && !done; basic++) {
        int packed = (int)tern_external_packed_size((enum tern_basic)basic);
        int span = span_of((enum tern_basic)basic, packed);
        struct tern_type type = {.basic = (uint8_t)basic, .extent = span};
        for (int op = 0; op < TERN_REDUCE_OPS; op++)
            combines[op][basic] = (struct tern_rma_combine){
                .basic = basic,
                .op = (enum tern_reduce_op)op,
                .loop = tern_reduce_find((enum tern_reduce_op)op, &type),
                .packed = packed,
                .span = span,
                .hole = basic == TERN_BASIC_SHORT_INT ? sizeof(short) : 0,
                .hole_end =
                    basic == TERN_BASIC_SHORT_INT ? offsetof(struct short_int, index) : 0,
            };
    }
    for (int op = FIRST_OF_PAIRS; op < TERN_REDUCE_OPS && !done; op++)
        for (int number = 0; number < TERN_REDUCE_PAIRS; number++)
            init_pair((enum tern_reduce_op)op, number);
    done = true;
}

const struct tern_rma_combine *tern_rma_combine_find(enum tern_reduce_op op, int basic)
{
    if (op < 0 || op >= TERN_REDUCE_OPS)
        return NULL;
    if (TERN_UNLIKELY(basic >= TERN_RMA_PAIRS && basic < TERN_RMA_CLASSES))
        return op < (int)FIRST_OF_PAIRS ? NULL
                                        : &pairs[op - FIRST_OF_PAIRS][basic - TERN_RMA_PAIRS];
    if (basic <= TERN_BASIC_NONE || basic >= TERN_BASIC_COUNT)
        return NULL;
    const struct tern_rma_combine *combine = &combines[op][basic];
    return combine->loop ? combine : NULL;
}

/* ---- elements of one word ---- */

INLINED uint64_t load(const char *at, int size)
{
    switch (size) {
    case 1: return __atomic_load_n((const uint8_t *)at, __ATOMIC_ACQUIRE);
    case 2: return __atomic_load_n((const uint16_t *)at, __ATOMIC_ACQUIRE);
    case 4: return __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
    default: return __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE);
    }
}

INLINED bool swap_if_1(char *at, uint64_t *seen, uint64_t value)
{
    uint8_t expected = (uint8_t)*seen;
    bool done = __atomic_compare_exchange_n((uint8_t *)at, &expected, (uint8_t)value, false,
                                            __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    *seen = expected;
    return done;
}

INLINED bool swap_if_2(char *at, uint64_t *seen, uint64_t value)
{
    uint16_t expected = (uint16_t)*seen;
    bool done = __atomic_compare_exchange_n((uint16_t *)at, &expected, (uint16_t)value, false,
                                            __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    *seen = expected;
    return done;
}

INLINED bool swap_if_4(char *at, uint64_t *seen, uint64_t value)
{
    uint32_t expected = (uint32_t)*seen;
    bool done = __atomic_compare_exchange_n((uint32_t *)at, &expected, (uint32_t)value, false,
                                            __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    *seen = expected;
    return done;
}

/* Writes `value` if the element still equals *seen. Else sets *seen to the element. */
INLINED bool swap_if(char *at, int size, uint64_t *seen, uint64_t value)
{
    switch (size) {
    case 1: return swap_if_1(at, seen, value);
    case 2: return swap_if_2(at, seen, value);
    case 4: return swap_if_4(at, seen, value);
    default:
        return __atomic_compare_exchange_n((uint64_t *)at, seen, value, false, __ATOMIC_ACQ_REL,
                                           __ATOMIC_ACQUIRE);
    }
}

INLINED uint64_t exchange(char *at, int size, uint64_t value)
{
    switch (size) {
    case 1: return __atomic_exchange_n((uint8_t *)at, (uint8_t)value, __ATOMIC_ACQ_REL);
    case 2: return __atomic_exchange_n((uint16_t *)at, (uint16_t)value, __ATOMIC_ACQ_REL);
    case 4: return __atomic_exchange_n((uint32_t *)at, (uint32_t)value, __ATOMIC_ACQ_REL);
    default: return __atomic_exchange_n((uint64_t *)at, value, __ATOMIC_ACQ_REL);
    }
}

INLINED uint64_t add(char *at, int size, uint64_t value)
{
    switch (size) {
    case 1: return __atomic_fetch_add((uint8_t *)at, (uint8_t)value, __ATOMIC_ACQ_REL);
    case 2: return __atomic_fetch_add((uint16_t *)at, (uint16_t)value, __ATOMIC_ACQ_REL);
    case 4: return __atomic_fetch_add((uint32_t *)at, (uint32_t)value, __ATOMIC_ACQ_REL);
    default: return __atomic_fetch_add((uint64_t *)at, value, __ATOMIC_ACQ_REL);
    }
}

/* Returns true if the bits of elements of this class are added like unsigned integers. */
static bool adds_as_integer(int basic)
{
    return (basic >= TERN_BASIC_INT8 && basic <= TERN_BASIC_LONG) ||
           (basic >= TERN_BASIC_UINT8 && basic <= TERN_BASIC_UNSIGNED_LONG) ||
           basic == TERN_BASIC_CHARACTER;
}

/* Combines by compare-and-swap. Returns the element before. */
INLINED uint64_t combine_word(tern_reduce_loop *loop, char *at, int size, uint64_t value)
{
    uint64_t seen = load(at, size), result;
    do {
        result = seen;
        loop(&value, &result, 1);
    } while (!swap_if(at, size, &seen, result));
    return seen;
}

/* Little endian is assumed where the low bytes of a 64-bit word are an element. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "load() and memcpy below");

INLINED void combine_words(const struct tern_rma_combine *combine, char *target, const char *origin,
                           char *before, int64_t count, int size)
{
    enum { LOAD, EXCHANGE, ADD, LOOP } how = combine->op == TERN_REDUCE_NO_OP     ? LOAD
                                             : combine->op == TERN_REDUCE_REPLACE ? EXCHANGE
                                             : combine->op == TERN_REDUCE_SUM &&
                                                     adds_as_integer(combine->basic)
                                                 ? ADD
                                                 : LOOP;
    for (int64_t i = 0; i < count; i++) {
        char *at = target + i * size;
        uint64_t value = 0, old;
        if (how != LOAD)
            memcpy(&value, origin + i * size, (size_t)size);
        switch (how) {
        case LOAD: old = load(at, size); break;
        case EXCHANGE: old = exchange(at, size, value); break;
        case ADD: old = add(at, size, value); break;
        default: old = combine_word(combine->loop, at, size, value); break;
        }
        if (before)
            memcpy(before + i * size, &old, (size_t)size);
    }
}

/* ---- plain loops ---- */

void tern_rma_to_natural(const struct tern_rma_combine *combine, char *natural, const char *packed)
{
    if (!tern_rma_has_hole(combine)) {
        memcpy(natural, packed, (size_t)combine->packed);
        return;
    }
    size_t first = (size_t)combine->hole;
    memcpy(natural, packed, first);
    memcpy(natural + combine->hole_end, packed + first, (size_t)combine->packed - first);
}

void tern_rma_to_packed(const struct tern_rma_combine *combine, char *packed, const char *natural)
{
    if (!tern_rma_has_hole(combine)) {
        memcpy(packed, natural, (size_t)combine->packed);
        return;
    }
    size_t first = (size_t)combine->hole;
    memcpy(packed, natural, first);
    memcpy(packed + first, natural + combine->hole_end, (size_t)combine->packed - first);
}

/* Returns the bytes of an element in the window; those of a hole stay as they are. */
static size_t element_bytes(const struct tern_rma_combine *combine)
{
    return (size_t)(tern_rma_has_hole(combine) ? combine->span : combine->packed);
}

static void combine_element(const struct tern_rma_combine *combine, char *target,
                            const char *origin, char *before)
{
    char natural[TERN_RMA_NATURAL_MAX] __attribute__((aligned(16))) = {0};
    char value[TERN_RMA_NATURAL_MAX] __attribute__((aligned(16))) = {0};
    memcpy(natural, target, element_bytes(combine));
    if (combine->op != TERN_REDUCE_NO_OP) /* `before` may be `origin` */
        tern_rma_to_natural(combine, value, origin);
    if (before)
        tern_rma_to_packed(combine, before, natural);
    if (combine->op == TERN_REDUCE_NO_OP)
        return;
    combine->loop(value, natural, 1);
    memcpy(target, natural, element_bytes(combine));
}

/* Returns true if the loops of lib/type may run over the memory itself. */
static bool is_array(const struct tern_rma_combine *combine, const char *target,
                     const char *origin)
{
    unsigned size = (unsigned)combine->packed, alignment = size & -size;
    alignment = alignment < 16 ? alignment : 16;
    return combine->packed == combine->span &&
           ((uintptr_t)target | (uintptr_t)origin) % alignment == 0;
}

static void combine_plain(const struct tern_rma_combine *combine, char *target,
                          const char *origin, char *before, int64_t count)
{
    int size = combine->packed;
    bool apart = !before || !origin || before + count * size <= origin ||
                 origin + count * size <= before;
    if (apart && is_array(combine, target, origin)) {
        if (before)
            memcpy(before, target, (size_t)(count * size));
        if (combine->op != TERN_REDUCE_NO_OP)
            combine->loop(origin, target, count);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        combine_element(combine, target + i * size, origin ? origin + i * size : NULL,
                        before ? before + i * size : NULL);
}

static void swap_plain(const struct tern_rma_combine *combine, char *target, const char *origin,
                       const char *compare, char *before)
{
    char packed[TERN_RMA_NATURAL_MAX];
    size_t size = (size_t)combine->packed;
    memcpy(packed, target, size);
    if (memcmp(packed, compare, size) == 0)
        memcpy(target, origin, size);
    memcpy(before, packed, size);
}

/* ---- words or locks ---- */

/* Returns true if atomic instructions can change the elements at `target`. */
static bool in_words(const struct tern_rma_combine *combine, const char *target)
{
    int size = combine->packed;
    return size <= 8 && (size & (size - 1)) == 0 && (uintptr_t)target % (unsigned)size == 0 &&
           !tern_rma_has_hole(combine);
}

static void combine_any_words(const struct tern_rma_combine *combine, char *target,
                              const char *origin, char *before, int64_t count)
{
    switch (combine->packed) {
    case 1: combine_words(combine, target, origin, before, count, 1); break;
    case 2: combine_words(combine, target, origin, before, count, 2); break;
    case 4: combine_words(combine, target, origin, before, count, 4); break;
    default: combine_words(combine, target, origin, before, count, 8); break;
    }
}

/* Combines the first elements under the lock of their page. Returns how many; 0 if they are to be
 * changed as words. */
static int64_t combine_page(const struct tern_rma_combine *combine,
                            const struct tern_rma_turf *turf, bool words, char *target,
                            const char *origin, char *before, int64_t count)
{
    int64_t left = tern_rma_page_left(turf, target);
    int64_t some = (left + combine->packed - 1) / combine->packed;
    uint32_t *lock;
    some = some < count ? some : count;
    if (!words)
        lock = tern_rma_lock_page(turf, target);
    else if (!tern_rma_lock_words(turf, target, count < TERN_RMA_LONG, &lock))
        return 0;
    combine_plain(combine, target, origin, before, some);
    tern_rma_unspin(lock);
    return some;
}

void tern_rma_combine_run(const struct tern_rma_combine *combine, const struct tern_rma_turf *turf,
                          char *target, const char *origin, char *before, int64_t count)
{
    bool words = in_words(combine, target);
    if (!turf) {
        combine_plain(combine, target, origin, before, count);
        return;
    }
    while (count) {
        int64_t done = 0;
        if (words && !tern_rma_is_locked(turf) &&
            (count < TERN_RMA_LONG || !tern_rma_want_locks(turf))) {
            if (tern_rma_begin_words(turf)) {
                combine_any_words(combine, target, origin, before, count);
                done = count;
            }
            tern_rma_end_words(turf);
        }
        if (!done)
            done = combine_page(combine, turf, words, target, origin, before, count);
        count -= done;
        target += done * combine->packed;
        origin = origin ? origin + done * combine->packed : NULL;
        before = before ? before + done * combine->packed : NULL;
    }
}

static void swap_words(const struct tern_rma_combine *combine, char *target, const char *origin,
                       const char *compare, char *before)
{
    size_t size = (size_t)combine->packed;
    uint64_t seen = 0, value = 0;
    memcpy(&seen, compare, size);
    memcpy(&value, origin, size);
    swap_if(target, combine->packed, &seen, value);
    memcpy(before, &seen, size);
}

void tern_rma_compare_and_swap(const struct tern_rma_combine *combine,
                               const struct tern_rma_turf *turf, char *target, const char *origin,
                               const char *compare, char *before)
{
    uint32_t *lock = NULL;
    bool done = false;
    while (turf && !lock && !done) {
        if (!in_words(combine, target)) {
            lock = tern_rma_lock_page(turf, target);
            break;
        }
        if (tern_rma_begin_words(turf)) {
            swap_words(combine, target, origin, compare, before);
            done = true;
        }
        tern_rma_end_words(turf);
        if (!done)
            tern_rma_lock_words(turf, target, true, &lock);
    }
    if (!done)
        swap_plain(combine, target, origin, compare, before);
    if (lock)
        tern_rma_unspin(lock);
}

/* ---- one word ---- */

/* Returns true if the short way knows the operation. */
static inline bool is_short(const struct tern_type *type, enum tern_reduce_op op)
{
    bool floating = type->basic == TERN_BASIC_FLOAT || type->basic == TERN_BASIC_DOUBLE;
    if (type->basic == TERN_BASIC_NONE || (!floating && type->basic > TERN_BASIC_UNSIGNED_LONG))
        return false;
    return op == TERN_REDUCE_REPLACE || op == TERN_REDUCE_NO_OP ||
           (op == TERN_REDUCE_SUM && (floating || adds_as_integer(type->basic)));
}

/* Returns the bits of the sum of two elements. */
INLINED uint64_t sum_of_bits(uint64_t value, uint64_t old, int size, bool floating)
{
    uint64_t result = 0;
    if (!floating)
        return value + old;
    if (size == 8) {
        double a, b;
        memcpy(&a, &value, 8);
        memcpy(&b, &old, 8);
        a += b;
        memcpy(&result, &a, 8);
    } else {
        float a, b;
        memcpy(&a, &value, 4);
        memcpy(&b, &old, 4);
        a += b;
        memcpy(&result, &a, 4);
    }
    return result;
}

INLINED uint64_t add_floating(char *at, int size, uint64_t value)
{
    uint64_t seen = load(at, size);
    while (!swap_if(at, size, &seen, sum_of_bits(value, seen, size, true)))
        ;
    return seen;
}

INLINED void fetch_sized(const struct tern_type *type, enum tern_reduce_op op, char *target,
                         const char *origin, const char *compare, char *before, int size)
{
    uint64_t value = 0, old = 0;
    if (op != TERN_REDUCE_NO_OP)
        memcpy(&value, origin, (size_t)size);
    if (compare) {
        memcpy(&old, compare, (size_t)size);
        swap_if(target, size, &old, value);
    } else if (op == TERN_REDUCE_SUM) {
        old = type->basic <= TERN_BASIC_UNSIGNED_LONG ? add(target, size, value)
                                                      : add_floating(target, size, value);
    } else if (op == TERN_REDUCE_REPLACE) {
        old = exchange(target, size, value);
    } else {
        old = load(target, size);
    }
    memcpy(before, &old, (size_t)size);
}

/* The same under a lock, by plain instructions. */
INLINED void fetch_plain(const struct tern_type *type, enum tern_reduce_op op, char *target,
                         const char *origin, const char *compare, char *before, int size)
{
    uint64_t value = 0, old = 0, wanted = 0;
    memcpy(&old, target, (size_t)size);
    if (compare)
        memcpy(&wanted, compare, (size_t)size);
    if (op != TERN_REDUCE_NO_OP && (!compare || wanted == old)) {
        memcpy(&value, origin, (size_t)size);
        if (op == TERN_REDUCE_SUM)
            value = sum_of_bits(value, old, size, type->basic > TERN_BASIC_UNSIGNED_LONG);
        memcpy(target, &value, (size_t)size);
    }
    memcpy(before, &old, (size_t)size);
}

bool tern_rma_fetch_word(const struct tern_rma_turf *turf, const struct tern_type *type,
                         enum tern_reduce_op op, char *target, const char *origin,
                         const char *compare, char *before)
{
    bool eight = type->size == 8;
    uint32_t *lock;
    if ((!eight && type->size != 4) || (uintptr_t)target % (unsigned)type->size ||
        !is_short(type, op))
        return false;
    if (TERN_LIKELY(tern_rma_begin_words(turf))) {
        if (eight)
            fetch_sized(type, op, target, origin, compare, before, 8);
        else
            fetch_sized(type, op, target, origin, compare, before, 4);
        tern_rma_end_words(turf);
        return true;
    }
    tern_rma_end_words(turf);
    if (!tern_rma_lock_words(turf, target, true, &lock))
        return false;
    if (eight)
        fetch_plain(type, op, target, origin, compare, before, 8);
    else
        fetch_plain(type, op, target, origin, compare, before, 4);
    tern_rma_unspin(lock);
    return true;
}
