#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A connection that is lost while both processes and the launcher live is an error of what waits for it, which names both ends,
# the interface and the system's words; nothing hangs, and other ranks are not concerned.
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"
"$MPICC" -O1 -o losing "$here/losing.c" || { echo "cannot build losing"; exit 1; }

# cut PID PID: closes the connections between two processes, as a broken network would
cat >cut.py <<'P'
import re, subprocess, sys
def ss(*words):
    return subprocess.run(["ss", "-Htn", *words], capture_output=True, text=True).stdout.splitlines()
ends = {}
for line in ss("-p", "state", "established"):
    for pid in re.findall(r"pid=(\d+)", line):
        ends.setdefault(pid, []).append(tuple(line.split()[2:4]))
one, two = sys.argv[1:]
def plain(address): # a socket for both families shows IPv4 in its own way
    return address.replace("[::ffff:", "").replace("]:", ":")
theirs = [(plain(b), plain(a)) for a, b in ends.get(two, [])]
pairs = [(a, b) for a, b in ends.get(one, []) if (plain(a), plain(b)) in theirs]
assert pairs, f"{one} and {two} are not connected: {ends}"
for here, there in pairs:
    ss("-K", "src", here, "dst", there)
    left = [line for line in ss("state", "established", "src", here, "dst", there)]
    if left:
        print("this system does not let anybody close others' connections (ss -K)")
        sys.exit(77)
P
command -v ss >/dev/null || { echo "there is no ss; install the package iproute2"; exit 1; }

# lose WHAT: runs it and cuts; leaves rc and out
# shellcheck disable=SC2317 # by eventually
both_ready() { [ "$(grep -c ^ready out)" = 2 ]; }
lose() {
    : >out
    limit "$MPIRUN" -q --mca btl tcp,self -n 3 ./losing "$1" >out 2>err &
    local job=$!
    eventually "$1: both are ready" both_ready
    sleep 0.3 # so that what they do is under way
    # shellcheck disable=SC2046
    python3 cut.py $(sed -n 's/^ready [01] //p' out) >said 2>&1
    case $? in
    0) ;;
    77) kill $job; wait $job; cat said; exit 77 ;;
    *) complain "$1: $(cat said)"; kill $job ;;
    esac
    wait $job
    rc=$?
}
ends='the connection of rank [01] on host [^ ]+ with rank [01] on host [^ ]+ is lost \([a-z0-9@.-]+, [^ ]+ here and [^ ]+ there\): [A-Z]'
for what in everything transfers short; do
    lose $what
    is "$what: who goes on" "$rc $(grep 'goes on' out | sort | tr '\n' ',')" "0 rank 0 goes on,rank 1 goes on,rank 2 goes on,"
    for rank in 0 1; do has "$what" out "^rank $rank: .*$ends"; done
    hasnt "$what" out 'did not fail'
done
lose fatal
[ "$rc" != 0 ] || complain "with MPI_ERRORS_ARE_FATAL: status 0"
has "with MPI_ERRORS_ARE_FATAL" err "$ends"
tmp_is_empty || complain "left behind: $(find "$TMPDIR")"
finish
