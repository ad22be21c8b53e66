/* SPDX-License-Identifier: BSD-3-Clause */
/* The standard's own definition of a derived type, done naively: a list of (displacement, bytes) in
 * typemap order, with bounds. Tests build each type twice, here and with MPI, and check_type
 * compares sizes, bounds, packing, unpacking and messages. Slow and obvious on purpose.
 *
 * Basic types are aligned to their size. A bound set by MPI_Type_create_resized is sticky: a type
 * made of several parts takes its bounds from the parts that have such bounds, if any has. */
#ifndef TEST_MPI_TYPEMAP_H
#define TEST_MPI_TYPEMAP_H

#include "check.h"

struct piece { MPI_Aint at; int bytes; };

struct typemap {
    struct piece *pieces;
    int n;
    MPI_Aint lb, ub;
    int fixed_bounds;
    int alignment;
};

static inline struct typemap map_basic(int bytes)
{
    struct typemap m = { allocate(sizeof(struct piece)), 1, 0, bytes, 0, bytes };
    m.pieces[0] = (struct piece) { 0, bytes };
    return m;
}

static inline void map_free(struct typemap *m)
{
    free(m->pieces);
    m->pieces = NULL;
}

/* Every constructor is this: blocks of `lengths[i]` copies of children[i] (or of children[0] with
 * `one`) at byte displacements, copies one extent apart. Only a struct pads its extent. */
static inline struct typemap map_blocks(int blocks, const int lengths[],
                                        const MPI_Aint displacements[],
                                        const struct typemap children[], int one)
{
    struct typemap m = { NULL, 0, 0, 0, 0, 1 };
    int total = 0, first = 1;
    for (int i = 0; i < blocks; i++)
        total += lengths[i] * children[one ? 0 : i].n;
    m.pieces = allocate((size_t) total * sizeof(struct piece));
    for (int i = 0; i < blocks; i++)
        if (lengths[i] > 0 && children[one ? 0 : i].fixed_bounds)
            m.fixed_bounds = 1;
    for (int i = 0; i < blocks; i++) {
        const struct typemap *c = &children[one ? 0 : i];
        for (int k = 0; k < lengths[i]; k++) {
            MPI_Aint at = displacements[i] + k * (c->ub - c->lb);
            for (int p = 0; p < c->n; p++)
                m.pieces[m.n++] = (struct piece) { at + c->pieces[p].at, c->pieces[p].bytes };
            if (m.fixed_bounds && !c->fixed_bounds)
                continue;
            if (first || at + c->lb < m.lb)
                m.lb = at + c->lb;
            if (first || at + c->ub > m.ub)
                m.ub = at + c->ub;
            first = 0;
        }
        if (lengths[i] > 0 && c->alignment > m.alignment)
            m.alignment = c->alignment;
    }
    if (!one && !m.fixed_bounds && (m.ub - m.lb) % m.alignment != 0)
        m.ub += m.alignment - (m.ub - m.lb) % m.alignment;
    return m;
}

static inline struct typemap map_vector(int count, int length, MPI_Aint stride_bytes,
                                        const struct typemap *child)
{
    int *lengths = allocate((size_t) count * sizeof(int));
    MPI_Aint *displacements = allocate((size_t) count * sizeof(MPI_Aint));
    for (int i = 0; i < count; i++) {
        lengths[i] = length;
        displacements[i] = i * stride_bytes;
    }
    struct typemap m = map_blocks(count, lengths, displacements, child, 1);
    free(lengths);
    free(displacements);
    return m;
}

static inline struct typemap map_resized(const struct typemap *child, MPI_Aint lb, MPI_Aint extent)
{
    int one = 1;
    MPI_Aint zero = 0;
    struct typemap m = map_blocks(1, &one, &zero, child, 1);
    m.lb = lb;
    m.ub = lb + extent;
    m.fixed_bounds = 1;
    return m;
}

static inline int map_size(const struct typemap *m)
{
    int bytes = 0;
    for (int i = 0; i < m->n; i++)
        bytes += m->pieces[i].bytes;
    return bytes;
}

static inline void map_true_bounds(const struct typemap *m, MPI_Aint *ret_lb, MPI_Aint *ret_ub)
{
    MPI_Aint lb = m->n ? m->pieces[0].at : 0, ub = lb;
    for (int i = 0; i < m->n; i++) {
        if (m->pieces[i].at < lb)
            lb = m->pieces[i].at;
        if (m->pieces[i].at + m->pieces[i].bytes > ub)
            ub = m->pieces[i].at + m->pieces[i].bytes;
    }
    *ret_lb = lb;
    *ret_ub = ub;
}

/* Copies between the typed memory at base and packed bytes; to_packed says which way. */
static inline void map_copy(const struct typemap *m, int count, unsigned char *base,
                            unsigned char *packed, int to_packed)
{
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < m->n; i++) {
            unsigned char *at = base + k * (m->ub - m->lb) + m->pieces[i].at;
            memcpy(to_packed ? packed : at, to_packed ? at : packed, (size_t) m->pieces[i].bytes);
            packed += m->pieces[i].bytes;
        }
    }
}

static inline void check_bounds(const char *name, MPI_Datatype type, const struct typemap *m)
{
    MPI_Aint lb, extent, true_lb, true_ub;
    int bytes;
    CHECK_OK(MPI_Type_size(type, &bytes));
    if (bytes != map_size(m))
        FAIL("%s: size: got %d, expected %d", name, bytes, map_size(m));
    CHECK_OK(MPI_Type_get_extent(type, &lb, &extent));
    if (lb != m->lb || extent != m->ub - m->lb)
        FAIL("%s: lb, extent: got %ld, %ld, expected %ld, %ld", name, (long) lb, (long) extent,
             (long) m->lb, (long) (m->ub - m->lb));
    map_true_bounds(m, &true_lb, &true_ub);
    CHECK_OK(MPI_Type_get_true_extent(type, &lb, &extent));
    if (lb != true_lb || extent != true_ub - true_lb)
        FAIL("%s: true lb, extent: got %ld, %ld, expected %ld, %ld", name, (long) lb, (long) extent,
             (long) true_lb, (long) (true_ub - true_lb));
}

/* Does one byte belong to two pieces? `low` is the lowest displacement of all, `span` the bytes from there on. */
static inline int map_overlaps(const struct typemap *m, int count, MPI_Aint low, size_t span)
{
    unsigned char *used = allocate(span);
    int overlaps = 0;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < m->n; i++)
            for (int b = 0; b < m->pieces[i].bytes; b++)
                overlaps |= used[k * (m->ub - m->lb) + m->pieces[i].at + b - low]++;
    free(used);
    return overlaps != 0;
}

/* Compares all that can be seen of `count` elements; `type` is committed. What overlaps itself may be sent,
 * but not be received into, however short the message (MPI-4.1 section 5.1.11). */
static inline void check_type(const char *name, MPI_Datatype type, const struct typemap *m,
                              int count)
{
    MPI_Aint true_lb, true_ub, step = (m->ub - m->lb) * (count > 0 ? count - 1 : 0);
    check_bounds(name, type, m);
    map_true_bounds(m, &true_lb, &true_ub);
    MPI_Aint low = (step < 0 ? step : 0) + true_lb - 32;
    MPI_Aint high = (step > 0 ? step : 0) + true_ub + 32;
    size_t span = (size_t) (high - low), bytes = (size_t) map_size(m) * (size_t) count;
    unsigned char *memory = allocate(span), *expected = allocate(span), *got = allocate(span);
    unsigned char *packed = allocate(bytes), *packed_expected = allocate(bytes);
    int position = 0;
    fill(memory, span, 1);
    map_copy(m, count, memory - low, packed_expected, 1);
    CHECK_OK(MPI_Pack(memory - low, count, type, packed, (int) bytes, &position, MPI_COMM_SELF));
    check_int(name, count, "packed bytes", position, (long long) bytes);
    check_bytes(name, count, "MPI_Pack", packed, packed_expected, bytes);

    if (!map_overlaps(m, count, low, span)) {
        fill(packed, bytes, 9);
        memset(got, 0xaa, span);
        memset(expected, 0xaa, span);
        map_copy(m, count, expected - low, packed, 0);
        position = 0;
        CHECK_OK(MPI_Unpack(packed, (int) bytes, &position, got - low, count, type, MPI_COMM_SELF));
        check_bytes(name, count, "MPI_Unpack", got, expected, span);

        memset(got, 0xaa, span);
        CHECK_OK(MPI_Sendrecv(packed, (int) bytes, MPI_PACKED, 0, 1, got - low, count, type, 0, 1,
                              MPI_COMM_SELF, MPI_STATUS_IGNORE));
        check_bytes(name, count, "receive", got, expected, span);
    }
    memset(packed, 0, bytes);
    CHECK_OK(MPI_Sendrecv(memory - low, count, type, 0, 1, packed, (int) bytes, MPI_PACKED, 0, 1,
                          MPI_COMM_SELF, MPI_STATUS_IGNORE));
    check_bytes(name, count, "send", packed, packed_expected, bytes);
    free(memory);
    free(expected);
    free(got);
    free(packed);
    free(packed_expected);
}

static inline void check_and_free(const char *name, MPI_Datatype *type, struct typemap *m)
{
    CHECK_OK(MPI_Type_commit(type));
    for (int count = 0; count <= 3; count++)
        check_type(name, *type, m, count);
    CHECK_OK(MPI_Type_free(type));
    map_free(m);
}

#endif
