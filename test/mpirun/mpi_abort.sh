#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI_Abort ends the whole job whatever the communicator, mpirun's exit status is the low byte of the code but never 0,
# and one line says who called it with which code.
. "$(dirname "$0")/check.bash"
"$MPICC" -o abort_with "$here/abort_with.c" || { echo "cannot build abort_with"; exit 1; }

while read -r code status; do
    run -q -np 3 --oversubscribe ./abort_with "$code" world
    is "status of MPI_Abort($code)" "$rc" "$status"
    has "code $code is said" err "MPI_Abort was called on MPI_COMM_WORLD with error code $code\$"
    limit ./abort_with "$code" world >out 2>err
    is "status without a launcher of MPI_Abort($code)" $? "$status"
    has "code $code is said without a launcher" err "with error code $code\$"
done <<END
1 1
42 42
255 255
0 1
256 1
-1 255
1000 232
END
for comm in self dup half; do
    run -q -np 4 --oversubscribe ./abort_with 9 $comm
    is "MPI_Abort on $comm" "$rc" 9
done

# A rank whose process is not the one that started MPI: a child made by fork, or another program after exec. A sentence says so, and
# the job ends; nothing hangs. What a child may do is no fault: to ask for its rank, and to end.
cat >replaced.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank, size, word = 0, status = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && strcmp(argv[1], "exec") == 0)
        execl(argv[0], argv[0], "again", (char *)NULL);
    if (rank == 0 && strcmp(argv[1], "exec")) {
        pid_t child = fork();
        if (child == 0) {
            MPI_Comm_size(MPI_COMM_WORLD, &size);
            if (strcmp(argv[1], "recv") == 0)
                MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (strcmp(argv[1], "send") == 0)
                MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
            if (strcmp(argv[1], "barrier") == 0)
                MPI_Barrier(MPI_COMM_WORLD);
            MPI_Finalize();
            _exit(size);
        }
        waitpid(child, &status, 0);
    }
    while (rank == 1 && strcmp(argv[1], "exec") == 0)
        pause();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        printf("child %d\n", WEXITSTATUS(status));
    return 0;
}
C
"$MPICC" -o replaced replaced.c || { echo "cannot build replaced"; exit 1; }
for btl in shm,self tcp,self; do
    run -q -n 2 --mca btl $btl ./replaced asks
    is "a child that asks and ends, $btl" "$rc $(cat out err)" "0 child 2"
    for call in recv:MPI_Recv send:MPI_Send barrier:MPI_Barrier; do
        run -q -n 2 --mca btl $btl ./replaced ${call%:*}
        is "a child that calls ${call#*:}, $btl" "$rc $(cat out)" "1 "
        has "a child that calls ${call#*:}, $btl" err "^tern: rank 0 .*: ${call#*:} was called in process [0-9]+, a child that process [0-9]+ made by fork"
    done
    run -q -n 2 --mca btl $btl ./replaced exec
    is "exec, $btl" "$rc" 1
    has "exec, $btl" err "MPI cannot be started: rank 0 of this job is process [0-9]+ already[.] .* the first one ended without MPI_Finalize"
done
eventually "nothing is left" tmp_is_empty
finish
