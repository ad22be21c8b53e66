#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpirun under valgrind, for command lines of every kind: it reads and decides on no memory that is not its own or was never
# set, and loses none. (make check-valgrind does it for all tests, and the ranks, in an hour.)
. "$(dirname "$0")/check.bash"
[ -z "$SAN" ] || { echo "SKIPPED: a sanitizer finds the same, and valgrind cannot run its programs"; exit 77; }
command -v valgrind >/dev/null || { echo "no valgrind here (Debian: valgrind)"; exit 1; }

# hwloc asks the processor with an instruction that valgrind answers for another one; since 2.11 it says so.
export HWLOC_COMPONENTS=-x86

# checked STATUS ARGUMENT...: mpirun with them ends with STATUS, and valgrind finds nothing
checked() {
    local wanted=$1
    shift
    limit valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
        --num-callers=30 --suppressions="$TERN_SRCDIR/test/valgrind.supp" --log-file=found "$MPIRUN" "$@" >out 2>err </dev/null
    rc=$?
    sed -i '/^--[0-9]*--/d' found
    [ -s found ] && complain "mpirun $*: $(cat found)"
    is "mpirun $*" $rc "$wanted"
}

seq 3 >numbers
printf 'rank 0=localhost slot=0\nrank 1=localhost slot=0\n' >ranks
printf -- '-n 1 true\n-n 2 echo a\n' >programs
printf 'localhost slots=4\n' >hosts
printf 'map_by = node\nx = 1\n' >tune

checked 0 -n 2 true
checked 0 --map-by core --bind-to core --report-bindings --display map,allocation -n 2 true
checked 0 --oversubscribe --map-by numa --bind-to l2cache --rank-by node -n 3 true
checked 0 --oversubscribe --map-by ppr:2:socket:pe=1 --tag-output --timestamp-output echo a
checked 0 -rf ranks -n 2 --oversubscribe true
checked 0 --hostfile hosts --map-by node -n 4 -x A=1 sh -c 'exit 0'
set_of_one=()
[[ ! $(taskset -cp $$) =~ ": 0" ]] || set_of_one=(--cpu-set 0) # if we may use it
checked 0 "${set_of_one[@]}" --output-filename files -n 2 --oversubscribe echo a
checked 0 --app programs --oversubscribe
checked 3 -n 1 sh -c 'exit 3' : -n 1 true
checked 0 --explain -n 2 true
checked 0 --version
checked 0 --help all
# shellcheck disable=SC2016  # expanded by the rank's shell
checked 134 -n 2 sh -c 'test $PMIX_RANK != 1 || kill -ABRT $$; sleep 20'
checked 127 -n 2 ./not-there
checked 1 --no-such-option -n 2 true
checked 1 --map-by nothing -n 2 true
checked 1 --hostfile not-there -n 2 true
checked 0 --do-not-launch --host a:2,b:2 --display map -n 4 true
finish
