#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Another user of the host who knows everything about a job but is not its owner: he reads nothing, ends nothing, delays
# nothing. In the worst case he has the whole environment of a rank, as here.
umask 022
unset TMPDIR # another user may not reach a directory of one's own
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"
if [ "$(id -u)" != 0 ]; then
    echo "SKIPPED: to become another user needs root"
    exit 77
fi
python=/usr/bin/python3 # of the system: another user may not reach one in a home directory
for tool in setpriv:util-linux $python:python3; do
    command -v "${tool%:*}" >/dev/null || { echo "there is no ${tool%:*}; install the package ${tool#*:}"; exit 1; }
done
# shellcheck disable=SC2086
${CC:-cc} -o attack "$here/impostor.c" $LIBPMIX_FLAGS || { echo "cannot build impostor"; exit 1; }
chmod 711 "$scratch"

cat >victim.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
/* Writes rank 0's environment, waits until the file `go` is there, asks PMIx something, says the sum of the ranks. */
extern char **environ;
int main(int argc, char **argv)
{
    int rank, size, sum, place, periods = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        FILE *file = fopen("environment.new", "w");
        for (char **entry = environ; *entry; entry++)
            fprintf(file, "%s%c", *entry, 0);
        fclose(file);
        rename("environment.new", "environment");
    }
    while (access("go", F_OK))
        usleep(10000);
    MPI_Cart_map(MPI_COMM_WORLD, 1, &size, &periods, &place);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum %d\n", sum);
    MPI_Finalize();
    return 0;
}
C
"$MPICC" -o victim victim.c || { echo "cannot build victim"; exit 1; }
stranger() { timeout -k 30 "$job_limit_s" setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

begin() {
    rm -f environment go
    limit "$MPIRUN" -q -n 2 ./victim >out 2>err &
    job=$!
    eventually "the job runs" test -e environment
    vars=()
    while IFS= read -r -d '' var; do
        case $var in PMIX_*=* | TERN_*=*) vars+=("$var") ;; esac
    done <environment
    port=$(printf '%s\n' "${vars[@]}" | sed -n 's,^PMIX_SERVER_URI4[0-9]*=.*:\([0-9]*\)$,\1,p' | head -n 1)
    namespace=$(printf '%s\n' "${vars[@]}" | sed -n 's/^PMIX_NAMESPACE=//p')
    name=$(printf '%s\n' "${vars[@]}" | sed -n 's/^TERN_REPORTS=[0-9]*:[0-9]*:\([^:]*\):.*/\1/p')
    [[ $port && $namespace && $name ]] || complain "the environment lacks something: ${vars[*]}"
}
finish_job() {
    touch go
    wait "$job"
    is "$1" "$? $(cat out)" "0 sum 1"
    [ ! -s err ] || complain "$1: mpirun said something"
}

# What everybody can read does not say the namespace.
begin
[ -S "$name/reports" ] || complain "$name has no socket: this test looks at the wrong thing"
hasnt "names of sockets" /proc/net/unix "${namespace#tern-}"
for _ in 1 2 3 4 5; do
    said=$(stranger env "${vars[@]}" ./attack "$(id -u)" "$(id -g)")
    is "a stranger at the PMIx server" "$?" 1
    [ "$said" != connected ] || complain "a stranger has become rank 0"
done
finish_job "a job with strangers at its PMIx server"

# The same process as the job's own user is let in: the refusal was one of users.
begin
said=$(timeout -k 30 "$job_limit_s" env "${vars[@]}" ./attack "$(id -u)" "$(id -g)")
is "the user's own process" "$said" connected
touch go
wait "$job"

# Silent connections of a stranger, held while the ranks ask PMIx; one that was shut down behind a hello, which has no owner
# for the kernel any more.
begin
cat >hold.py <<'PY'
import socket, sys, time

port = int(sys.argv[1])
held = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
for s in held[20:30]:
    s.send(b"\0\0\0\1")
for s in held[30:]:
    s.send(b"\0" * 200)
    s.close()
open(sys.argv[2], "w").close()
time.sleep(600)
PY
mkdir public
chmod 777 public
chmod 755 hold.py
setpriv --reuid 65534 --regid 65534 --clear-groups --pdeathsig KILL "$python" hold.py "$port" public/held &
holder=$!
eventually "silent connections" test -e public/held
finish_job "a job with silent strangers"
kill "$holder" 2>/dev/null
wait "$holder" 2>/dev/null

# A stranger at the socket by which ranks report.
begin
cat >report.py <<'PY'
import socket, struct, sys

name = sys.argv[1]
got = 0
for _ in range(200):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        s.connect(name + "/reports")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        socket.send_fds(s, [struct.pack("=ii", 0, 0)], [theirs.fileno()])
        theirs.close()
        ours.send(struct.pack("=ii", 6, 77))  # MPI_Abort
        got += 1
    except OSError:
        pass
    s.close()
print("tried", got > 0)
PY
chmod 755 report.py
is "the reports' socket cannot be called" "$(stranger "$python" report.py "$name")" "tried False"
is "nor seen" "$(stranger ls "$name" 2>/dev/null)" ""
# socket_names: of the sockets that processes of this job have, other than doorbells, whose names are random and no secret
socket_names() {
    "$python" - "$job" <<'PY'
import os, re, sys

children = {}
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            children.setdefault(stat.read().rpartition(")")[2].split()[1], []).append(pid)
    except OSError:
        pass
processes, sockets = [sys.argv[1]], set()
for pid in processes:
    processes += children.get(pid, [])
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            sockets.update(re.findall(r"^socket:\[(\d+)\]$", os.readlink(f"/proc/{pid}/fd/{fd}")))
        except OSError:
            pass
with open("/proc/net/unix") as table:
    names = {words[7] for words in map(str.split, table) if len(words) > 7 and words[6] in sockets}
print(*sorted(name for name in names if not name.startswith("@tern-bell-")))
PY
}
socket_names >names
has "this job's named sockets" names '/reports( |$)'
hasnt "this job's named sockets" names '(^| )@'
finish_job "a job with strangers at its reports' socket"

tmp_is_empty || complain "left behind: $(find "$TMPDIR")"
finish
