#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A program that mentions procedures which this version does not have is linked, and runs as long as it calls none, also when all
# symbols are resolved at its start. A call says what is missing, by the error handler it would go to: of files, which return errors
# until the program wants it otherwise, once for the job.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
wrong=0
complain() {
    echo "WRONG: $1"
    cat out
    wrong=1
}
"$MPICC" -Wl,-z,now "$here/absent_calls.c" -o absent || exit 1
LD_BIND_NOW=1 ldd -r ./absent >out 2>&1
! grep -q 'undefined symbol' out || complain "not every symbol is there"

# run WORD STATUS: on two ranks
run() {
    timeout -k 5 60 "$MPIRUN" --oversubscribe -n 2 ./absent "$1" >out 2>&1
    local rc=$?
    [ $rc = "$2" ] || complain "$1: exit status $rc, expected $2"
}
# has TIMES REGEX
has() { [ "$(grep -cE -- "$2" out)" = "$1" ] || complain "not $1 times: $2"; }

run none 0
has 2 '^rank [01]: 0 failures$'
has 0 'not in this version'
run returned 0
has 2 '^rank [01]: 0 failures$'
has 0 'not in this version'
run file 0
has 2 '^rank [01]: 0 failures$'
has 1 'MPI_File_open is not in this version of Tern'
run fatal 52
has 0 'failures$'
grep -q 'MPI_Win_create: this procedure is not in this version of Tern; mpi_info --procedures .*MPI_ERR_UNSUPPORTED_OPERATION' out || complain "no reason"
run early 52
grep -q 'MPI_Win_create: this procedure is not in this version of Tern' out || complain "no reason before MPI_Init"

timeout -k 5 60 ./absent file >out 2>&1 || complain "without a launcher"
has 1 'MPI_File_open is not in this version of Tern'
timeout -k 5 60 env OMPI_MCA_mpi_initial_errhandler=mpi_errors_return ./absent early >out 2>&1 || complain "the initial handler is not asked"
has 1 '^rank 0: 0 failures$'
exit $wrong
