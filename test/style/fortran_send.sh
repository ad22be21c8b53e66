#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpi_send_ runs at most 20 instructions more than MPI_Send for a message of 8 bytes, counted by callgrind.
set -eu
. "$TERN_SRCDIR/test/mpirun/check.bash"
[ -z "$SAN" ] || { echo "SKIPPED: a sanitizer adds instructions of its own"; exit 77; }
command -v valgrind >/dev/null || { echo "no valgrind here (Debian: valgrind)"; exit 1; }
"$MPICC" -O2 -DAS_FORTRAN=1 -I"$TERN_SRCDIR/bench" -o sends "$TERN_SRCDIR/bench/instructions.c" -lmpi_mpifh -lm
for messages in 100 300; do
    # shellcheck disable=SC2016  # expanded by the ranks' shells
    "$MPIRUN" -n 2 sh -c '
        case $PMIX_RANK in
        0) exec valgrind --quiet --tool=callgrind --callgrind-out-file="out$0" ./sends "$0" ;;
        *) exec ./sends "$0" ;;
        esac' $messages </dev/null
done
program=$TERN_SRCDIR/test/style/instructions.py
# What is too much here: see `message` in api/fortran.py, and what the compiler makes of tern_f_mpi_send_short.
"$PYTHON3" -B "$program" libmpi_mpifh.so 20 100 out100 300 out300 || complain "mpi_send_"
# a budget that nothing could exceed would be none
if "$PYTHON3" -B "$program" libmpi_mpifh.so 10 100 out100 300 out300 >planted; then complain "a smaller budget was not exceeded"; fi
has "too many instructions" planted 'expected 1 to 10'
finish
