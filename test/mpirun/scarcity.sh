#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Whoever can open no more files leaves a connection that waits at its port alone for a while, says so once, and tries again: a rank, and
# mpirun. Here the first accept4 calls of a process fail.
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"
here_cc=${CC:-cc}
cat >scarce.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
/* Waiting connections are refused five times; then the file refused.PID says how. Trying without a pause would need far less than 0.3 s. */
int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    static int refused;
    static struct timespec first;
    struct pollfd waits = {.fd = fd, .events = POLLIN};
    struct timespec now;
    if (refused == 5 || poll(&waits, 1, 0) < 1)
        return (int)syscall(SYS_accept4, fd, address, size, flags);
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (refused++ == 0)
        first = now;
    if (refused == 5) {
        char name[64];
        long ms = (now.tv_sec - first.tv_sec) * 1000 + (now.tv_nsec - first.tv_nsec) / 1000000;
        snprintf(name, sizeof name, "refused.%d", getpid());
        FILE *file = fopen(name, "w");
        fprintf(file, "%s\n", ms >= 300 ? "patient" : "in haste");
        fclose(file);
    }
    errno = EMFILE;
    return -1;
}
C
cat >program.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d\n", sum);
    MPI_Finalize();
    return 0;
}
C
$here_cc -shared -fPIC -o scarce.so scarce.c || { echo "cannot build scarce.so"; exit 1; }
# shellcheck disable=SC2086
$here_cc -o pmix_rank "$here/pmix_rank.c" $LIBPMIX_FLAGS || { echo "cannot build pmix_rank"; exit 1; }
"$MPICC" -o program program.c || { echo "cannot build program"; exit 1; }
# scarce WHAT: whoever could not accept was patient, and said it once
scarce() {
    is "$1: refusals" "$(sort -u refused.*)" patient
    is "$1: lines" "$(wc -l <err)" "$(cat refused.* | wc -l)"
    has "$1" err ': [0-9]+ files are open, which is the limit here; new connections wait until one is closed\. Raise the limit \(ulimit -n\)'
    rm -f refused.*
}

run -q -n 2 --mca btl tcp,self env LD_PRELOAD="$PWD/scarce.so" ./program
is "a rank" "$rc $(tr '\n' ',' <out)" "0 1,1,"
scarce "a rank"

LD_PRELOAD=$PWD/scarce.so run -q -n 2 env -u LD_PRELOAD bash -c 'exec 65>&-; ./program; until [ -e refused.* ]; do sleep 0.05; done'
is "mpirun" "$rc $(tr '\n' ',' <out)" "0 1,1,"
scarce "mpirun"

LD_PRELOAD=$PWD/scarce.so run -q -n 2 env -u LD_PRELOAD ./pmix_rank exchange
is "mpirun's PMIx" "$rc $(wc -l <out)" "0 2"
scarce "mpirun's PMIx"
LD_PRELOAD=$PWD/scarce.so "$MPIRUN" -q -n 2 env -u LD_PRELOAD sh -c 'until [ -e answered ]; do sleep 0.05; done' >out 2>err </dev/null &
job=$!
answers() { "$MPIRUN" --where $job 2>/dev/null | grep -q 'job of 2 ranks'; }
eventually "mpirun --where" answers
: >answered
wait $job
is "mpirun --where: status" $? 0
scarce "mpirun --where"
tmp_is_empty || complain "left behind: $(find "$TMPDIR")"
finish
