#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Random command lines put the same ranks on the same hosts and cores as Open MPI 4.1 does, or a warning says what differs.
# Machines and hosts are pretended. TERN_TEST_SEED=N makes other lines; `make check-long` makes 300.
. "$(dirname "$0")/check.bash"
. "$here/beside.bash"
[ $beside = yes ] || { echo "SKIPPED: there is no Open MPI 4.1 (mpirun.openmpi) to compare with, or no unshare or cc to ask it"; exit 77; }
RANDOM=${TERN_TEST_SEED:-1}
most=${TERN_TEST_LONG:+300} limit_s=${TERN_TEST_LONG:+900}
machines=("$large" "$numa" "$small")

# one_of WORD...: one of them, in `it`
one_of() {
    local i=$((RANDOM % $# + 1))
    it=${!i}
}
# perhaps PERCENT WORD...: adds one of the words, which may consist of several, to the line
perhaps() {
    local percent=$1
    shift
    one_of "$@"
    # shellcheck disable=SC2206 # options are words
    [ $((RANDOM % 100)) -ge "$percent" ] || line+=($it)
}

# Makes a command line. What Open MPI refuses or forgets is rare in it.
make_line() {
    local modifier=
    one_of "${machines[@]}"
    machine=$it line=()
    one_of "" --host\ localhost:{2,4,8,16} --host\ far1:{2,4},far2:{1,2,8} "--host far1:2,far2:3,far3:1" "--hostfile hosts"
    # shellcheck disable=SC2206
    line+=($it)
    one_of -np\ {1,2,3,4,5,6,8,11} -np\ 3 --map-by\ ppr:{1,2,3}:socket -N\ {1,2,3} --npersocket\ {1,2}
    # shellcheck disable=SC2206
    line+=($it)
    if [[ $it = -np* ]]; then
        one_of "" "" :PE={1,2} :SPAN :OVERSUBSCRIBE :PE=2,OVERSUBSCRIBE
        modifier=$it
        perhaps 60 --map-by\ {slot,hwthread,core,numa,socket,node}"$modifier" "--map-by ${modifier:-core}" --bynode
        [[ $it != --map-by* ]] || perhaps 10 "--cpus-per-proc 2"
    fi
    perhaps 30 --rank-by\ {slot,hwthread,core,numa,socket,node}{,:SPAN}
    perhaps 35 --bind-to\ {none,hwthread,core,numa,socket}
    perhaps 10 --use-hwthread-cpus
    perhaps 45 --oversubscribe
    perhaps 12 "true : -np "{1,2,3}
}

printf 'far1 slots=4\nfar2 slots=2 # and so on\n' >hosts
made=0 compared=0
while [ $made -lt "${most:-60}" ] && { [ $compared = 0 ] || [ $SECONDS -lt "${limit_s:-15}" ]; }; do
    make_line
    made=$((made + 1))
    HWLOC_SYNTHETIC=$machine run --dry-run "${line[@]}" true
    # other hosts than this one are said to be taken as alike
    [ $rc = 0 ] && ! grep -v '^mpirun: nothing is started on other hosts' err >/dev/null || continue
    ask_theirs "$machine" -- "${line[@]}" true && ! too_slow || continue
    compared=$((compared + 1))
    is "mpirun ${line[*]} on $machine" "$(as_words out)" "$(as_words theirs)"
done
echo "$made lines, of which both run $compared"
[ $compared -gt 0 ] || complain "nothing was compared"
finish
