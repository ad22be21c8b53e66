#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that reach each other by TCP alone: messages are as right as through shared memory, nobody else is let in, and what
# goes wrong is said.
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"
mpi=$here/../mpi

# over_tcp RANKS PROGRAM...: programs of test/mpi on so many ranks
over_tcp() {
    OMPI_MCA_btl=tcp,self "$mpi/run" -j2 --ranks "$@" >said 2>&1 ||
        complain "over TCP on $1 ranks: $(grep -A3 '^FAIL\|^failed' said)"
}
over_tcp 2 random_traffic cancel_everywhere cancel_send_early thread_everything large_count_p2p
over_tcp 4 random_collectives non_overtaking isend_many_outstanding
over_tcp 3 session_finalize_delivers session_threads_then_single

cat >ring.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* ring BYTES ROUNDS [PAUSE_US]: a message goes round; between two rounds nobody is in MPI. No rounds: the file `begun` says that
 * messages go round, and they do until the file `end` is there. */
int main(int argc, char **argv)
{
    int rank, size, bytes = atoi(argv[1]), rounds = atoi(argv[2]), pause = argc > 3 ? atoi(argv[3]) : 0, more = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    unsigned char *out = malloc(bytes), *in = malloc(bytes);
    for (int i = 0; rounds ? i < rounds : more; i++) {
        for (int k = 0; k < bytes; k++)
            out[k] = k * 7 + i + rank;
        MPI_Sendrecv(out, bytes, MPI_BYTE, (rank + 1) % size, 1, in, bytes, MPI_BYTE, (rank + size - 1) % size, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int k = 0; k < bytes; k++)
            if (in[k] != (unsigned char)(k * 7 + i + (rank + size - 1) % size)) {
                printf("byte %d of round %d is wrong\n", k, i);
                MPI_Abort(MPI_COMM_WORLD, 3);
            }
        usleep(pause);
        if (rounds)
            continue;
        if (i == 10 && rank == 0)
            fclose(fopen("begun", "w"));
        more = access("end", F_OK) != 0;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    free(out);
    free(in);
    if (rank == 0)
        puts("right");
    MPI_Finalize();
    return 0;
}
C
"$MPICC" -O1 -o ring ring.c || { echo "cannot compile ring.c"; exit 1; }
tcp=(-q --mca btl 'tcp,self')
# right WHAT ARGUMENT...
right() {
    run "${tcp[@]}" "${@:2}"
    is "$1" "$rc $(cat out)" "0 right"
    is "$1: silence" "$(cat err)" ""
}
right "several links" --mca btl_tcp_links 3 -n 2 ./ring 9000001 3
right "the loopback" --mca btl_tcp_if_include lo -n 3 ./ring 100000 3
right "a subnet" --mca btl_tcp_if_include 127.0.0.0/8 -n 2 ./ring 100000 3
right "without IPv6" --mca btl_tcp_disable_family 6 -n 2 ./ring 100000 3
run "${tcp[@]}" --mca btl_tcp_disable_family 4 --mca btl_tcp_if_include 127.0.0.0/8 -n 2 ./ring 10 1
has "without IPv4, where there is no other: the parameter is named" err 'btl_tcp_disable_family \(`4`\) permits no address of host .* that btl_tcp_if_include would permit'
right "without shm" --mca btl ^shm -n 2 ./ring 1000 3
right "a range of ports" --mca btl_tcp_port_min_v4 42000 --mca btl_tcp_port_range_v4 2000 -n 3 ./ring 1000 3
right "small buffers" --mca btl_tcp_sndbuf 4k --mca btl_tcp_rcvbuf 16k -n 2 ./ring 4000000 2
right "the largest buffers" --mca btl_tcp_sndbuf 1g --mca btl_tcp_rcvbuf 1g -n 2 ./ring 4000000 2

right "a congestion control" --mca btl_tcp_congestion reno -n 2 ./ring 4000000 2
right "the system's congestion control" --mca btl_tcp_congestion system -n 2 ./ring 4000000 2
run "${tcp[@]}" --mca btl_tcp_congestion swiftest -n 2 ./ring 4000000 2
is "an unknown congestion control" "$rc $(cat out)" "0 right"
is "an unknown congestion control: is said once" "$(grep -c "btl_tcp_congestion is swiftest, which this system does not offer" err) $(wc -l <err)" "1 1"

# The port has it, too: a connection that comes to one with bbr is paced for as long as it lasts, whatever is set then.
cat >port.c <<'C'
#include <mpi.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int fd = 3; fd < 256 && rank == 0; fd++) {
        int listens = 0;
        char name[16] = "";
        if (!getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &(socklen_t){sizeof listens}) && listens &&
            !getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &(socklen_t){sizeof name}))
            puts(name);
    }
    MPI_Finalize();
    return 0;
}
C
"$MPICC" -O1 -o port port.c || { echo "cannot compile port.c"; exit 1; }
for name in $(cat /proc/sys/net/ipv4/tcp_allowed_congestion_control); do
    run "${tcp[@]}" --mca btl_tcp_congestion "$name" -n 2 ./port
    is "a port with $name" "$rc $(cat out)" "0 $name"
done

# Links that a waiting rank reads again and again tell nobody of what comes. Before it sleeps they are told to: it sleeps until a
# message comes, not until it looks around by itself.
cat >sleeps.c <<'C'
#include <mpi.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
static int untold;
/* Returns true if bytes wait in a TCP connection of this process. */
static bool bytes_wait(void)
{
    char byte;
    for (int fd = 3; fd < 256; fd++) {
        int protocol = 0;
        if (!getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &(socklen_t){sizeof protocol}) && protocol == IPPROTO_TCP &&
            recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1)
            return true;
    }
    return false;
}
int epoll_wait(int fd, struct epoll_event *events, int most, int timeout_ms)
{
    int count = (int)syscall(SYS_epoll_pwait, fd, events, most, timeout_ms, NULL, 8);
    untold += timeout_ms != 0 && count == 0 && bytes_wait();
    return count;
}
int main(int argc, char **argv)
{
    enum { ROUNDS = 100, SLEEPS = 10 };
    int rank, number = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ROUNDS + SLEEPS; i++) {
        if (i == ROUNDS)
            untold = 0;
        if (rank == 1) {
            if (i >= ROUNDS)
                usleep(20000);
            MPI_Send(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
        MPI_Recv(&number, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 0)
            MPI_Send(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    }
    if (rank == 0 && untold > SLEEPS / 2)
        printf("%d of %d sleeps ended by themselves though a message was there\n", untold, SLEEPS);
    else if (rank == 0)
        puts("right");
    MPI_Finalize();
    return 0;
}
C
"$MPICC" -O1 -o sleeps sleeps.c || { echo "cannot compile sleeps.c"; exit 1; }
right "sleeps" -n 2 ./sleeps

# Each message of a ping-pong is one write: what gives credit back goes along with an answer.
cat >writes.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
static int writes;
ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    __atomic_fetch_add(&writes, 1, __ATOMIC_RELAXED);
    return syscall(SYS_sendmsg, fd, message, flags);
}
int main(int argc, char **argv)
{
    enum { BYTES = 32768, ROUNDS = 200 };
    static char buffer[BYTES];
    int rank, before = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = -2; i < ROUNDS; i++) {
        if (i == 0)
            before = writes;
        if (rank == 0)
            MPI_Send(buffer, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(buffer, BYTES, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(buffer, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
    int count = writes - before;
    if (count < ROUNDS || count > ROUNDS + ROUNDS / 10)
        printf("rank %d: %d writes for %d messages\n", rank, count, ROUNDS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        puts("right");
    MPI_Finalize();
    return 0;
}
C
"$MPICC" -O1 -o writes writes.c || { echo "cannot compile writes.c"; exit 1; }
right "writes" -n 2 ./writes

# what is wrong is said
# wrongly WHAT TEXT ARGUMENT...
wrongly() {
    run "${tcp[@]}" "${@:3}" -n 2 ./ring 1 1
    [ "$rc" != 0 ] || complain "$1: status 0"
    has "$1" err "$2"
}
wrongly "a bad subnet" 'btl_tcp_if_include: `10.0.0.0/99. is not a subnet' --mca btl_tcp_if_include 10.0.0.0/99
wrongly "an address" 'btl_tcp_if_exclude: `10.0.0.1. is an address; .* 10.0.0.1/24' --mca btl_tcp_if_exclude 10.0.0.1
wrongly "no such interface" 'btl_tcp_if_include \(`nosuch0.\) permits no network interface of host .*; it has .*lo \(127\.0\.0\.1/8\)' --mca btl_tcp_if_include nosuch0
wrongly "both lists" 'set only one of them' --mca btl_tcp_if_include lo --mca btl_tcp_if_exclude eth7
# With so little the system shuts the window after each segment for a fifth of a second: this would take an hour.
wrongly "hardly any buffer" 'btl_tcp_rcvbuf is "100" .*; expected 0, or a number of bytes from 16k to 1g' --mca btl_tcp_rcvbuf 100
wrongly "no port" 'btl_tcp_port_min_v4 is "70000"' --mca btl_tcp_port_min_v4 70000
wrongly "no timeout" 'btl_tcp_timeout is "0" .*; expected a whole number from 3 to 86400' --mca btl_tcp_timeout 0
wrongly "too many links" 'btl_tcp_links is "9" .*; expected a whole number from 1 to 8' --mca btl_tcp_links 9

# strangers at every port of the job get nothing, one line says so, and the job ends as it should
# started N ARGUMENT...: ./ring by mpirun in the background, once messages go round all N ranks
ranks() { pgrep -f "^./ring .* $mark"; }
started() {
    rm -f begun end
    OMPI_MCA_btl=tcp,self limit "$MPIRUN" -q -n "$1" ./ring "${@:2}" "$mark" >out 2>err &
    job=$!
    eventually "$1 ranks talk" test -e begun
}
started 2 1000 0 1000
# shellcheck disable=SC2046
ports=$(python3 "$here/strangers.py" --list $(ranks))
# shellcheck disable=SC2086
python3 "$here/strangers.py" 127.0.0.1 $ports >said 2>&1 || complain "strangers: $(cat said)"
: >end
wait $job
is "a job among strangers" "$? $(cat out)" "0 right"
is "lines about strangers" "$(grep -c 'mpirun: rank [01] on host .*: closed a connection from .* (this message is printed once)' err)" 1
is "nothing else" "$(grep -vc 'closed a connection from .* (this message is printed once)' err)" 0

# a rank that is killed ends the job
started 3 100000 0 1000
kill -9 "$(ranks | tail -n 1)"
wait $job
is "a killed rank's status" "$?" 137
tmp_is_empty || complain "left behind: $(find "$TMPDIR")"
finish
