#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Somebody between two ranks, who passes on what they say. Without encryption one who accepts connections in a rank's place is found
# out at once; with btl_tcp_encrypt 1 nobody between them can read anything, and whatever is changed ends the job with an error that
# names both ends: no rank ever takes it for what the other one sent.
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"
mpi=$here/../mpi
cat >talk.c <<'C'
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
/* talk ROUNDS: each rank sends the other a known text of 100,000 bytes, and looks at what comes. All connections go by the relay
   whose port is in the file `relay`, if it is there; with the variable HIDDEN it is told that they go where they were to go. */
static struct sockaddr_in wanted[64];

int connect(int fd, const struct sockaddr *to, socklen_t size)
{
    int (*next)(int, const struct sockaddr *, socklen_t) = (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect");
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    struct sockaddr_in in;
    FILE *file = to->sa_family == AF_INET && rank && fd < 64 ? fopen("relay", "r") : NULL;
    int port;
    if (!file)
        return next(fd, to, size);
    memcpy(&in, to, sizeof in);
    wanted[fd] = in;
    if (fscanf(file, "%d", &port) != 1)
        abort();
    fclose(file);
    uint16_t there = ntohs(in.sin_port);
    in.sin_port = htons(port);
    fcntl(fd, F_SETFL, 0);
    if (next(fd, (struct sockaddr *)&in, sizeof in) || write(fd, &there, sizeof there) != sizeof there)
        return -1;
    return fcntl(fd, F_SETFL, O_NONBLOCK);
}

int getpeername(int fd, struct sockaddr *name, socklen_t *size)
{
    int (*next)(int, struct sockaddr *, socklen_t *) = (int (*)(int, struct sockaddr *, socklen_t *))dlsym(RTLD_NEXT, "getpeername");
    if (fd < 0 || fd >= 64 || !wanted[fd].sin_family || !getenv("HIDDEN"))
        return next(fd, name, size);
    memcpy(name, &wanted[fd], sizeof *wanted);
    *size = sizeof *wanted;
    return 0;
}

int main(int argc, char **argv)
{
    enum { BYTES = 100000 };
    static char out[BYTES], in[BYTES];
    static const char text[] = "a text that nobody else shall read; ";
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < BYTES; i++)
        out[i] = text[i % (sizeof text - 1)];
    for (int i = 0; i < atoi(argv[1]); i++) {
        if (rank == 0) /* so it calls */
            MPI_Send(out, BYTES, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(in, BYTES, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(out, BYTES, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        if (memcmp(in, out, BYTES) != 0) {
            puts("wrong");
            fflush(stdout);
        }
        memset(in, 0, BYTES);
    }
    if (rank == 0)
        puts("right");
    MPI_Finalize();
    return 0;
}
C
"$MPICC" -O1 -o talk talk.c -ldl || { echo "cannot compile talk.c"; exit 1; }

# talk RELAY-ARGUMENTS -- MPIRUN-ARGUMENTS: the job by way of a relay that does this
talk() {
    local words=() relay
    while [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    rm -f relay
    : >log
    python3 "$here/relay.py" relay log "${words[@]}" &
    relay=$!
    eventually "a relay" test -e relay
    run -q -n 2 --mca btl tcp,self --mca btl_tcp_if_include lo --mca btl_tcp_disable_family 6 "${@:2}" ./talk 10
    kill $relay
    wait $relay 2>/dev/null
}
encrypt=(--mca btl_tcp_encrypt 1)

talk pass --
[ "$rc" != 0 ] || complain "a relay: status 0"
has "a relay" err 'cannot connect to rank [01] on host .*: 127\.0\.0\.1:[0-9]+ \(lo\): a relay there passes connections on to the rank, and could read and change'
hasnt "a relay" log 'a text that nobody'
HIDDEN=1 talk pass --
is "a relay on the way" "$rc $(cat out)" "0 right"
has "a relay on the way reads" log 'a text that nobody else shall read'

talk pass -- "${encrypt[@]}"
is "encrypted" "$rc $(cat out) $(cat err)" "0 right "
hasnt "encrypted" log 'text|nobody|else shall'
[ "$(wc -c <log)" -gt 2000000 ] || complain "encrypted: $(wc -c <log) bytes have passed"
ends='the connection of rank [01] on host [^ ]+ with rank [01] on host [^ ]+ is lost \(lo, 127\.0\.0\.1:[0-9]+ here and 127\.0\.0\.1:[0-9]+ there\): '
# 1: the length of the first record; 9: the proof of that; 40: what it says; 70000: some later record
for change in "flip there 1" "flip there 9" "flip there 40" "flip there 70000" "flip back 3" "flip back 70000" "repeat there 2000" \
    "repeat back 70000" "leave_out there 70000" "swap there 2000" "cut there 70000" "cut back 1"; do
    found='the received data are not the data that were sent: they were changed, repeated or removed'
    [ "${change%% *}" != cut ] || found=
    # shellcheck disable=SC2086
    talk $change -- "${encrypt[@]}"
    [ "$rc" != 0 ] || complain "$change: status 0"
    is "$change: nothing wrong was taken" "$(cat out)" ""
    has "$change" err "$ends$found"
done
rm relay

# messages of all kinds
# encrypted RANKS PROGRAM...: programs of test/mpi on so many ranks
encrypted() {
    OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_encrypt=1 "$mpi/run" -j2 --ranks "$@" >said 2>&1 ||
        complain "encrypted, on $1 ranks: $(grep -A3 '^FAIL\|^failed' said)"
}
encrypted 2 random_traffic cancel_everywhere cancel_send_early thread_everything large_count_p2p type_strided_rendezvous tcp_flushes_by_itself
encrypted 4 random_collectives non_overtaking isend_many_outstanding
encrypted 3 session_finalize_delivers session_threads_then_single
run -q -n 2 --mca btl tcp,self "${encrypt[@]}" --mca btl_tcp_links 3 --mca btl_tcp_sndbuf 4k --mca btl_tcp_rcvbuf 16k ./talk 10
is "several links, small buffers" "$rc $(cat out)" "0 right"

# ranks that do not agree
for rank in 0 1; do
    run -q -n 2 --mca btl tcp,self sh -c "[ \$OMPI_COMM_WORLD_RANK != $rank ] || export OMPI_MCA_btl_tcp_encrypt=1; exec ./talk 1"
    [ "$rc" != 0 ] || complain "rank $rank alone encrypts: status 0"
    has "rank $rank alone encrypts" err "cannot connect to rank 1 on host .*: btl_tcp_encrypt is $((1 - rank)) on rank 0, but $rank on the other rank; set the same value"
done
finish
