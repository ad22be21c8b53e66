/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* Error classes and codes added by the program, their strings, and MPI_LASTUSEDCODE. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    int class, code, code2, got, *last, flag, length;
    char text[MPI_MAX_ERROR_STRING];
    CHECK_OK(MPI_Add_error_class(&class));
    CHECK(class > MPI_ERR_LASTCODE);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
    CHECK_INT(flag, 1);
    CHECK_INT(*last, class);
    CHECK_OK(MPI_Add_error_code(class, &code));
    CHECK_OK(MPI_Add_error_code(MPI_ERR_TAG, &code2));
    CHECK(code > class && code2 != code);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
    CHECK(*last >= class);
    CHECK_OK(MPI_Error_class(code, &got));
    CHECK_INT(got, class);
    CHECK_OK(MPI_Error_class(code2, &got));
    CHECK_INT(got, MPI_ERR_TAG);
    CHECK_OK(MPI_Error_class(class, &got));
    CHECK_INT(got, class);
    strcpy(text, "x");
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK_STRING(text, "");
    CHECK_INT(length, 0);
    CHECK_OK(MPI_Add_error_string(code, "the pond is frozen"));
    CHECK_OK(MPI_Add_error_string(class, "pond"));
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK_STRING(text, "the pond is frozen");
    CHECK_INT(length, 18);
    CHECK_OK(MPI_Error_string(class, text, &length));
    CHECK_STRING(text, "pond");
    CHECK_CLASS(MPI_Comm_call_errhandler(MPI_COMM_WORLD, code), MPI_SUCCESS);
    CHECK(MPI_Add_error_string(MPI_ERR_TAG, "no") != MPI_SUCCESS);
    CHECK(MPI_Error_class(99999999, &got) != MPI_SUCCESS);
    CHECK(MPI_Error_class(-5, &got) != MPI_SUCCESS);
    return end();
}
