#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# While a job runs over two hosts, a third one scans all ports of both and goes to each that is open, with silence, garbage and
# the hello of a rank of another job: it is told nothing, one line says so, and the job ends as it should.
HOSTS=3
. "$(dirname "$0")/hosts.bash"
cat >talk.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
/* Ranks talk with all others until a file is there. */
int main(int argc, char **argv)
{
    int rank, size, sum, end = 0, rounds = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (!end) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (sum != size * (size - 1) / 2)
            MPI_Abort(MPI_COMM_WORLD, 3);
        end = access(argv[1], F_OK) == 0;
        MPI_Bcast(&end, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (rounds++ == 10 && rank == 0)
            fprintf(fopen(argv[2], "w"), "now");
        usleep(2000);
    }
    if (rank == 0)
        puts("right");
    MPI_Finalize();
    return 0;
}
C
"$MPICC" -O1 -o talk talk.c || { echo "cannot build talk"; exit 1; }
strangers() { on 3 python3 "$here/strangers.py" "$@"; }

run -q --host n1:2,n2:2 ./talk "$scratch/end" "$scratch/begun" &
job=$!
eventually "the job" test -e begun
for host in 1 2; do
    # shellcheck disable=SC2046
    ports=$(on $host python3 "$here/strangers.py" --list $(on $host pgrep -x talk))
    [ "$(wc -w <<<"$ports")" = 2 ] || complain "ports of two ranks on host $host: $ports"
    open=" $(strangers --scan 10.77.0.$host) "
    for port in $ports; do [[ "$open" = *" $port "* ]] || complain "the scan finds '$open', not $port"; done
    # shellcheck disable=SC2086
    strangers 10.77.0.$host $ports >said 2>&1 || complain "strangers: $(cat said)"
    for port in $open; do # whoever else of the job listens
        [ "$port" = 2201 ] || strangers 10.77.0.$host "$port" >said 2>&1
    done
done
: >end
wait $job
is "a job among intruders" "$(cat out)" "right"
is "lines about them" "$(grep -c 'closed a connection from .*10.77.0.3:[0-9]*.* (this message is printed once)' err)" 1
is "nothing else" "$(grep -vc 'closed a connection .*(this message is printed once)' err)" 0
for host in 1 2; do eventually "host $host clean" is_clean $host; done
finish
