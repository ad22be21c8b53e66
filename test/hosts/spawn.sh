#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI_Comm_spawn on several hosts: children go to free slots, and to the hosts that the info names, also where no rank of the job
# runs; they talk with their parents, and whoever is killed, nothing is left anywhere.
HOSTS=3
. "$(dirname "$0")/hosts.bash"
"$MPICC" -o spawning "$TERN_SRCDIR/test/mpirun/spawning.c" || exit 1

# hosts_of WORD: the hosts of those lines, sorted
hosts_of() { grep "^$1 .*right" out | sed 's/.* on //' | sort | tr '\n' ' '; }

run -n 1 --host n1:2,n2:2 "$PWD/spawning" start 3 ''
is "free slots" "$rc $(hosts_of child)" "0 n1 n2 n2 "
run -n 2 --host n1:2,n2:2 "$PWD/spawning" start 3 quiet
has "not enough slots" out 'class MPI_ERR_SPAWN'
run -n 2 --oversubscribe --host n1:1,n2:1 "$PWD/spawning" start 3 ''
is "--oversubscribe is inherited" "$rc $(grep -c '^child .*right' out)" "0 3"
run -n 2 --host n1:2,n2:2 "$PWD/spawning" start 3 '' soft 1:3
is "soft" "$rc $(hosts_of child)" "0 n2 n2 "
run -n 1 --host n1:1,n2:2 "$PWD/spawning" start 2 '' host n2
is "host" "$rc $(hosts_of child)" "0 n2 n2 "
run -n 1 "$PWD/spawning" start 2 '' host n2:1,n3:1
is "hosts that mpirun did not know" "$rc $(hosts_of child)" "0 n2 n3 "
cores=$(nproc) # which are the slots of a host without a number
run -n 1 "$PWD/spawning" start $((cores < 2 ? 1 : 2)) '' host n3
is "a host without a number" "$rc $(hosts_of child)" "0 n3 $([ "$cores" -lt 2 ] || echo 'n3 ')"
run -n 1 --host n1:1 "$PWD/spawning" start 2 '' add-host n2:2
is "add-host" "$rc $(hosts_of child)" "0 n2 n2 "
printf 'n2 slots=1\nn3 slots=1\n' >file
run -n 1 "$PWD/spawning" start 2 '' hostfile "$PWD/file"
is "hostfile" "$rc $(hosts_of child)" "0 n2 n3 "
# two programs with hosts of their own: ranks 0 and 1, and 2 and 3
run -n 1 "$PWD/spawning" several n3:2 n2:2
is "hosts of each program" "$rc $(sed -n 's/^child \([0-9]\).* on /\1 /p' out | sort | tr '\n' ' ')" "0 0 n3 1 n3 2 n2 3 n2 "
# two programs that name the same host share its free slots
run -n 1 --host n1:1,n2:5 "$PWD/spawning" several n2 n2
is "one host for both" "$rc $(hosts_of child)" "0 n2 n2 n2 n2 "
run -n 1 --host n1:1,n2:2 "$PWD/spawning" several n2 n2
has "too few slots for both" err 'host n2 has 2 free slots, and the programs before the one with index 1 take them'
run -n 1 "$PWD/spawning" start 2 '' hostfile "$PWD/file" add-host n4
has "hostfile and add-host" out 'add-host stands beside hostfile'
# a parent on another host than mpirun's
run -n 2 --host n2:1,n3:2 "$PWD/spawning" start 1 ''
is "parents elsewhere" "$rc $(hosts_of parent)$(hosts_of child)" "0 n2 n3 n3 "
run -n 1 --host n2:1,n1:2 "$PWD/spawning" generation 2
is "generations" "$rc $(cat out)" "0 the last generation"

# left N: processes with the mark on host N
children_on() { [ "$(on "$1" pgrep -cf "child stay sleep $mark")" = 1 ]; }
none_on() { ! on "$1" pgrep -f "sleep $mark" >/dev/null; }
for victim in mpirun child agents; do
    on 1 "$MPIRUN" -n 1 --host n1:1,n2:1,n3:1 "$PWD/spawning" start 2 stay sleep "$mark" >out 2>err &
    job=$!
    eventually "a child on n2" children_on 2
    eventually "a child on n3" children_on 3
    if [ $victim = mpirun ]; then
        on 1 kill -9 "$(on 1 pgrep -f "^[^ ]*mpirun -n 1 .*stay sleep $mark")"
    elif [ $victim = agents ]; then
        # shellcheck disable=SC2046 # one for each job that has ranks or slots there
        on 3 kill -9 $(on 3 pgrep -f -- '--agent')
    else
        on 3 kill -9 "$(on 3 pgrep -f "child stay sleep $mark")"
    fi
    wait "$job" 2>/dev/null
    for host in 1 2 3; do
        eventually "$victim killed: nothing is left on n$host" none_on $host
    done
    [ $victim != agents ] || has "agents killed" err '^mpirun: .*n3'
done
finish
