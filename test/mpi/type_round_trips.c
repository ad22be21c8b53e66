/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2; args: 1 1000; long-args: 2 10000; limit: 600; needs: MPI_Type_get_contents_c */
/* Random types mean what a naive reading of the standard says: bounds, packing, external32, messages
 * to a type of another layout with the same signature, whole and cut short, element counts.
 * args: seed, how many. TEST_SEED and TEST_ONE in the environment repeat one that failed. */
#include "random_types.h"

enum { MOST_ELEMENTS = 5000, MOST_BYTES = 1 << 20, MOST_COUNT = 3 };

static char name[80], form[] = "external32";

/* `count` elements of a random type, and memory for them. */
struct trial {
    MPI_Datatype type;
    struct map one, all; /* one element; count of them */
    int count;
    MPI_Aint low, span;  /* memory[0] is what the typemap calls `low` */
    int bytes, external; /* packed; in external32 */
    bool overlaps;
};

/* Values that survive external32: small longs, truth values of 0 and 1, true numbers. */
static void put_value(const struct basic *basic, unsigned char *at)
{
    uint32_t bits = random_next(&dice);
    int64_t number = basic->how == SIGNED_LONG ? (int32_t) bits : (int64_t) bits;
    for (int i = 0; i < basic->units; i++, at += basic->bytes / basic->units) {
        long double real = (long double) (int32_t) bits / (i + 3);
        switch (basic->how) {
        case SWAP: break;
        case SIGNED_LONG:
        case UNSIGNED_LONG: memcpy(at, &number, 8); break;
        case WIDE: memcpy(at, &(uint32_t) { bits & 0xffff }, 4); break;
        case TRUTH: memcpy(at, &(uint32_t) { bits & 1 }, (size_t) basic->bytes); break;
        case X87:
            memset(at, 0, 16);
            memcpy(at, &real, 10);
        }
    }
}

static void swap_bytes(unsigned char *to, const unsigned char *from, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = from[bytes - 1 - i];
}

static void put_external(const struct basic *basic, const unsigned char *at, unsigned char *to)
{
    int bytes = basic->bytes / basic->units;
    for (int i = 0; i < basic->units; i++, at += bytes, to += bytes) {
        long double real;
        binary128 quad;
        switch (basic->how) {
        case SIGNED_LONG:
        case UNSIGNED_LONG: swap_bytes(to, at, 4); break;
        case WIDE: swap_bytes(to, at, 2); break;
        case X87:
            memcpy(&real, at, 16);
            quad = real;
            swap_bytes(to, (unsigned char *) &quad, 16);
            break;
        default: swap_bytes(to, at, bytes);
        }
    }
}

static bool find_overlap(const struct map *map, MPI_Aint low, MPI_Aint span)
{
    unsigned char *used = allocate((size_t) span);
    bool found = false;
    for (int i = 0; i < map->n && !found; i++)
        for (int k = 0; k < map->elements[i].basic->bytes; k++) {
            MPI_Aint at = map->elements[i].at - low + k;
            found |= used[at];
            used[at] = 1;
        }
    free(used);
    return found;
}

static void true_bounds(const struct map *map, MPI_Aint *ret_lb, MPI_Aint *ret_ub)
{
    *ret_lb = map->n ? map->elements[0].at : 0;
    *ret_ub = *ret_lb;
    for (int i = 0; i < map->n; i++) {
        MPI_Aint at = map->elements[i].at, end = at + map->elements[i].basic->bytes;
        *ret_lb = at < *ret_lb ? at : *ret_lb;
        *ret_ub = end > *ret_ub ? end : *ret_ub;
    }
}

static void expect_number(const char *what, long long got, long long expected)
{
    if (got != expected)
        FAIL("%s: %s: got %lld, expected %lld", name, what, got, expected);
}

static void expect_bytes(const char *what, const void *got, const void *expected, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (((const char *) got)[i] != ((const char *) expected)[i])
            FAIL("%s: %s: byte %zu of %zu: got 0x%02x, expected 0x%02x", name, what, i, bytes,
                 ((const unsigned char *) got)[i], ((const unsigned char *) expected)[i]);
}

static void check_sizes(const struct trial *t)
{
    MPI_Count bytes, lb, extent;
    MPI_Aint lb_a, extent_a, true_lb, true_ub;
    int size_i = 0, expected = 0;
    for (int i = 0; i < t->one.n; i++)
        expected += t->one.elements[i].basic->bytes;
    CHECK_OK(MPI_Type_size(t->type, &size_i));
    CHECK_OK(MPI_Type_size_c(t->type, &bytes));
    expect_number("size", size_i, expected);
    expect_number("size_c", bytes, expected);
    CHECK_OK(MPI_Type_get_extent(t->type, &lb_a, &extent_a));
    CHECK_OK(MPI_Type_get_extent_c(t->type, &lb, &extent));
    expect_number("lb", lb_a, t->one.lb);
    expect_number("extent", extent_a, t->one.ub - t->one.lb);
    expect_number("lb_c", lb, lb_a);
    expect_number("extent_c", extent, extent_a);
    CHECK_OK(MPI_Type_get_true_extent(t->type, &lb_a, &extent_a));
    true_bounds(&t->one, &true_lb, &true_ub);
    expect_number("true lb", lb_a, true_lb);
    expect_number("true extent", extent_a, true_ub - true_lb);
}

/* The naive packer, and back. `elements`: only so many of them. */
static void naive_copy(const struct trial *t, unsigned char *memory, unsigned char *packed, int elements,
                       bool pack)
{
    for (int i = 0; i < elements; i++) {
        const struct element *e = &t->all.elements[i];
        unsigned char *at = memory + e->at - t->low;
        memcpy(pack ? packed : at, pack ? at : packed, (size_t) e->basic->bytes);
        packed += e->basic->bytes;
    }
}

static void check_packing(const struct trial *t, unsigned char *memory, const unsigned char *stream)
{
    int position = 0, bytes, first = among(0, t->count);
    unsigned char *packed = allocate((size_t) t->bytes + 7), *again = allocate((size_t) t->span),
                  *expected = allocate((size_t) t->span);
    MPI_Aint extent = t->one.ub - t->one.lb;
    CHECK_OK(MPI_Pack_size(t->count, t->type, MPI_COMM_SELF, &bytes));
    if (bytes < t->bytes)
        FAIL("%s: MPI_Pack_size: got %d, needed %d", name, bytes, t->bytes);
    /* In two calls, the second one going on where the first one ended. */
    CHECK_OK(MPI_Pack(memory - t->low, first, t->type, packed, t->bytes + 7, &position, MPI_COMM_SELF));
    CHECK_OK(MPI_Pack(memory - t->low + first * extent, t->count - first, t->type, packed, t->bytes + 7,
                      &position, MPI_COMM_SELF));
    expect_number("packed", position, t->bytes);
    expect_bytes("MPI_Pack", packed, stream, (size_t) t->bytes);
    if (!t->overlaps) {
        memset(again, 0x55, (size_t) t->span);
        memset(expected, 0x55, (size_t) t->span);
        naive_copy(t, expected, (unsigned char *) stream, t->all.n, false);
        position = 0;
        CHECK_OK(MPI_Unpack(packed, t->bytes, &position, again - t->low, t->count, t->type,
                            MPI_COMM_SELF));
        expect_number("unpacked", position, t->bytes);
        expect_bytes("MPI_Unpack", again, expected, (size_t) t->span);
    }
    free(packed);
    free(again);
    free(expected);
}

static void check_external(const struct trial *t, unsigned char *memory)
{
    unsigned char *expected = allocate((size_t) t->external), *packed = allocate((size_t) t->external),
                  *again = allocate((size_t) t->span), *to = expected;
    MPI_Aint position = 0, bytes;
    for (int i = 0; i < t->all.n; i++) {
        put_external(t->all.elements[i].basic, memory + t->all.elements[i].at - t->low, to);
        to += external_bytes(t->all.elements[i].basic);
    }
    CHECK_OK(MPI_Pack_external_size(form, t->count, t->type, &bytes));
    expect_number("MPI_Pack_external_size", bytes, t->external);
    CHECK_OK(MPI_Pack_external(form, memory - t->low, t->count, t->type, packed, t->external, &position));
    expect_number("packed in external32", position, t->external);
    expect_bytes("MPI_Pack_external", packed, expected, (size_t) t->external);
    memcpy(again, memory, (size_t) t->span);
    for (int i = 0; i < t->all.n; i++)
        memset(again + t->all.elements[i].at - t->low, 0x33, (size_t) t->all.elements[i].basic->bytes);
    position = 0;
    CHECK_OK(MPI_Unpack_external(form, packed, t->external, &position, again - t->low, t->count, t->type));
    expect_bytes("MPI_Unpack_external", again, memory, (size_t) t->span);
    free(expected);
    free(packed);
    free(again);
}

/* The first `elements` of a stream, spread out with holes; its basic types are bytes, which match
 * whatever has them in the receiver's. */
static MPI_Datatype make_other_layout(const struct trial *t, int elements, MPI_Aint *ret_span)
{
    int *lengths = allocate((size_t) elements * sizeof *lengths);
    MPI_Aint *places = allocate((size_t) elements * sizeof *places), at = among(0, 3);
    MPI_Datatype type;
    for (int i = 0; i < elements; i++) {
        lengths[i] = t->all.elements[i].basic->bytes;
        places[i] = at;
        at += lengths[i] + (among(0, 3) ? 0 : among(1, 40));
    }
    CHECK_OK(MPI_Type_create_hindexed(elements, lengths, places, MPI_BYTE, &type));
    CHECK_OK(MPI_Type_commit(&type));
    free(lengths);
    free(places);
    *ret_span = at;
    return type;
}

static void exchange(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                     MPI_Datatype in_type, MPI_Status *status)
{
    CHECK_OK(MPI_Sendrecv(out, out_count, out_type, (rank + 1) % size, 9, in, in_count, in_type,
                          (rank + size - 1) % size, 9, MPI_COMM_WORLD, status));
}

/* Sent as the type, received in another layout. */
static void check_send(const struct trial *t, unsigned char *memory, const unsigned char *stream)
{
    MPI_Aint span;
    MPI_Datatype other = make_other_layout(t, t->all.n, &span);
    unsigned char *in = allocate((size_t) span), *packed = allocate((size_t) t->bytes);
    MPI_Status status;
    int bytes, position = 0;
    exchange(memory - t->low, t->count, t->type, in, 1, other, &status);
    CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &bytes));
    expect_number("received bytes", bytes, t->bytes);
    CHECK_OK(MPI_Pack(in, 1, other, packed, t->bytes, &position, MPI_COMM_SELF));
    expect_bytes("sent", packed, stream, (size_t) t->bytes);
    CHECK_OK(MPI_Type_free(&other));
    free(in);
    free(packed);
}

/* Sent in another layout, the first `elements` only, received as the type. */
static void check_receive(const struct trial *t, const unsigned char *stream, int elements)
{
    MPI_Aint span;
    MPI_Datatype other = make_other_layout(t, elements, &span);
    unsigned char *out = allocate((size_t) span), *in = allocate((size_t) t->span),
                  *expected = allocate((size_t) t->span);
    MPI_Status status;
    MPI_Count got_x;
    int bytes = 0, position = 0, got;
    for (int i = 0; i < elements; i++)
        bytes += t->all.elements[i].basic->bytes;
    CHECK_OK(MPI_Unpack(stream, bytes, &position, out, 1, other, MPI_COMM_SELF));
    memset(in, 0x77, (size_t) t->span);
    memset(expected, 0x77, (size_t) t->span);
    naive_copy(t, expected, (unsigned char *) stream, elements, false);
    exchange(out, 1, other, in - t->low, t->count, t->type, &status);
    expect_bytes("received", in, expected, (size_t) t->span);
    CHECK_OK(MPI_Get_elements(&status, t->type, &got));
    expect_number("MPI_Get_elements", got, elements);
    CHECK_OK(MPI_Get_elements_c(&status, t->type, &got_x));
    expect_number("MPI_Get_elements_c", got_x, elements);
    CHECK_OK(MPI_Get_count(&status, t->type, &got));
    expect_number("MPI_Get_count", got,
                  t->one.n == 0 ? 0 : elements % t->one.n ? MPI_UNDEFINED : elements / t->one.n);
    CHECK_OK(MPI_Status_set_elements(&status, t->type, elements));
    CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &got));
    expect_number("MPI_Status_set_elements", got, bytes);
    CHECK_OK(MPI_Type_free(&other));
    free(out);
    free(in);
    free(expected);
}

static void check_trial(struct trial *t)
{
    unsigned char *memory = allocate((size_t) t->span), *stream = allocate((size_t) t->bytes);
    for (MPI_Aint i = 0; i < t->span; i++)
        memory[i] = (unsigned char) random_next(&dice);
    for (int i = 0; i < t->all.n; i++)
        put_value(t->all.elements[i].basic, memory + t->all.elements[i].at - t->low);
    naive_copy(t, memory, stream, t->all.n, true);
    check_packing(t, memory, stream);
    check_send(t, memory, stream);
    if (!t->overlaps) {
        check_external(t, memory);
        check_receive(t, stream, t->all.n);
        check_receive(t, stream, among(0, t->all.n));
    }
    free(memory);
    free(stream);
}

static void run_trial(int i)
{
    struct trial t = { .count = some(MOST_COUNT), .all.alignment = 1 };
    t.type = random_derived(1 + i % 4);
    t.one = map_of(t.type);
    check_sizes(&t);
    /* Now and then more of it, for long messages. */
    if (i % 50 == 0 && t.one.n > 0 && t.one.n < 100)
        t.count = 1 + 20000 / t.one.n;
    int most = i % 50 == 0 ? 10 * MOST_ELEMENTS : MOST_ELEMENTS;
    if ((long long) t.one.n * t.count <= most) {
        map_place(&t.all, &t.one, 0, t.count);
        true_bounds(&t.all, &t.low, &t.span);
        t.span -= t.low;
        for (int k = 0; k < t.all.n; k++) {
            t.bytes += t.all.elements[k].basic->bytes;
            t.external += external_bytes(t.all.elements[k].basic);
        }
        if (t.span <= MOST_BYTES * (i % 50 == 0 ? 16 : 1)) {
            t.overlaps = find_overlap(&t.all, t.low, t.span);
            CHECK_OK(MPI_Type_commit(&t.type));
            check_trial(&t);
        }
    }
    free(t.one.elements);
    free(t.all.elements);
    CHECK_OK(MPI_Type_free(&t.type));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *seed_given = getenv("TEST_SEED"), *one = getenv("TEST_ONE");
    int seed = seed_given ? atoi(seed_given) : argument(argc, argv, 1);
    int first = one ? atoi(one) : 0, many = one ? first + 1 : argc > 2 ? atoi(argv[2]) : 1000;
    if (rank == 0)
        printf("seed %d, %d types\n", seed, many);
    make_named();
    for (int i = first; i < many; i++) {
        dice = (uint64_t) seed * 1000003 + (uint64_t) i;
        (void) random_next(&dice);
        snprintf(name, sizeof name, "type %d of seed %d", i, seed);
        run_trial(i);
    }
    return end();
}
