/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1; needs: MPI_Remove_error_class MPI_Remove_error_code MPI_Remove_error_string */
/* Classes, codes and strings can be taken back, in the reverse order only; MPI_LASTUSEDCODE follows. */
#include "check.h"

static int last_used_code(void)
{
    int *last, flag;
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
    CHECK_INT(flag, 1);
    return *last;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    int class, other, code, code2, got, length, before = last_used_code();
    char text[MPI_MAX_ERROR_STRING];
    CHECK_OK(MPI_Add_error_class(&class));
    CHECK_OK(MPI_Add_error_code(class, &code));
    CHECK_OK(MPI_Add_error_code(class, &code2));
    CHECK_OK(MPI_Add_error_string(code, "a leak"));
    CHECK_INT(last_used_code(), code2);

    /* A class stays while it has codes, a code while it has a string; nothing else is of that kind. */
    CHECK_CLASS(MPI_Remove_error_class(class), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Remove_error_class(code), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Remove_error_code(class), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Remove_error_code(code), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Remove_error_class(MPI_ERR_TAG), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Remove_error_code(MPI_ERR_TAG), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Remove_error_string(MPI_ERR_TAG), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Remove_error_string(code2), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Remove_error_code(-1), MPI_ERR_ARG);

    CHECK_OK(MPI_Remove_error_string(code));
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK_STRING(text, "");
    CHECK_CLASS(MPI_Remove_error_string(code), MPI_ERR_ARG);
    CHECK_OK(MPI_Remove_error_code(code));
    CHECK_CLASS(MPI_Error_class(code, &got), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Error_string(code, text, &length), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Add_error_string(code, "gone"), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Remove_error_code(code), MPI_ERR_ARG);
    CHECK_INT(last_used_code(), code2);
    CHECK_OK(MPI_Error_class(code2, &got));
    CHECK_INT(got, class);

    /* Another class may come in between. It stays while it has a string. */
    CHECK_OK(MPI_Add_error_class(&other));
    CHECK(other != code2 && other != class);
    CHECK_OK(MPI_Add_error_string(other, "other"));
    CHECK_CLASS(MPI_Remove_error_class(other), MPI_ERR_ARG);
    CHECK_OK(MPI_Remove_error_string(other));
    CHECK_OK(MPI_Remove_error_class(other));
    CHECK_OK(MPI_Remove_error_code(code2));
    CHECK_CLASS(MPI_Add_error_code(other, &got), MPI_ERR_ARG);
    CHECK_OK(MPI_Remove_error_class(class));
    CHECK_INT(last_used_code(), before);

    /* Adding and removing for ever needs no more numbers. */
    for (int i = 0; i < 1000; i++) {
        CHECK_OK(MPI_Add_error_class(&class));
        CHECK_OK(MPI_Add_error_code(class, &code));
        CHECK_OK(MPI_Remove_error_code(code));
        CHECK_OK(MPI_Remove_error_class(class));
    }
    CHECK_INT(last_used_code(), before);
    return end();
}
