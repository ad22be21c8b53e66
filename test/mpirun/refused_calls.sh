#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Any system call may be refused by a sandbox, to mpirun or to the ranks: the job runs as if nothing were, or a sentence says
# which call it is. Nothing hangs, spins, crashes, or is left.
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"
${CC:-cc} -o sandbox "$here/sandbox.c" || { echo "cannot build sandbox"; exit 1; }

cat >program.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    static char big[400000];
    int rank, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sum = rank;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Send(big, sizeof big, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(big, sizeof big, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    printf("sum %d\n", sum);
    return 0;
}
C
"$MPICC" -o program program.c || { echo "cannot build program"; exit 1; }

# right: the job has run as if nothing were
right() { [ "$rc $(tr '\n' ' ' <out)$(wc -l <err)" = "0 sum 1 sum 1 0" ]; }

refused=0 ran=0
for call in $(./sandbox --list); do
    limit ./sandbox "$call" -- "$MPIRUN" -q -np 2 ./program >out 2>err
    rc=$?
    if right; then
        ran=$((ran + 1))
    else
        refused=$((refused + 1))
        is "mpirun without $call" "$rc $(wc -l <out) $(wc -l <err)" "1 0 1"
        has "mpirun without $call" err '^mpirun: .*Operation not permitted'
    fi
    for btl in shm,self tcp,self; do
        run -q -np 2 --mca btl $btl ./sandbox "$call" -- ./program
        right && continue
        is "ranks without $call, $btl" "$rc $(wc -l <out)" "1 0"
        has "ranks without $call, $btl" err '^(tern|mpirun): .*MPI cannot be started.* Operation not permitted|the system refuses the call '"$call"' '
        hasnt "ranks without $call, $btl: only sentences of ours" err '^(mpirun: [^r]|[^mt])'
    done
    tmp_is_empty || complain "without $call: left behind: $(find "$TMPDIR")"
done
[ "$refused" -gt 10 ] && [ "$ran" -gt 10 ] || complain "the sandbox does nothing, or refuses everything: $refused refused, $ran ran"
# what libpmix calls later than at its start
for call in accept4 getpeername "select or pselect6"; do
    # shellcheck disable=SC2086  # names
    limit ./sandbox ${call// or / } -- "$MPIRUN" -q -np 2 env TERN_REPORTS=rubbish ./program >out 2>err
    rc=$?
    is "PMIx without $call" "$rc $(wc -l <err)" "1 1"
    has "PMIx without $call" err "^mpirun: the system refuses the call $call "
done
finish
