#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpi4py.futures: pools of processes that a program starts, without a launcher and under mpirun, many one after the other; and a
# pool of the processes that mpirun has started. Nothing is left.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
module=$(echo /usr/lib/python3/dist-packages/mpi4py/MPI.cpython-*.so)
needs "$module" python3-mpi4py
uses_our_library "$module"
export MARK=futures.$$.$RANDOM
program=$TERN_SRCDIR/test/dropin/mpi4py_futures.py

# left: the processes of this script's programs
left() {
    local pid
    for pid in $(pgrep -f 'mpirun|mpi4py'); do
        ! grep -qz "^MARK=$MARK\$" "/proc/$pid/environ" 2>/dev/null || echo "$pid"
    done
}
# ends WHAT: soon no process is left
ends() {
    local i
    for ((i = 0; i < 2400; i++)); do
        [ -n "$(left)" ] || return 0
        sleep 0.05
    done
    fail "$1: processes are left: $(left | xargs ps -o pid,args -p)"
}

for ranks in 0 1; do
    mpi $ranks out /usr/bin/python3 "$program" 20
    grep -qx '20 pools are right' out || fail "20 pools, $ranks ranks" out
    ends "20 pools, $ranks ranks"
done
mpi 5 out /usr/bin/python3 -m mpi4py.futures "$program" 1
grep -qx '1 pools are right' out || fail "python3 -m mpi4py.futures on 5 ranks" out

# a program that forgets its pool, and one that is killed
cat >forgets.py <<'END'
import os, sys, time
from mpi4py.futures import MPIPoolExecutor
if __name__ == '__main__':
    pool = MPIPoolExecutor(2)
    print(pool.submit(abs, -7).result(), flush=True)
    if len(sys.argv) > 1:
        time.sleep(600)
END
mpi 0 out /usr/bin/python3 forgets.py
grep -qx 7 out || fail "a pool that nobody shuts down" out
ends "a pool that nobody shuts down"
LD_LIBRARY_PATH=$libdir /usr/bin/python3 forgets.py waits >out 2>&1 &
for ((i = 0; i < 2400; i++)); do
    ! grep -qx 7 out || break
    sleep 0.05
done
kill -9 $!
{ wait $!; } 2>/dev/null
ends "a killed program"
exit 0
