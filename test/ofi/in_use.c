/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages round a ring of ranks really go by ofi, and long ones are copied by transfers: the library counts both. Says also
 * whether libfabric is in this process, and how much memory of its own the process has. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { LONG = 100000, TIMES = 20 };

static MPI_T_pvar_session session;

static MPI_T_pvar_handle counter(const char *name, int class)
{
    int index, count;
    MPI_T_pvar_handle handle;
    if (MPI_T_pvar_get_index(name, class, &index) != MPI_SUCCESS) {
        printf("there is no variable %s\n", name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
    MPI_T_pvar_start(session, handle);
    return handle;
}

static int is_mapped(const char *name)
{
    char line[1000];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        found |= strstr(line, name) != NULL;
    if (maps)
        fclose(maps);
    return found;
}

static long own_kib(void)
{
    char line[1000];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "RssAnon: %ld", &kib) == 1)
            break;
    if (status)
        fclose(status);
    return kib;
}

int main(int argc, char **argv)
{
    static char out[LONG], in[LONG];
    int provided, rank, size;
    unsigned long long sent = 0, pulled = 0;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_T_pvar_handle messages = counter("btl_ofi_messages_sent", MPI_T_PVAR_CLASS_COUNTER),
                      bytes = counter("pml_bytes_pulled", MPI_T_PVAR_CLASS_AGGREGATE);
    for (int i = 0; i < TIMES; i++)
        MPI_Sendrecv(out, LONG, MPI_CHAR, (rank + 1) % size, 0, in, LONG, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    MPI_T_pvar_read(session, messages, &sent);
    MPI_T_pvar_read(session, bytes, &pulled);
    if (sent > 0 && pulled > 0)
        printf("ofi is in use\n");
    else
        printf("%llu messages by ofi, %llu bytes by transfers\n", sent, pulled);
    printf("libfabric is %s\n", is_mapped("libfabric") ? "mapped" : "not mapped");
    printf("own memory: %ld KiB\n", own_kib());
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
