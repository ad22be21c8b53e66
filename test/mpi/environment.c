/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* Processor name, versions and the launcher's environment variables fit each other. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    char name[MPI_MAX_PROCESSOR_NAME], host[256], all[64][MPI_MAX_PROCESSOR_NAME];
    int length, version, subversion;
    memset(name, 0, sizeof name);
    CHECK_OK(MPI_Get_processor_name(name, &length));
    CHECK_INT(length, strlen(name));
    CHECK(length > 0);
    CHECK_INT(gethostname(host, sizeof host), 0);
    CHECK_OK(MPI_Allgather(name, sizeof name, MPI_CHAR, all, sizeof name, MPI_CHAR,
                           MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        CHECK(strlen(all[i]) > 0);
    CHECK_OK(MPI_Get_version(&version, &subversion));
    CHECK(version >= 3);
    /* Scripts read these; where a launcher sets them they must be right. */
    const char *ranks = getenv("OMPI_COMM_WORLD_SIZE"), *mine = getenv("OMPI_COMM_WORLD_RANK");
    if (ranks != NULL)
        CHECK_INT(atoi(ranks), size);
    if (mine != NULL)
        CHECK_INT(atoi(mine), rank);
    CHECK_OK(MPI_Pcontrol(1));
    CHECK_OK(MPI_Pcontrol(2, "more", 5));
    return end();
}
