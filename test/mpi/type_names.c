/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* Predefined types carry their own names; names set by the program are kept per handle. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    struct { MPI_Datatype type; const char *name; } known[] = {
        { MPI_CHAR, "MPI_CHAR" }, { MPI_INT, "MPI_INT" }, { MPI_DOUBLE, "MPI_DOUBLE" },
        { MPI_BYTE, "MPI_BYTE" }, { MPI_PACKED, "MPI_PACKED" }, { MPI_UINT64_T, "MPI_UINT64_T" },
        { MPI_FLOAT_INT, "MPI_FLOAT_INT" }, { MPI_UNSIGNED_SHORT, "MPI_UNSIGNED_SHORT" },
        { MPI_AINT, "MPI_AINT" }, { MPI_COUNT, "MPI_COUNT" }, { MPI_WCHAR, "MPI_WCHAR" },
        { MPI_LONG_DOUBLE, "MPI_LONG_DOUBLE" }, { MPI_2INT, "MPI_2INT" },
    };
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        CHECK_OK(MPI_Type_get_name(known[i].type, name, &length));
        CHECK_STRING(name, known[i].name);
        CHECK_INT(length, strlen(name));
    }
    MPI_Datatype type, copy;
    CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
    strcpy(name, "x");
    CHECK_OK(MPI_Type_get_name(type, name, &length));
    CHECK_STRING(name, "");
    CHECK_INT(length, 0);
    CHECK_OK(MPI_Type_set_name(type, "three"));
    CHECK_OK(MPI_Type_dup(type, &copy));
    CHECK_OK(MPI_Type_set_name(copy, "copy"));
    CHECK_OK(MPI_Type_get_name(type, name, &length));
    CHECK_STRING(name, "three");
    CHECK_OK(MPI_Type_get_name(copy, name, &length));
    CHECK_STRING(name, "copy");
    /* Longer names are cut, not written past the end. */
    char longer[MPI_MAX_OBJECT_NAME + 50];
    memset(longer, 'n', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    CHECK_OK(MPI_Type_set_name(copy, longer));
    CHECK_OK(MPI_Type_get_name(copy, name, &length));
    CHECK(length >= MPI_MAX_OBJECT_NAME - 2 && length < MPI_MAX_OBJECT_NAME);
    CHECK_INT(strlen(name), length);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_free(&copy));
    return end();
}
