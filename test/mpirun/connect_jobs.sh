#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two jobs connect by a port's name in a file: two programs without a launcher, and two mpiruns. Who has a wrong name is
# refused, and the port still serves the others. A process of the other job that dies is an error.
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"
cat >jobs.c <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* jobs accept|connect|stranger FILE [disconnect | named | any]: with the last two, rank 1 of the connecting job dies before any
 * message to it, and the accepting job waits for it, by its rank or by MPI_ANY_SOURCE. */
static int rank;
static char port[MPI_MAX_PORT_NAME];

static void offer(const char *file)
{
    char temporary[4096];
    MPI_Open_port(MPI_INFO_NULL, port);
    snprintf(temporary, sizeof temporary, "%s.new", file);
    FILE *out = fopen(temporary, "w");
    fputs(port, out);
    fclose(out);
    rename(temporary, file);
}

static void find(const char *file)
{
    FILE *in;
    while (!(in = fopen(file, "r")))
        usleep(10000);
    if (!fgets(port, sizeof port, in))
        exit(1);
    fclose(in);
}

/* Connects by a name whose token is wrong in one digit. Returns 0 if that is refused. */
static int refused(void)
{
    MPI_Comm inter;
    int class = 0;
    char *token = strchr(strchr(strchr(port, '/') + 1, '/') + 1, '/') + 1;
    *token = *token == '0' ? '1' : '0';
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int rc = MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    MPI_Error_class(rc, &class);
    return class != MPI_ERR_PORT;
}

/* Returns 0 if the other job's rank 1, which has died, is an error and not waited for without end. */
static int lost(MPI_Comm inter, int source)
{
    int x, rc;
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    rc = MPI_Recv(&x, 1, MPI_INT, source, 0, inter, MPI_STATUS_IGNORE);
    printf("accept %d: %s\n", rank, rc ? "lost" : "received");
    rc = MPI_Comm_disconnect(&inter);
    MPI_Finalize();
    return !rc;
}

int main(int argc, char **argv)
{
    MPI_Comm inter, intra, twin;
    int remote, size, me, sum, accepts = strcmp(argv[1], "accept") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        accepts ? offer(argv[2]) : find(argv[2]);
    if (strcmp(argv[1], "stranger") == 0) {
        int wrong = refused();
        MPI_Finalize();
        return wrong;
    }
    if (accepts)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    if (argc > 3 && strcmp(argv[3], "disconnect") != 0) {
        if (accepts)
            return lost(inter, strcmp(argv[3], "any") == 0 ? MPI_ANY_SOURCE : 1);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            raise(SIGKILL);
        for (;;)
            pause();
    }
    MPI_Comm_remote_size(inter, &remote);
    MPI_Comm_dup(inter, &twin);
    MPI_Intercomm_merge(twin, !accepts, &intra);
    MPI_Comm_size(intra, &size);
    MPI_Comm_rank(intra, &me);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, intra);
    printf("%s %d: %d there, %d of %d, sum %d\n", argv[1], rank, remote, me, size, sum);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&intra);
    if (argc > 3)
        MPI_Comm_disconnect(&inter);
    MPI_Finalize();
    return 0;
}
C
"$MPICC" -o jobs jobs.c || exit 1

# Waits for both jobs, by their process ids, and writes their output into `said`.
wait_both() {
    wait "$1" || { echo "the accepting job failed:"; cat accepted; exit 1; }
    wait "$2" || { echo "the connecting job failed:"; cat connected; exit 1; }
    sort accepted connected >said
}

./jobs accept alone >accepted 2>&1 & accepting=$!
./jobs stranger alone >strange 2>&1 || { echo "a wrong name was not refused:"; cat strange; exit 1; }
./jobs connect alone >connected 2>&1 &
wait_both $accepting $!
grep -qx 'accept 0: 1 there, 0 of 2, sum 1' said && grep -qx 'connect 0: 1 there, 1 of 2, sum 1' said ||
    { echo "two programs without a launcher:"; cat said; exit 1; }

"$MPIRUN" -q -n 2 ./jobs accept two disconnect >accepted 2>&1 & accepting=$!
"$MPIRUN" -q -n 3 ./jobs connect two disconnect >connected 2>&1 &
wait_both $accepting $!
for rank in 0 1 2; do
    grep -q "^connect $rank: 2 there, $((rank + 2)) of 5, sum 10\$" said ||
        { echo "two mpiruns, rank $rank:"; cat said; exit 1; }
done

for source in named any; do
    "$MPIRUN" -q -n 2 ./jobs connect "$source" "$source" >connected 2>&1 &
    limit "$MPIRUN" -q -n 2 ./jobs accept "$source" "$source" >accepted 2>&1 || { echo "who waits for a lost process, $source:"; cat accepted; exit 1; }
    { wait $!; } 2>/dev/null
    is "a process is killed, $source" "$? $(sort accepted | tr '\n' ' ')" "137 accept 0: lost accept 1: lost "
done
finish
