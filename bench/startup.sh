#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Time from typing mpirun to having the prompt back: startup.sh HELLO [RANKS...]
# MPIRUN names the launcher; ROUNDS (default 5) runs per rank count, the median is printed.
set -u -o pipefail
hello=${1:?usage: startup.sh HELLO [RANKS...]}
shift
[ $# -gt 0 ] || set -- 2 64
for ranks in "$@"; do
    times=()
    for _ in $(seq "${ROUNDS:-5}"); do
        begin=${EPOCHREALTIME/[.,]/}
        # MPIRUN may carry options, hence unquoted.
        # shellcheck disable=SC2086
        if ! ${MPIRUN:-mpirun} -n "$ranks" "$hello" </dev/null >/dev/null 2>&1; then
            echo "startup: $ranks ranks: the program failed" >&2
            exit 1
        fi
        times+=($((${EPOCHREALTIME/[.,]/} - begin)))
    done
    printf '%s\n' "${times[@]}" | sort -n | awk -v ranks="$ranks" \
        '{ t[NR] = $1 } END { print "startup", ranks, t[int((NR + 1) / 2)] / 1e3, "ms" }'
done
