#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs on this host whose processes are killed at random times: no process is left after 2 seconds, and no file after the
# next job. SOAK_KILLS says how many; 500.
. "$(dirname "$0")/../mpirun/check.bash"
: "${MPICC:?names the mpicc to test}"
"$MPICC" -O1 -o busy "$here/../soak/busy.c" || { echo "cannot build busy"; exit 1; }

start() {
    local btl=()
    [ $((RANDOM % 2)) = 0 ] || btl=(--mca btl "tcp,self")
    "$MPIRUN" -n $((1 + RANDOM % 4)) "${btl[@]}" ./busy "$1" "$mark" >out 2>err </dev/null &
    job=$!
}
processes() { pgrep -f -- "busy [0-9]+ $mark"; }
leftovers() { pgrep -af -- "busy [0-9]+ $mark"; }
# shellcheck source=test/soak/kills.bash
. "$here/../soak/kills.bash"
kill_jobs "${SOAK_KILLS:-500}"
run -q -n 1 true
tmp_is_empty || complain "left behind: $(find "$TMPDIR")"
finish
