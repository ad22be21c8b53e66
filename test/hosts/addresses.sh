#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# How ranks on several hosts find each other: by what mpirun and its agents tell, without libpmix in any rank, whatever a rank
# has lost on the way or was told otherwise than the others of its host.
HOSTS=4 NICS=2
. "$(dirname "$0")/hosts.bash"
cat >everybody.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int loaded(void)
{
    return dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NOLOAD) != NULL;
}
/* everybody [late | sessions | abort]: all send to all at once, so that each asks for all; prints the sum of what has come, and whether
 * libpmix is there */
static void talk(MPI_Comm comm, int *ret_sum)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Request *requests = malloc(2 * size * sizeof *requests);
    int *got = malloc(size * sizeof *got);
    for (int other = 0; other < size; other++)
        MPI_Isend(&rank, 1, MPI_INT, other, 0, comm, &requests[other]);
    for (int other = 0; other < size; other++)
        MPI_Irecv(&got[other], 1, MPI_INT, other, 0, comm, &requests[size + other]);
    MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE);
    for (int other = 0; other < size; other++)
        *ret_sum += got[other];
    free(requests);
    free(got);
}
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int sum = 0;
    if (strcmp(what, "late") == 0 && atoi(getenv("OMPI_COMM_WORLD_RANK")) % 3 == 0)
        usleep(200000);
    for (int round = 0; strcmp(what, "sessions") == 0 && round < 3; round++) {
        MPI_Session session;
        MPI_Group group;
        MPI_Comm comm;
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
        MPI_Comm_create_from_group(group, "everybody", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        talk(comm, &sum);
        MPI_Group_free(&group);
        MPI_Comm_free(&comm);
        MPI_Session_finalize(&session);
    }
    if (strcmp(what, "sessions") != 0) {
        MPI_Init(&argc, &argv);
        talk(MPI_COMM_WORLD, &sum);
        if (strcmp(what, "abort") == 0)
            MPI_Abort(MPI_COMM_WORLD, 9);
        MPI_Finalize();
    }
    printf("%d %d\n", sum, loaded());
    return 0;
}
C
"$MPICC" -O1 -o everybody everybody.c -ldl || { echo "cannot build it"; exit 1; }
for ((host = 1; host <= HOSTS; host++)); do echo "n$host slots=6"; done >hosts
all() { run --oversubscribe --hostfile hosts "$@"; }
said() { echo "$rc $(sort -u out | tr '\n' ',')$(grep -aE '^(tern|mpirun)' err)"; }

all ./everybody
is "everybody" "$(said)" "0 276 0,"
all --map-by node ./everybody late
is "some come later" "$(said)" "0 276 0,"
run -q --hostfile hosts -n 3 --host n2:2,n3 ./everybody
is "mpirun's host has no ranks" "$(said)" "0 3 0,"
all ./everybody sessions
is "sessions" "$(said)" "0 828 0,"
all bash -c './everybody && ./everybody late && ./everybody sessions'
is "several programs" "$(said)" "0 276 0,828 0,"
all ./everybody abort
is "MPI_Abort" "$rc" 9

# what stands in the way of some ranks
all bash -c '[ $((OMPI_COMM_WORLD_RANK % 2)) = 0 ] || exec 65>&-; exec ./everybody'
is "descriptor closed" "$(said)" "0 276 0,"
all bash -c 'exec 64>&- 65<>/dev/null; ./everybody sessions && ./everybody'
is "other files" "$(said)" "0 276 0,828 0,"
all bash -c '[ $OMPI_COMM_WORLD_RANK != 7 ] || export TERN_REPORTS=rubbish; exec ./everybody'
[ "$rc" != 0 ] || complain "out of reach: exit status 0"
has "out of reach" err 'rank 7 on host n2: .*cannot reach mpirun, .* has changed TERN_REPORTS \(now `rubbish`\)'

# ranks of a host that use other interfaces than their neighbours
all bash -c '[ $((OMPI_COMM_WORLD_RANK % 3)) != 0 ] || export OMPI_MCA_btl_tcp_if_exclude=lo,eth0; exec ./everybody'
is "each its own interfaces" "$(said)" "0 276 0,"
run --oversubscribe --host n1,n2:3 bash -c '[ $OMPI_COMM_WORLD_RANK != 2 ] || export OMPI_MCA_btl_tcp_if_include=lost0; exec ./everybody'
is "one rank's interface leads nowhere: it calls the others" "$(said)" "0 6 0,"
run --host n1,n2:3 bash -c '[ $((OMPI_COMM_WORLD_RANK % 2)) = 1 ] || export OMPI_MCA_btl_tcp_if_include=lost0; exec ./everybody'
[ "$rc" != 0 ] || complain "two ranks' interface leads nowhere: exit status 0"
has "two ranks' interface leads nowhere" err 'cannot connect to rank (2 on host n2|0 on host n1): 10\.99\.0\.[12]:[0-9]+ \(lost0\): '
hasnt "nor that of their neighbours" err 'cannot connect to rank [13]'
eventually "nothing is left" none_left || leftovers
finish
