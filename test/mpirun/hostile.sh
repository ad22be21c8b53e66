#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Limits and sandboxes: the job runs, or one sentence says what is missing; nothing is left either way.
. "$(dirname "$0")/check.bash"
here_cc=${CC:-cc}
# shellcheck disable=SC2086
$here_cc -o pmix_rank "$here/pmix_rank.c" $LIBPMIX_FLAGS || { echo "cannot build pmix_rank"; exit 1; }
$here_cc -o sandbox "$here/sandbox.c" || { echo "cannot build sandbox"; exit 1; }

# limited OPTION VALUE ARGUMENT...: mpirun with a limit of the shell
limited() { rc=0; (ulimit "$1" "$2" && limit "$MPIRUN" "${@:3}") >out 2>err || rc=$?; }
refused() {
    is "$1: status" "$rc" 1
    is "$1: one line" "$(wc -l <err)" 1
    has "$1" err "$2"
}

limited -n 64 -q -np 16 ./pmix_rank exchange
refused "few descriptors" '^mpirun: 16 ranks need [0-9]+ open files in mpirun, but the limit is 64; raise it \(ulimit -n\)$'
limited -n 64 -q -np 2 ./pmix_rank exchange
is "just enough descriptors" "$rc $(wc -l <out)" "0 2"
limited -f 64 -q -np 2 ./pmix_rank exchange
refused "small files" '^mpirun: 2 ranks need a shared file of [0-9]+ KiB, but the limit of file sizes is 64 KiB; raise it \(ulimit -f\)$'
limited -f 500000 -q -np 2 ./pmix_rank exchange
is "less shared memory" "$rc $(wc -l <out)" "0 2"

for stack in 64 128 192; do
    limited -s $stack -q -np 2 ./pmix_rank exchange
    refused "a stack of $stack KiB" "^mpirun: the limit of the stack is $stack KiB, and [0-9]+ KiB are in use; mpirun needs [0-9]+ KiB more: raise the limit \(ulimit -s\)\$"
done
# the environment is on the stack, too
limited -s 320 -q -np 2 ./pmix_rank exchange
is "a small stack" "$rc $(wc -l <out)" "0 2"

# sandboxed CALL COMMAND...
sandboxed() { limit ./sandbox "$1" -- "$MPIRUN" "${@:2}" >out 2>err 9>other; rc=$?; }
for call in memfd_create fallocate membarrier process_vm_readv; do
    sandboxed $call -q -np 2 ./pmix_rank exchange
    is "without $call" "$rc $(wc -l <out)" "0 2"
done
sandboxed close_range -q -np 1 sh -c 'ls /proc/self/fd | tr "\n" " "'
is "without close_range" "$rc $(cat out)" "0 0 1 2 3 64 65 66 "
tmp_is_empty || complain "left behind: $(find "$TMPDIR")"

# A name as long as the kernel allows; libpmix has less room.
cat >longname.c <<'C'
#include <string.h>
int gethostname(char *name, size_t room)
{
    memset(name, 0, room);
    memset(name, 'h', room > 64 ? 64 : room);
    return 0;
}
C
$here_cc -shared -fPIC -o longname.so longname.c -ldl || { echo "cannot build longname.so"; exit 1; }
LD_PRELOAD=$scratch/longname.so run -q -np 2 ./pmix_rank exchange
is "a long host name" "$rc $(wc -l <out)" "0 2"

# A terminal may say that its other end has gone, and have its last bytes only then.
cat >early_end.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
ssize_t read(int fd, void *buffer, size_t size)
{
    static char said[1024];
    char name[64];
    if (fd >= 0 && fd < 1024 && !said[fd] && ptsname_r(fd, name, sizeof name) == 0) {
        said[fd] = 1;
        errno = EIO;
        return -1;
    }
    return ((ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read"))(fd, buffer, size);
}
C
$here_cc -shared -fPIC -o early_end.so early_end.c -ldl || { echo "cannot build early_end.so"; exit 1; }
LD_PRELOAD=$scratch/early_end.so run -q -np 2 env -u LD_PRELOAD seq 5000
is "a terminal that says EIO too early" "$rc $(wc -l <out)" "0 10000"

# Without /proc ranks and orphans are found all the same.
cat >noproc.c <<'C'
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <string.h>
DIR *opendir(const char *name)
{
    DIR *(*next)(const char *) = (DIR *(*)(const char *))dlsym(RTLD_NEXT, "opendir");
    return strcmp(name, "/proc") ? next(name) : NULL;
}
C
$here_cc -shared -fPIC -o noproc.so noproc.c -ldl || { echo "cannot build noproc.so"; exit 1; }
LD_PRELOAD=$scratch/noproc.so run -q -np 2 env -u LD_PRELOAD \
    sh -c "trap '' TERM; (setsid sleep $mark &); sleep 0.2; [ \$OMPI_COMM_WORLD_RANK = 0 ] && exit 3; sleep $mark; sleep $mark"
is "without /proc" "$rc" 3
none_marked || complain "without /proc: processes are left"

# The MPI program of a script dies, the script goes on: the others are not kept waiting.
run -q -np 2 sh -c "./pmix_rank unfinished 0; sleep $mark"
is "a script's program: status" "$rc" 1
has "a script's program" err '^mpirun: the MPI program of rank [01] \(pid [0-9]+ on host .*\) ended without calling MPI_Finalize( or MPI_Session_finalize)?$'
none_marked || complain "a script's program: processes are left"
tmp_is_empty || complain "left behind: $(find "$TMPDIR")"
finish
