/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2; env: OMPI_MCA_check_level=basic */
/* Each predefined operation is taken on the types of MPI-4.1's table (6.9.2) and refused with
 * MPI_ERR_OP on the others, derived ones among them. What Open MPI takes beyond the table (numbers
 * made of bytes and characters, truth of Fortran integers and addresses) is refused at check_level
 * full only (op_types_of_the_standard.c). */
#include "check.h"

/* Kinds of types, as letters. */
struct row {
    MPI_Datatype type;
    char kind;
    const char *name;
};

#define ROW(type, kind) { type, kind, #type }

struct rule {
    MPI_Op op;
    const char *allowed, *open, *name;
};

#define RULE(op, allowed, open) { op, allowed, open, #op }

static void check(const struct row *row, const struct rule *rule)
{
    union { char bytes[64]; long double aligned; } in, out, inout;
    memset(&in, 0, sizeof in);
    memset(&out, 0, sizeof out);
    memset(&inout, 0, sizeof inout);
    int local = MPI_Reduce_local(&in, &inout, 1, row->type, rule->op), class = MPI_SUCCESS;
#ifndef STANDARD_ONLY
    if (strchr(rule->open, row->kind))
        return;
#endif
    int expected = strchr(rule->allowed, row->kind) ? MPI_SUCCESS : MPI_ERR_OP;
    if (local != MPI_SUCCESS)
        MPI_Error_class(local, &class);
    if (class != expected)
        FAIL("%s on %s: got error class %d, expected %d", rule->name, row->name, class, expected);
    int all = MPI_Allreduce(&in, &out, 1, row->type, rule->op, MPI_COMM_WORLD);
    class = MPI_SUCCESS;
    if (all != MPI_SUCCESS)
        MPI_Error_class(all, &class);
    if (class != expected)
        FAIL("MPI_Allreduce, %s on %s: got error class %d, expected %d", rule->name, row->name, class,
             expected);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    return_errors(MPI_COMM_SELF);
    MPI_Datatype twice, copy, f90_integer, f90_real, f90_complex;
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &twice));
    CHECK_OK(MPI_Type_commit(&twice));
    CHECK_OK(MPI_Type_dup(MPI_INT, &copy));
    CHECK_OK(MPI_Type_create_f90_integer(8, &f90_integer));
    CHECK_OK(MPI_Type_create_f90_real(12, MPI_UNDEFINED, &f90_real));
    CHECK_OK(MPI_Type_create_f90_complex(12, MPI_UNDEFINED, &f90_complex));
    const struct row rows[] = {
        ROW(MPI_INT, 'i'), ROW(MPI_LONG, 'i'), ROW(MPI_SHORT, 'i'), ROW(MPI_UNSIGNED_SHORT, 'i'),
        ROW(MPI_UNSIGNED, 'i'), ROW(MPI_UNSIGNED_LONG, 'i'), ROW(MPI_LONG_LONG, 'i'),
        ROW(MPI_UNSIGNED_LONG_LONG, 'i'), ROW(MPI_SIGNED_CHAR, 'i'), ROW(MPI_UNSIGNED_CHAR, 'i'),
        ROW(MPI_INT8_T, 'i'), ROW(MPI_INT16_T, 'i'), ROW(MPI_INT32_T, 'i'), ROW(MPI_INT64_T, 'i'),
        ROW(MPI_UINT8_T, 'i'), ROW(MPI_UINT16_T, 'i'), ROW(MPI_UINT32_T, 'i'), ROW(MPI_UINT64_T, 'i'),
        ROW(MPI_INTEGER, 'f'), ROW(MPI_INTEGER1, 'f'), ROW(MPI_INTEGER2, 'f'), ROW(MPI_INTEGER4, 'f'),
        ROW(MPI_INTEGER8, 'f'), ROW(MPI_FLOAT, 'r'), ROW(MPI_DOUBLE, 'r'), ROW(MPI_LONG_DOUBLE, 'r'),
        ROW(MPI_REAL, 'r'), ROW(MPI_REAL4, 'r'), ROW(MPI_REAL8, 'r'), ROW(MPI_REAL16, 'r'),
        ROW(MPI_DOUBLE_PRECISION, 'r'), ROW(MPI_LOGICAL, 'l'), ROW(MPI_C_BOOL, 'l'),
        ROW(MPI_CXX_BOOL, 'l'), ROW(MPI_COMPLEX, 'c'), ROW(MPI_C_COMPLEX, 'c'),
        ROW(MPI_C_FLOAT_COMPLEX, 'c'), ROW(MPI_C_DOUBLE_COMPLEX, 'c'),
        ROW(MPI_C_LONG_DOUBLE_COMPLEX, 'c'), ROW(MPI_CXX_FLOAT_COMPLEX, 'c'),
        ROW(MPI_CXX_DOUBLE_COMPLEX, 'c'), ROW(MPI_DOUBLE_COMPLEX, 'c'), ROW(MPI_COMPLEX8, 'c'),
        ROW(MPI_COMPLEX16, 'c'), ROW(MPI_COMPLEX32, 'c'), ROW(MPI_BYTE, 'b'), ROW(MPI_AINT, 'm'),
        ROW(MPI_OFFSET, 'm'), ROW(MPI_COUNT, 'm'), ROW(MPI_FLOAT_INT, 'p'), ROW(MPI_DOUBLE_INT, 'p'),
        ROW(MPI_LONG_INT, 'p'), ROW(MPI_2INT, 'p'), ROW(MPI_SHORT_INT, 'p'),
        ROW(MPI_LONG_DOUBLE_INT, 'p'), ROW(MPI_2REAL, 'p'), ROW(MPI_2DOUBLE_PRECISION, 'p'),
        ROW(MPI_2INTEGER, 'p'), ROW(MPI_WCHAR, 'n'), ROW(MPI_PACKED, 'n'), ROW(twice, 'n'),
        ROW(copy, 'n'), ROW(MPI_2COMPLEX, 'n'), ROW(MPI_2DOUBLE_COMPLEX, 'n'), ROW(MPI_CHAR, 'h'),
        ROW(MPI_CHARACTER, 'h'), ROW(MPI_LOGICAL1, 'l'), ROW(MPI_LOGICAL2, 'l'), ROW(MPI_LOGICAL4, 'l'),
        ROW(MPI_LOGICAL8, 'l'), ROW(MPI_CXX_LONG_DOUBLE_COMPLEX, 'c'), ROW(f90_integer, 'f'),
        ROW(f90_real, 'r'), ROW(f90_complex, 'c'),
    };
    const struct rule rules[] = {
        RULE(MPI_MAX, "ifrm", "bh"), RULE(MPI_MIN, "ifrm", "bh"), RULE(MPI_SUM, "ifrcm", "bh"),
        RULE(MPI_PROD, "ifrcm", "bh"), RULE(MPI_LAND, "il", "fbmh"), RULE(MPI_LOR, "il", "fbmh"),
        RULE(MPI_LXOR, "il", "fbmh"), RULE(MPI_BAND, "ifbm", "h"), RULE(MPI_BOR, "ifbm", "h"),
        RULE(MPI_BXOR, "ifbm", "h"), RULE(MPI_MAXLOC, "p", ""), RULE(MPI_MINLOC, "p", ""),
        RULE(MPI_REPLACE, "", ""), RULE(MPI_NO_OP, "", ""),
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++)
            check(&rows[i], &rules[k]);
    CHECK_OK(MPI_Type_free(&twice));
    CHECK_OK(MPI_Type_free(&copy));
    return end();
}
