#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# An MPI_Recv that finds its message of 8 bytes runs at most 570 instructions, counted by callgrind.
set -eu
. "$TERN_SRCDIR/test/mpirun/check.bash"
[ -z "$SAN" ] || { echo "SKIPPED: a sanitizer adds instructions of its own"; exit 77; }
command -v valgrind >/dev/null || { echo "no valgrind here (Debian: valgrind)"; exit 1; }
"$MPICC" -O2 -I"$TERN_SRCDIR/bench" -o receives "$TERN_SRCDIR/bench/instructions.c" -lm
program=$TERN_SRCDIR/test/style/instructions.py
for messages in 100 300; do
    # shellcheck disable=SC2016  # expanded by the ranks' shells
    "$MPIRUN" -n 2 sh -c '
        case $PMIX_RANK in
        0) exec valgrind --quiet --tool=callgrind --callgrind-out-file="out$0" --toggle-collect=PMPI_Recv ./receives "$0" ;;
        *) exec ./receives "$0" ;;
        esac' $messages </dev/null
done
"$PYTHON3" -B "$program" libmpi.so 570 100 out100 300 out300 || complain "MPI_Recv"
# a budget that nothing could exceed would be none
if "$PYTHON3" -B "$program" libmpi.so 300 100 out100 300 out300 >planted; then complain "a smaller budget was not exceeded"; fi
has "too many instructions" planted 'expected 1 to 300'
finish
