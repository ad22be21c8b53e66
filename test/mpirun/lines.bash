# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034 # variables of those that source it
# Sourced behind check.bash by scripts that try command lines, variables and files as public job scripts, containers and tools
# write them.
. "$here/beside.bash"
export HOME=$scratch

lines=0
# split_settings [NAME=VALUE]... WORD...: sets settings to the first words of this form
split_settings() {
    settings=()
    while [ $# -gt 0 ] && [[ $1 =~ ^[A-Za-z_0-9]+= ]]; do
        settings+=("$1")
        shift
    done
}
# maps MACHINE WANTED WORD...: who runs where, as as_words prints it; the words are [NAME=VALUE]... and the command line
maps() {
    local machine=$1 wanted=$2 settings=() got
    shift 2
    split_settings "$@"
    shift ${#settings[@]}
    lines=$((lines + 1))
    env "${settings[@]}" HWLOC_SYNTHETIC="$machine" timeout -k 30 "$job_limit_s" "$MPIRUN" -q --dry-run "$@" true >out 2>err
    rc=$?
    is "${settings[*]} mpirun $*" "$rc $(as_words out)" "0 $wanted"
    [ ! -s err ] || complain "${settings[*]} mpirun $*: says something"
    if [ $beside = no ] || [ "${only_ours:-}" ] || { [ -z "${TERN_TEST_LONG:-}" ] && [ $((lines % 3)) != 0 ]; }; then
        return
    fi
    ask_theirs "$machine" "${settings[@]}" -- "$@" true
    got=$(as_words theirs)
    too_slow || is "mpirun.openmpi $*" "$got" "$wanted"
}
# ours MACHINE WANTED WORD...: where Open MPI 4.1 refuses, crashes, or does not know the words
ours() { only_ours=yes maps "$@"; }
lots=(--host localhost:32)
printf 'far1 slots=2\nfar2 slots=2\n' >two
printf 'far1 slots=2\nfar2 slots=4\n' >uneven
printf 'far1 slots=8\nfar2 slots=8\n' >eight
printf 'far1 slots=2 max_slots=3\nfar2 slots=2 max_slots=8\n' >limited

# gives WHAT WANTED WORD...: exit status, standard output and error of a job
gives() {
    local what=$1 wanted=$2 settings=()
    shift 2
    split_settings "$@"
    shift ${#settings[@]}
    lines=$((lines + 1))
    env "${settings[@]}" timeout -k 30 "$job_limit_s" "$MPIRUN" "$@" >out 2>err
    rc=$?
    is "$what" "$rc $(cat out err)" "$wanted"
}
show='echo "$A $B"'

# warns WANTED WORD...: the job runs, and standard error is as wanted
warns() {
    local wanted=$1
    shift
    lines=$((lines + 1))
    run "$@" -np 1 true
    is "$*" "$rc $(cat err)" "0 $wanted"
}

# refuses WANTED WORD...: nothing runs, and mpirun says what is wanted
refuses() {
    local wanted=$1
    shift
    lines=$((lines + 1))
    run "$@" true
    is "$*" "$rc $(cat err)" "1 mpirun: $wanted"
}

printf '#!/bin/sh\nshift\nexec "$@"\n' >elsewhere # a wrapper in place of ssh: this machine under other names
chmod +x elsewhere
