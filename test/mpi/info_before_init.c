/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1; exit: 32; output: MPI_Info_delete: .*nobody.*MPI_ERR_INFO_NOKEY */
/* A procedure that may be called before MPI_Init ends the program for its own reason, not for being early. */
#include "check.h"

int main(void)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_delete(info, "nobody");
    _exit(0);
}
