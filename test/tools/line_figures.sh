#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What lines cost decides how long messages go between two ranks of a node, on every processor: where a sender pays for
# being read, two ranks that both wait stream their messages to each other; where it does not pay, both pull them. And a
# job for which no figures are stored, and which may measure, is right before and after it has measured.
set -u
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
unset XDG_CONFIG_HOME "${!OMPI_@}"
export HOME=$scratch
fail() {
    echo "$*"
    tail -n 20 out 2>/dev/null
    exit 1
}
# exchange streams|pulls|works: two ranks exchange messages of 1 MiB, 20 at a time, until a tenth of them was pulled at most (other
# programs on these processors make ranks pull now and then), or to see that it never is so, or some. All bytes are right.
cat >exchange.c <<'C'
#define _GNU_SOURCE /* process_vm_readv */
#include "counter.h"

#include <sys/uio.h>

enum { BYTES = 1 << 20, EXCHANGES = 20, TRIES = 2000 };

/* Returns 1 if ranks can read each other's memory. */
static int may_pull(void)
{
    static char there = 1, here;
    struct { void *address; long pid; } own = {&there, getpid()}, other;
    CHECK_OK(MPI_Sendrecv(&own, sizeof own, MPI_BYTE, 1 - rank, 1, &other, sizeof own, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    struct iovec to = {&here, 1}, from = {other.address, 1};
    int may = process_vm_readv((pid_t)other.pid, &to, 1, &from, 1, 0) == 1;
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &may, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    return may;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int streams = strcmp(argv[1], "streams") == 0, pulls = strcmp(argv[1], "pulls") == 0 && may_pull(), found = 0;
    unsigned char *sent = allocate(BYTES), *received = allocate(BYTES);
    struct counter pulled = counter_open("pml_bytes_pulled", MPI_THREAD_SINGLE);
    for (int try = 0; try < TRIES && !found; try++) {
        unsigned long long before = counter_read(&pulled);
        for (int i = 0; i < EXCHANGES; i++) {
            memset(sent, i + rank, BYTES);
            CHECK_OK(MPI_Sendrecv(sent, BYTES, MPI_BYTE, 1 - rank, 1, received, BYTES, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD,
                                  MPI_STATUS_IGNORE));
            CHECK(received[0] == (unsigned char)(i + 1 - rank) && memcmp(received, received + 1, BYTES - 1) == 0);
        }
        unsigned long long bytes = counter_read(&pulled) - before, all;
        CHECK_OK(MPI_Allreduce(&bytes, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
        int percent = (int)(100 * all / (2ull * BYTES * EXCHANGES));
        CHECK(!pulls || percent > 10);
        found = streams ? percent <= 10 : try == 20;
    }
    CHECK(found);
    counter_close(&pulled);
    return end();
}
C
"$MPICC" -I"$here/../mpi" -o exchange exchange.c || fail "cannot compile exchange.c"
# exchange FIGURES streams|pulls
exchange() {
    tr ' ' '\n' <<<"$1 end=$(wc -w <<<"$1")" >model
    local way=$2
    [ -z "${SAN-}" ] || way=works # a copy takes so long there that its rank seems to be away
    "$MPIRUN" --mca btl shm,self --mca coll_model_file model -n 2 ./exchange "$way" >out 2>&1 || fail "$2 with $1: exit status $?"
}
exchange 'shm_again_gap=400 shm_take_gap=50' streams
exchange 'shm_again_gap=90 shm_take_gap=50' pulls
# pages in turn, the oldest cell first, and longer payloads prepared
exchange 'shm_again_gap=400 shm_take_gap=50 shm_turns_gap=30 shm_prepared=4096' streams
# nothing is stored: one of the ranks measures, or takes what is built in
"$MPIRUN" --mca btl shm,self -n 2 ./exchange works >out 2>&1 || fail "without figures: exit status $?"
exit 0
