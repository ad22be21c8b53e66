#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank that is away, whose queue of connections strangers have filled, is called until it comes back, however long that takes. One
# that cannot be reached, as its host does not answer at all, is an error within the limit of a job here, which the system's own is not.
HOSTS=2
. "$(dirname "$0")/hosts.bash"
job_limit_s=100
cat >away.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
/* Rank 0 sends to rank 1, when the file "begun" is there; rank 1 is not in MPI until the file "back" is. */
static void await(const char *file)
{
    while (access(file, F_OK))
        usleep(10000);
}
int main(int argc, char **argv)
{
    int rank, number = 42;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        await("begun");
        MPI_Send(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    } else {
        FILE *file = fopen("pid.new", "w");
        fprintf(file, "%d", getpid());
        fclose(file);
        rename("pid.new", "pid");
        await("back");
        MPI_Recv(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        puts(number == 42 ? "right" : "wrong");
    }
    MPI_Finalize();
    return 0;
}
C
"$MPICC" -O1 -o away away.c || { echo "cannot build away"; exit 1; }

on 2 sh -c 'echo 8 >/proc/sys/net/core/somaxconn' || skip "the length of queues cannot be set in a namespace"
run -q --host n1,n2 --mca btl_tcp_if_include eth0 ./away &
job=$!
eventually "rank 1" test -e pid
port=$(on 2 python3 "$here/../mpirun/strangers.py" --list "$(cat pid)")
on 1 python3 "$here/../mpirun/visitors.py" fill 30 10.77.0.2 "$port" begun end &
strangers=$!
eventually "a full queue" test -e begun
sleep 15 # longer than a connection is waited for, and another port is asked
: >back
wait $job
is "a full queue" "$(cat out) $(cat err)" "right "
: >end
wait $strangers

# lost0 leads nowhere; as the other end is known to it there is no answer to wait for first
for host in 1 2; do
    for number in 1 2; do on $host ip neigh replace 10.99.0.$number lladdr 02:00:00:00:00:99 dev lost0 2>/dev/null; done
done
: >begun
run -q --host n1,n2 --mca btl_tcp_if_include lost0 ./away
[ "$rc" != 0 ] || complain "no answer: status 0"
has "no answer" err 'cannot connect to rank [01] on host n[12]: 10\.99\.0\.[12]:[0-9]+ \(lost0\): Connection timed out'
for host in 1 2; do eventually "host $host clean" is_clean $host; done
finish
