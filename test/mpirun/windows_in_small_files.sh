#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Where files are limited (ulimit -f), the node's shared memory is small. A window of MPI_Win_allocate that finds no room there
# is made of private memory, and counted. A shared window is refused with the limit's name.
. "$(dirname "$0")/check.bash"
cat >windows.c <<'END'
#include "counter.h"
int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    struct counter counter = counter_open("rma_private_windows", MPI_THREAD_SINGLE);
    char *base, got = 0, text[MPI_MAX_ERROR_STRING];
    int length, bytes = 60 << 20;
    MPI_Win win;
    for (int i = 0; i < 2; i++) {
        CHECK_OK(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
        base[bytes - 1] = (char)(rank + 1);
        CHECK_OK(MPI_Win_fence(0, win));
        CHECK_OK(MPI_Get(&got, 1, MPI_CHAR, (rank + 1) % size, bytes - 1, 1, MPI_CHAR, win));
        CHECK_OK(MPI_Win_fence(0, win));
        CHECK_INT(got, (rank + 1) % size + 1);
        CHECK_OK(MPI_Win_free(&win));
    }
    unsigned long long mine = counter_read(&counter), all;
    counter_close(&counter);
    CHECK_OK(MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
    int code = MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    CHECK_CLASS(code, MPI_ERR_NO_MEM);
    CHECK_OK(MPI_Error_string(code, text, &length));
    if (rank == 0)
        printf("private %llu; %s\n", all, text);
    return end();
}
END
"$TERN_PREFIX/bin/mpicc" -I"$here/../mpi" -o windows windows.c || { echo "cannot build windows"; exit 1; }
limited() { rc=0; (ulimit -S "$1" "$2" && limit "$MPIRUN" "${@:3}") >out 2>err || rc=$?; }
limited -f 204800 -q -np 2 ./windows
is "windows" "$rc" 0
# the second time both, if a rank asks before the memory of the first window is free again
has "one of two ranks, twice" out '^private [23]; '
has "what is short" out 'a window needs 120 MiB, but the shared memory of this node has 9[0-9] MiB, .*ulimit -f'
finish
