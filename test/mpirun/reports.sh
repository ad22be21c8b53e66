#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks do without libpmix, which is loaded when something is asked that only PMIx knows, and where the way to report to mpirun
# is not there. (For several hosts see hosts/addresses.sh.) mpirun hears in either way who is in MPI and who has left it.
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"

cat >program.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int loaded(void)
{
    return dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NOLOAD) != NULL;
}
/* program [map | leave | kill | abort | stay]: says whether libpmix is there, what is asked for, whether it is there now */
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int rank, size, sum = 0, place, dims[1], periods[1] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int before = loaded();
    dims[0] = size;
    if (strcmp(what, "map") == 0)
        MPI_Cart_map(MPI_COMM_WORLD, 1, dims, periods, &place);
    if (strcmp(what, "leave") == 0)
        _exit(0);
    if (strcmp(what, "kill") == 0 && rank == 0)
        abort();
    if (strcmp(what, "abort") == 0 && rank == size - 1)
        MPI_Abort(MPI_COMM_WORLD, 9);
    if (strcmp(what, "stay") == 0)
        usleep(500000);
    MPI_Barrier(MPI_COMM_WORLD);
    int after = loaded();
    MPI_Finalize();
    printf("%d of %d: %d %d\n", sum, size, before, after);
    return 0;
}
C
"$MPICC" -o program program.c -ldl || { echo "cannot build program"; exit 1; }
said() { echo "$rc $(sort -u out | tr '\n' ',')"; }

run -q -n 4 ./program
is "without PMIx" "$(said)" "0 6 of 4: 0 0,"
run -q -n 1 ./program
is "a single rank without PMIx" "$(said)" "0 0 of 1: 0 0,"
run -q -n 4 ./program map
is "PMIx when it is asked" "$(said)" "0 6 of 4: 0 1,"
run -q -n 2 --mca btl tcp,self ./program
is "addresses without PMIx" "$(said)" "0 1 of 2: 0 0,"
run -q -n 2 bash -c 'exec 65>&-; exec ./program'
is "descriptor closed" "$(said)" "0 1 of 2: 0 0,"
run -q -n 2 bash -c 'exec 65<>file; exec ./program'
is "another file" "$(said)" "0 1 of 2: 0 0,"
is "nothing was written to it" "$(wc -c <file)" 0
run -q -n 2 env TERN_REPORTS=rubbish ./program
is "changed words" "$(said)" "0 1 of 2: 1 1,"
# shellcheck disable=SC2016
run -q -n 2 bash -c '[ $OMPI_COMM_WORLD_RANK = 0 ] || export TERN_REPORTS=rubbish; exec ./program'
is "one rank by PMIx" "$(said)" "0 1 of 2: 0 0,1 of 2: 1 1,"

# A rank may be a script.
run -q -n 4 sh -c './program; ./program map; ./program'
is "several programs" "$(said)" "0 6 of 4: 0 0,6 of 4: 0 1,"
cat >two_programs <<'END'
mpirun=${TERN_NODE_MEMORY_PATH#/proc/}
mpirun=${mpirun%%/*}
kill -STOP "$mpirun"
./program
{ sleep 0.2; kill -CONT "$mpirun"; } &
./program stay
END
run -q -n 1 sh two_programs
is "the next program comes before the end of the last is seen" "$(said)" "0 0 of 1: 0 0,"
for close in true 'exec 65>&-' 'export TERN_REPORTS=rubbish'; do
    run -q -n 2 bash -c "$close; ./program leave; exec sleep 1000"
    has "a script goes on ($close)" err "the MPI program of rank [01] .* ended without calling MPI_Finalize"
    is "its status" "$rc" 1
    run -q -n 2 bash -c "$close; exec ./program leave"
    has "an end before MPI_Finalize ($close)" err "exited with code 0 without calling MPI_Finalize"
    run -q -n 2 bash -c "$close; exec ./program kill"
    is "killed ($close)" "$rc" 134
    run -q -n 3 bash -c "$close; ./program abort"
    has "MPI_Abort ($close)" err "rank 2 .* called MPI_Abort with code 9"
    is "its status" "$rc" 9
    run -q -n 2 bash -c "$close; [ \$OMPI_COMM_WORLD_RANK = 1 ] || exec ./program; sleep 0.3"
    has "one rank without MPI_Init ($close)" err "rank 1 .* exited without calling MPI_Init, but other ranks wait for it in MPI_Init"
done
# A rank's words about a stranger come from outside: a terminal does not obey them, and they make no line of mpirun's.
cat >teller.py <<'END'
import os, socket, struct
KINDS = {"connected": 0, "finalized": 5, "remark": 9}
number, *_ = os.environ["TERN_REPORTS"].split(":")
common = socket.socket(fileno=int(number))
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
life, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
socket.send_fds(common, [struct.pack("ii", KINDS["connected"], 0)], [theirs.fileno(), far.fileno()])
text = "said\x1b[2J\x1b]0;mine\x07\r\nmpirun: rank 0 has won the lottery\n\u009b31m\u202ereversed, Z\u00fcrich".encode() + b"\x9b1m\n"
ours.send(struct.pack("ii", KINDS["remark"], 0) + text)
ours.send(struct.pack("ii", KINDS["finalized"], 0))
END
run -q -n 1 "${PYTHON3:-python3}" teller.py
is "a stranger's words: lines" "$rc $(wc -l <err) $(tr -dc '\001-\011\013-\037\177' <err | wc -c)" "0 1 0"
has "a stranger's words" err 'said.x1b.2J.x1b]0;mine.x07.x0d.nmpirun: rank 0 has won the lottery.n.xc2.x9b31m.xe2.x80.xaereversed, Z..rich.x9b1m.n$'

# Whoever calls mpirun's socket again and again, and there is always somebody else waiting, does not keep it from its work.
cat >callers.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/socket.h>
int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    int (*next)(int, struct sockaddr *, socklen_t *, int) = (int (*)(int, struct sockaddr *, socklen_t *, int))dlsym(RTLD_NEXT, "accept4");
    static int called;
    int caller = next(fd, address, length, flags);
    called |= caller >= 0;
    return caller < 0 && called ? open("/dev/null", O_RDWR | O_CLOEXEC) : caller;
}
C
${CC:-cc} -shared -fPIC -o callers.so callers.c || { echo "cannot build callers.so"; exit 1; }
LD_PRELOAD=$scratch/callers.so run -q -n 2 bash -c 'unset LD_PRELOAD; exec 65>&-; exec ./program'
is "others always call" "$(said)" "0 1 of 2: 0 0,"

run -q -n 2 sh -c "test \$OMPI_COMM_WORLD_RANK = 1 || '$MPIRUN' -q -n 2 ./program"
is "a job in a job" "$(said)" "0 1 of 2: 0 0,"
tmp_is_empty || complain "left behind: $(find "$TMPDIR")"
finish
