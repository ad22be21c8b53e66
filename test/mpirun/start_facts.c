/* SPDX-License-Identifier: BSD-3-Clause */
/* For what_ranks_see.sh: each rank prints, in one line, the attributes of MPI_COMM_WORLD and keys of
 * MPI_INFO_ENV that depend on how the job was started; a key that MPI_Info_create_env had otherwise before MPI_Init
 * is an error. argv[1] = "null": MPI_Init(NULL, NULL). */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int attribute(int keyval)
{
    int *value, flag;
    MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag);
    return flag ? *value : -999;
}

static const char *key(MPI_Info info, const char *name, char *value)
{
    int flag;
    MPI_Info_get(info, name, MPI_MAX_INFO_VAL - 1, value, &flag);
    return flag ? value : "-";
}

int main(int argc, char **argv)
{
    static const char *const keys[] = {"command", "argv", "maxprocs", "soft", "wdir",
                                       "mpi_initial_errhandler", "mpi_memory_alloc_kinds",
                                       "thread_level", "host"};
    char line[8192], value[MPI_MAX_INFO_VAL], early_value[MPI_MAX_INFO_VAL];
    int rank, size, used;
    MPI_Info early;
    MPI_Info_create_env(argc, argv, &early);
    if (argc > 1 && strcmp(argv[1], "null") == 0)
        MPI_Init(NULL, NULL);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    used = snprintf(line, sizeof line, "rank %d of %d: app %d universe %d", rank, size,
                    attribute(MPI_APPNUM), attribute(MPI_UNIVERSE_SIZE));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        used += snprintf(line + used, sizeof line - (size_t)used, " %s=[%s]", keys[i],
                         key(MPI_INFO_ENV, keys[i], value));
        const char *before = key(early, keys[i], early_value);
        if (strcmp(before, key(MPI_INFO_ENV, keys[i], value)) != 0)
            used += snprintf(line + used, sizeof line - (size_t)used, " BEFORE MPI_Init [%s]", before);
    }
    puts(line);
    MPI_Info_free(&early);
    MPI_Finalize();
    return 0;
}
