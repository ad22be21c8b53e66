/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1; needs: MPI_Pack_external_c MPI_Unpack_external_c MPI_Pack_external_size_c */
/* external32: each predefined type has the bytes of the standard's table (MPI-4.1, 15.5.2), derived
 * types are their elements in order, and all comes back. */
#include "check.h"
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <wchar.h>

static char form[] = "external32";

/* One element whose memory is `memory`: its external form is `bytes`, and back again `back`. */
static void expect(const char *name, MPI_Datatype type, const void *memory, size_t extent,
                   const void *bytes, int n, const void *back)
{
    unsigned char packed[64], again[64];
    MPI_Aint size_told, position = 3;
    MPI_Count size_c, position_c = 0;
    CHECK_OK(MPI_Pack_external_size(form, 1, type, &size_told));
    CHECK_OK(MPI_Pack_external_size_c(form, 1, type, &size_c));
    if (size_told != n || size_c != n)
        FAIL("%s: size: got %ld, %ld, expected %d", name, (long) size_told, (long) size_c, n);
    memset(packed, 0xee, sizeof packed);
    CHECK_OK(MPI_Pack_external(form, memory, 1, type, packed, 3 + n, &position));
    check_int(name, 0, "position", position, 3 + n);
    check_bytes(name, 0, "external form", packed + 3, bytes, (size_t) n);
    check_int(name, 0, "byte before", packed[2], 0xee);
    check_int(name, 0, "byte after", packed[3 + n], 0xee);
    memset(again, 0, sizeof again);
    position = 3;
    CHECK_OK(MPI_Unpack_external(form, packed, 3 + n, &position, again, 1, type));
    check_int(name, 0, "position", position, 3 + n);
    check_bytes(name, 0, "unpacked", again, back, extent);
    memset(packed, 0, sizeof packed);
    CHECK_OK(MPI_Pack_external_c(form, memory, 1, type, packed, n, &position_c));
    check_bytes(name, 0, "external form (_c)", packed, bytes, (size_t) n);
    position_c = 0;
    memset(again, 0, sizeof again);
    CHECK_OK(MPI_Unpack_external_c(form, packed, n, &position_c, again, 1, type));
    check_int(name, 0, "position", position_c, n);
    check_bytes(name, 0, "unpacked (_c)", again, back, extent);
}

#define BYTES(...) (unsigned char[]) { __VA_ARGS__ }, (int) sizeof((unsigned char[]) { __VA_ARGS__ })
#define ROW(mpi, c, value, ...) \
    do { \
        c memory_ = value; \
        expect(#mpi, mpi, &memory_, sizeof memory_, BYTES(__VA_ARGS__), &memory_); \
    } while (0)
/* What comes back is another value. */
#define CUT(mpi, c, value, back, ...) \
    do { \
        c memory_ = value, back_ = back; \
        expect(#mpi, mpi, &memory_, sizeof memory_, BYTES(__VA_ARGS__), &back_); \
    } while (0)
/* Of a long double of x87 10 bytes count; the rest is 0 here. */
enum { LONG_DOUBLE_BYTES = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double) };
#define LONG_DOUBLE(value, ...) \
    do { \
        long double memory_; \
        memset(&memory_, 0, sizeof memory_); \
        memory_ = value; \
        memset((char *) &memory_ + LONG_DOUBLE_BYTES, 0, sizeof memory_ - LONG_DOUBLE_BYTES); \
        expect("MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, &memory_, sizeof memory_, BYTES(__VA_ARGS__), \
               &memory_); \
    } while (0)

static void integers(void)
{
    ROW(MPI_BYTE, char, 0x5a, 0x5a);
    ROW(MPI_PACKED, char, 0x5a, 0x5a);
    ROW(MPI_CHAR, char, 'A', 65);
    ROW(MPI_SIGNED_CHAR, signed char, -2, 0xfe);
    ROW(MPI_UNSIGNED_CHAR, unsigned char, 200, 200);
    ROW(MPI_CHARACTER, char, 'z', 122);
    ROW(MPI_WCHAR, wchar_t, 0x20ac, 0x20, 0xac);
    CUT(MPI_WCHAR, wchar_t, 0x1f600, 0xf600, 0xf6, 0);
    ROW(MPI_SHORT, short, -2, 0xff, 0xfe);
    ROW(MPI_UNSIGNED_SHORT, unsigned short, 0xabcd, 0xab, 0xcd);
    ROW(MPI_INT, int, 0x01020304, 1, 2, 3, 4);
    ROW(MPI_UNSIGNED, unsigned, 0xfffefdfc, 0xff, 0xfe, 0xfd, 0xfc);
    ROW(MPI_LONG, long, -5, 0xff, 0xff, 0xff, 0xfb);
    CUT(MPI_LONG, long, 0x123456789a, 0x3456789a, 0x34, 0x56, 0x78, 0x9a);
    ROW(MPI_UNSIGNED_LONG, unsigned long, 0xfffffffb, 0xff, 0xff, 0xff, 0xfb);
    ROW(MPI_LONG_LONG, long long, -2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe);
    ROW(MPI_UNSIGNED_LONG_LONG, long long, 0x0102030405060708, 1, 2, 3, 4, 5, 6, 7, 8);
    ROW(MPI_INT8_T, int8_t, -1, 255);
    ROW(MPI_INT16_T, int16_t, 0x102, 1, 2);
    ROW(MPI_INT32_T, int32_t, 0x1020304, 1, 2, 3, 4);
    ROW(MPI_INT64_T, int64_t, 0x0102030405060708, 1, 2, 3, 4, 5, 6, 7, 8);
    ROW(MPI_UINT8_T, uint8_t, 255, 255);
    ROW(MPI_UINT16_T, uint16_t, 0x102, 1, 2);
    ROW(MPI_UINT32_T, uint32_t, 0x1020304, 1, 2, 3, 4);
    ROW(MPI_UINT64_T, uint64_t, 0x0102030405060708, 1, 2, 3, 4, 5, 6, 7, 8);
    ROW(MPI_AINT, MPI_Aint, 0x0102030405060708, 1, 2, 3, 4, 5, 6, 7, 8);
    ROW(MPI_OFFSET, MPI_Offset, 0x0102030405060708, 1, 2, 3, 4, 5, 6, 7, 8);
    ROW(MPI_COUNT, MPI_Count, 0x0102030405060708, 1, 2, 3, 4, 5, 6, 7, 8);
    ROW(MPI_INTEGER, int, 0x01020304, 1, 2, 3, 4);
    ROW(MPI_INTEGER1, int8_t, 9, 9);
    ROW(MPI_INTEGER2, int16_t, 0x102, 1, 2);
    ROW(MPI_INTEGER4, int32_t, 0x1020304, 1, 2, 3, 4);
    ROW(MPI_INTEGER8, int64_t, 0x0102030405060708, 1, 2, 3, 4, 5, 6, 7, 8);
    ROW(MPI_C_BOOL, bool, true, 1);
    ROW(MPI_LOGICAL, int, 1, 0, 0, 0, 1);
    CUT(MPI_LOGICAL, int, -1, 1, 0, 0, 0, 1); /* nonzero is true */
    CUT(MPI_LOGICAL, int, 1 << 30, 1, 0, 0, 0, 1);
#ifdef OPEN_MPI
    CUT(MPI_LOGICAL1, int8_t, 7, 1, 1);
    CUT(MPI_LOGICAL2, int16_t, 256, 1, 0, 1);
    CUT(MPI_LOGICAL8, int64_t, -1, 1, 0, 0, 0, 0, 0, 0, 0, 1);
#endif
    MPI_Datatype wide;
    CHECK_OK(MPI_Type_create_f90_integer(30, &wide));
    __int128 number = -2;
    expect("an integer of 30 digits", wide, &number, 16,
           BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                 0xff, 0xfe), &number);
    number = (__int128) 0x0102030405060708 << 64 | 0x090a0b0c0d0e0f10;
    expect("an integer of 30 digits", wide, &number, 16,
           BYTES(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16), &number);
}

static void reals(void)
{
    ROW(MPI_FLOAT, float, -1.5f, 0xbf, 0xc0, 0, 0);
    ROW(MPI_DOUBLE, double, 1e100, 0x54, 0xb2, 0x49, 0xad, 0x25, 0x94, 0xc3, 0x7d);
    ROW(MPI_REAL, float, -1.5f, 0xbf, 0xc0, 0, 0);
    ROW(MPI_REAL4, float, -1.5f, 0xbf, 0xc0, 0, 0);
    ROW(MPI_REAL8, double, 2, 0x40, 0, 0, 0, 0, 0, 0, 0);
    ROW(MPI_DOUBLE_PRECISION, double, 2, 0x40, 0, 0, 0, 0, 0, 0, 0);
    ROW(MPI_REAL16, binary128, -2, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    ROW(MPI_C_COMPLEX, float complex, 1 + 2 * I, 0x3f, 0x80, 0, 0, 0x40, 0, 0, 0);
    ROW(MPI_COMPLEX, float complex, 1 + 2 * I, 0x3f, 0x80, 0, 0, 0x40, 0, 0, 0);
    ROW(MPI_C_DOUBLE_COMPLEX, double complex, 1 + 2 * I, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0,
        0, 0, 0, 0, 0);
    ROW(MPI_DOUBLE_COMPLEX, double complex, 1 + 2 * I, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0,
        0, 0, 0, 0);
    volatile long double one = 1, least = LDBL_EPSILON;
    bool whole = one + least != one; /* valgrind computes with the digits of a double */
    bool x87 = LDBL_MANT_DIG == 64;  /* else a long double is binary128 itself */
    LONG_DOUBLE(1.5L, 0x3f, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    LONG_DOUBLE(-0.0L, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    if (whole && x87)
        LONG_DOUBLE(1 + LDBL_EPSILON, 0x3f, 0xff, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0);
    LONG_DOUBLE(HUGE_VALL, 0x7f, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    if (whole)
        LONG_DOUBLE(LDBL_MIN, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    if (whole && x87)
        LONG_DOUBLE(LDBL_TRUE_MIN, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0);
    if (!x87) {
        LONG_DOUBLE(1 + LDBL_EPSILON, 0x3f, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
        LONG_DOUBLE(LDBL_TRUE_MIN, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
    }
    long double nan = __builtin_nanl(""), back = 0;
    unsigned char packed[16];
    MPI_Aint position = 0;
    CHECK_OK(MPI_Pack_external(form, &nan, 1, MPI_LONG_DOUBLE, packed, 16, &position));
    CHECK((packed[0] & 0x7f) == 0x7f && packed[1] == 0xff && (packed[2] || packed[3]));
    position = 0;
    CHECK_OK(MPI_Unpack_external(form, packed, 16, &position, &back, 1, MPI_LONG_DOUBLE));
    CHECK(isnan(back));
    /* More digits than x87's long double has: rounded. */
    memcpy(packed, (unsigned char[]) { 0x3f, 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 0 }, 16);
    position = 0;
    CHECK_OK(MPI_Unpack_external(form, packed, 16, &position, &back, 1, MPI_LONG_DOUBLE));
    CHECK(!whole || back == (x87 ? 1 + LDBL_EPSILON : 1 + 0x1.8p-64L));
}

struct float_int { float a; int b; };
struct double_int { double a; int b; };
struct long_int { long a; int b; };
struct short_int { short a; int b; };

static void pairs(void)
{
    struct float_int f = { 2, 3 };
    struct double_int d;
    struct long_int l;
    struct short_int s;
    memset(&d, 0, sizeof d);
    memset(&l, 0, sizeof l);
    memset(&s, 0, sizeof s);
    d.a = 2, d.b = 3, l.a = -2, l.b = 3, s.a = -2, s.b = 3;
    expect("MPI_FLOAT_INT", MPI_FLOAT_INT, &f, sizeof f, BYTES(0x40, 0, 0, 0, 0, 0, 0, 3), &f);
    expect("MPI_DOUBLE_INT", MPI_DOUBLE_INT, &d, sizeof d,
           BYTES(0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3), &d);
    expect("MPI_LONG_INT", MPI_LONG_INT, &l, sizeof l,
           BYTES(0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 3), &l);
    expect("MPI_SHORT_INT", MPI_SHORT_INT, &s, sizeof s, BYTES(0xff, 0xfe, 0, 0, 0, 3), &s);
    expect("MPI_2INT", MPI_2INT, (int[]) { 1, 2 }, 8, BYTES(0, 0, 0, 1, 0, 0, 0, 2),
           (int[]) { 1, 2 });
}

/* {long, double, 3 shorts} twice in a vector, much of it, and pieces of it. */
static void derived(void)
{
    enum { MANY = 5000 };
    struct record { long a; double b; short c[3]; };
    MPI_Aint at[] = { offsetof(struct record, a), offsetof(struct record, b),
                      offsetof(struct record, c) }, bytes, position = 0;
    int lengths[] = { 1, 1, 3 };
    MPI_Datatype types[] = { MPI_LONG, MPI_DOUBLE, MPI_SHORT }, record, type;
    CHECK_OK(MPI_Type_create_struct(3, lengths, at, types, &record));
    CHECK_OK(MPI_Type_vector(2, 1, 2, record, &type));
    CHECK_OK(MPI_Type_commit(&type));
    struct record *in = allocate(4 * MANY * sizeof *in), *out = allocate(4 * MANY * sizeof *out);
    for (int i = 0; i < 4 * MANY; i++)
        in[i] = (struct record) { i, i + 0.5, { (short) i, (short) -i, 7 } };
    CHECK_OK(MPI_Pack_external_size(form, MANY, type, &bytes));
    CHECK_INT(bytes, MANY * 2 * 18);
    unsigned char *packed = allocate((size_t) bytes);
    CHECK_OK(MPI_Pack_external(form, in, MANY, type, packed, bytes, &position));
    CHECK_INT(position, bytes);
    for (int i = 0; i < 2 * MANY; i++) {
        /* elements 0, 2 of the first vector (extent 3), then 3, 5 of the second, ... */
        int n = i / 2 * 3 + i % 2 * 2;
        unsigned char *p = packed + 18 * i, swapped[8];
        double b = n + 0.5;
        for (int k = 0; k < 8; k++)
            swapped[k] = ((unsigned char *) &b)[7 - k];
        CHECK_INT(p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3], n);
        CHECK_BYTES(p + 4, swapped, 8);
        CHECK_INT((short) (p[12] << 8 | p[13]), (short) n);
        CHECK_INT((short) (p[14] << 8 | p[15]), (short) -n);
        CHECK_INT(p[16] << 8 | p[17], 7);
    }
    position = 0;
    CHECK_OK(MPI_Unpack_external(form, packed, bytes, &position, out, MANY, type));
    CHECK_INT(position, bytes);
    for (int n = 0; n < 3 * MANY; n++)
        if (n % 3 == 1)
            CHECK(out[n].a == 0 && out[n].b == 0 && out[n].c[2] == 0);
        else
            CHECK(out[n].a == n && out[n].b == n + 0.5 && out[n].c[1] == (short) -n);
    /* Zero elements fit everywhere. */
    CHECK_OK(MPI_Pack_external(form, in, 0, type, packed, bytes, &position));
    CHECK_INT(position, bytes);
    free(in);
    free(out);
    free(packed);
    CHECK_OK(MPI_Type_free(&record));
    CHECK_OK(MPI_Type_free(&type));
}

static void refusals(void)
{
    char other[] = "native";
    int x[4] = { 0 };
    unsigned char packed[16] = { 0 };
    MPI_Aint position = 0, bytes;
    MPI_Datatype type;
    return_errors(MPI_COMM_WORLD);
    return_errors(MPI_COMM_SELF);
    CHECK_CLASS(MPI_Pack_external(other, x, 1, MPI_INT, packed, 16, &position), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Unpack_external(other, packed, 16, &position, x, 1, MPI_INT), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pack_external_size(other, 1, MPI_INT, &bytes), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pack_external(form, x, -1, MPI_INT, packed, 16, &position), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Pack_external(form, x, 5, MPI_INT, packed, 16, &position), MPI_ERR_TRUNCATE);
    CHECK_CLASS(MPI_Unpack_external(form, packed, 7, &position, x, 2, MPI_INT), MPI_ERR_TRUNCATE);
    CHECK_INT(position, 0);
    position = 17;
    CHECK_CLASS(MPI_Pack_external(form, x, 0, MPI_INT, packed, 16, &position), MPI_ERR_ARG);
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &type));
    position = 0;
    CHECK_CLASS(MPI_Pack_external(form, x, 1, type, packed, 16, &position), MPI_ERR_TYPE);
    CHECK_OK(MPI_Type_free(&type));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    integers();
    reals();
    pairs();
    derived();
    refusals();
    return end();
}
