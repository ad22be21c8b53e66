/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* What may be called before MPI_Init and after MPI_Finalize works there and tells the truth. */
#include "check.h"

int main(int argc, char **argv)
{
    int flag = -1, version, subversion, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    CHECK_OK(MPI_Initialized(&flag));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Finalized(&flag));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Get_version(&version, &subversion));
    CHECK_INT(version, MPI_VERSION);
    CHECK_INT(subversion, MPI_SUBVERSION);
    CHECK_OK(MPI_Get_library_version(text, &length));
    CHECK_INT(length, strlen(text));
    CHECK(length > 0 && length < MPI_MAX_LIBRARY_VERSION_STRING);
    /* NULL instead of argc and argv. */
    CHECK_OK(MPI_Init(NULL, NULL));
    check_ranks();
    CHECK_OK(MPI_Initialized(&flag));
    CHECK_INT(flag, 1);
    CHECK_OK(MPI_Finalized(&flag));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Finalize());
    CHECK_OK(MPI_Initialized(&flag));
    CHECK_INT(flag, 1);
    CHECK_OK(MPI_Finalized(&flag));
    CHECK_INT(flag, 1);
    CHECK_OK(MPI_Get_version(&version, &subversion));
    CHECK_INT(argc >= 1 && argv[0] != NULL, 1);
    return 0;
}
