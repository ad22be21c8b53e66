#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Where files are limited (ulimit -f), the node's shared memory is small. A window of MPI_Win_allocate that finds no room there
# is made of private memory, and counted. A shared window is refused with the limit's name. Where something else is short,
# addresses, private memory or the node's memory, that is what the error names.
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

cat >short.c <<'END'
#include "check.h"
/* short KIND BYTES: takes a window or a block that is too large, and prints the error of each rank */
int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    return_errors(MPI_COMM_SELF);
    MPI_Aint bytes = (MPI_Aint)strtoll(argv[2], NULL, 0);
    char *base, text[MPI_MAX_ERROR_STRING];
    int code, length, is_block = strcmp(argv[1], "block") == 0;
    MPI_Win win;
    if (is_block)
        code = MPI_Alloc_mem(bytes, MPI_INFO_NULL, &base);
    else if (strcmp(argv[1], "shared") == 0)
        code = MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    else
        code = MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    CHECK_CLASS(code, MPI_ERR_NO_MEM);
    CHECK_OK(MPI_Error_string(code, text, &length));
    printf("%s\n", text);
    return end();
}
END
"$TERN_PREFIX/bin/mpicc" -I"$here/../mpi" -o short short.c || { echo "cannot build short"; exit 1; }
# short_of WHAT REGEX LIMIT VALUE KIND BYTES: both ranks get the error, one of them with the reason, and none names ulimit -f
short_of() {
    limited "$3" "$4" -q -np 2 ./short "$5" "$6"
    is "$1: the job" "$rc" 0
    is "$1: errors" "$(grep -c MPI_ERR_NO_MEM out)" 2
    has "$1: what is short" out "$2"
    is "$1: no other reason" "$(grep -c 'ulimit -f' out)" 0
}
addresses='needs [0-9]+ MiB more, but this process may have 2441 MiB of addresses, of which [0-9]+ are in use; raise the limit \(ulimit -v\)'
short_of "addresses, shared window" "$addresses" -v 2500000 shared 2000000000
short_of "addresses, window" "$addresses" -v 2500000 allocated 2700000000
short_of "addresses, block" "$addresses" -v 2500000 block 2700000000
short_of "private memory" 'the block needs 9536743 MiB more, but this process may have 2441 MiB of private memory, .*\(ulimit -d\)' \
    -d 2500000 block 10000000000000
for bytes in $((1 << 50)) $((1 << 62)); do
    short_of "the node, shared window" 'a window needs [0-9]+ MiB on this node, which has [0-9]+ MiB of memory' -c 0 shared $bytes
    short_of "the node, window" 'a window needs [0-9]+ MiB of memory here, but the node has [0-9]+ MiB of free memory' -c 0 allocated $bytes
    short_of "the node, block" 'the block needs [0-9]+ MiB more, but the node has [0-9]+ MiB of free memory' -c 0 block $bytes
done
finish
