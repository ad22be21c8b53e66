#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Instructions of an 8-byte MPI_Send and of an MPI_Recv that finds its message: instructions.sh PROGRAM, PROGRAM being instructions.c
# built. Callgrind counts rank 0 in two runs, of 100 and of 300 messages; the difference is free of first calls. MPIRUN names the launcher.
set -eu -o pipefail
program=$(realpath "${1:?usage: instructions.sh PROGRAM}")
command -v valgrind >/dev/null || { echo "instructions: no valgrind here (Debian: valgrind)" >&2; exit 1; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

# count FUNCTION MESSAGES: prints the instructions of all calls
count() {
    # shellcheck disable=SC2016,SC2086
    ${MPIRUN:-mpirun} -n 2 sh -c '
        case ${PMIX_RANK:-${PMI_RANK:-}} in
        0) exec valgrind --quiet --tool=callgrind --callgrind-out-file="$2" --toggle-collect="$3" "$0" "$1" ;;
        *) exec "$0" "$1" ;;
        esac' "$program" "$2" "$directory/out" "$1" </dev/null >/dev/null
    awk '/^(summary|totals):/ { n = $2 } END { print n + 0 }' "$directory/out"
    rm -f "$directory/out"
}

both=0
for call in Send Recv; do
    few=$(count "PMPI_$call" 100)
    many=$(count "PMPI_$call" 300)
    each=$(((many - few) / 200))
    if [ $each -le 0 ]; then
        few=$(count "MPI_$call" 100)
        many=$(count "MPI_$call" 300)
        each=$(((many - few) / 200))
    fi
    both=$((both + each))
    echo "instructions-${call,,} 8 $each count"
done
echo "instructions-pair 8 $both count"
