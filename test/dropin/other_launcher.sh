#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Under Open MPI's own mpirun, which is a PMIx server too, our library runs and leaves nothing in /dev/shm: neither when all
# is well nor when a rank is killed while the ranks find each other.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
needs /usr/bin/mpirun.openmpi openmpi-bin
cat >ring.c <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static char out[200000], in[200000];
int main(int argc, char **argv)
{
    if (argc > 1 && atoi(getenv("PMIX_RANK")) == 1)
        raise(SIGKILL); /* the others have begun */
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    out[0] = out[sizeof out - 1] = rank + 1;
    MPI_Sendrecv(out, sizeof out, MPI_CHAR, (rank + 1) % size, 0, in, sizeof in, MPI_CHAR, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int left = (rank + size - 1) % size + 1;
    printf("%s of %d\n", in[0] == left && in[sizeof in - 1] == left ? "right" : "wrong", size);
    return MPI_Finalize();
}
C
"$TERN_PREFIX/bin/mpicc" -o ring ring.c || fail "ring does not compile"
uses_our_library ./ring
# files of ours that no running process has open or mapped
unused() {
    local file
    for file in /dev/shm/tern-*; do
        [ ! -e "$file" ] || grep -qsF "$file" /proc/[0-9]*/maps || echo "$file"
    done
}
before=$(unused)
launch() {
    LD_LIBRARY_PATH=$libdir timeout -k 5 60 mpirun.openmpi --allow-run-as-root --oversubscribe "$@" >out 2>&1 </dev/null
}
launch -np 4 ./ring || fail "exit status $?" out
[ "$(grep -c '^right of 4' out)" = 4 ] || fail "not four times right" out
launch -np 4 bash -c 'ulimit -f 500000; exec ./ring' || fail "exit status $? where files may have 500 MB" out
! launch -np 4 ./ring killed || fail "a killed rank is no failure" out
[ "$(unused)" = "$before" ] || fail "left in /dev/shm: $(unused)"
