#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# An 8-byte MPI_Send stays as short as docs/send-path.md says: its functions, files, indirect calls and instructions, counted by
# callgrind.
set -eu
. "$TERN_SRCDIR/test/mpirun/check.bash"
release=$("$MPICC" -dM -E -x c /dev/null | awk '/define __clang__ /{clang = 1} /define __GNUC__ /{gcc = $3} END {print clang ? 0 : gcc}')
if [ "$release" -lt 12 ] && [ "$release" -gt 0 ]; then
    echo "SKIPPED: the budget is that of gcc 12 and later; gcc $release makes some 20 instructions more"
    exit 77
fi
[ -z "$SAN" ] || { echo "SKIPPED: a sanitizer adds instructions of its own"; exit 77; }
command -v valgrind >/dev/null || { echo "no valgrind here (Debian: valgrind)"; exit 1; }
command -v objdump >/dev/null || { echo "no objdump here (Debian: binutils)"; exit 1; }
"$MPICC" -O2 -I"$TERN_SRCDIR/bench" -o sends "$TERN_SRCDIR/bench/instructions.c" -lm
for messages in 100 300; do
    # shellcheck disable=SC2016  # expanded by the ranks' shells
    "$MPIRUN" -n 2 sh -c '
        case $PMIX_RANK in
        0) exec valgrind --quiet --tool=callgrind --dump-instr=yes --callgrind-out-file="out$0" --toggle-collect=PMPI_Send ./sends "$0" ;;
        *) exec ./sends "$0" ;;
        esac' $messages </dev/null
done
"$PYTHON3" -B "$TERN_SRCDIR/test/style/send_path.py" "$TERN_SRCDIR" 100 out100 300 out300 || complain "the send path"
# a budget that nothing could exceed would be none
sed 's/^INSTRUCTIONS = .*/INSTRUCTIONS = 100/; s/^INDIRECT = .*/INDIRECT = 0/; s/^HEADERS = .*/HEADERS = 1/; s/, .shm_send.}/}/; s/, .shm.c.}/}/' \
    "$TERN_SRCDIR/test/style/send_path.py" >planted.py
if "$PYTHON3" -B planted.py "$TERN_SRCDIR" 100 out100 300 out300 >planted; then complain "planted faults were not found"; fi
has "too many instructions" planted 'expected 100 at most'
has "a function too many" planted 'functions beside .*: shm_send'
has "a file too many" planted 'files beside .*: shm.c'
has "too many headers" planted 'headers, expected 1 at most'
has "an indirect call too many" planted '1 indirect calls, expected 0 at most: call'
finish
