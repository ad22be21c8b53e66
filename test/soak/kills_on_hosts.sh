#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The same on four hosts. SOAK_HOST_KILLS says how many; 100.
HOSTS=4
. "$(dirname "$0")/../hosts/hosts.bash"
"$MPICC" -O1 -o busy "$here/../soak/busy.c" || { echo "cannot build busy"; exit 1; }
for ((host = 1; host <= HOSTS; host++)); do echo "n$host slots=2"; done >hosts

start() {
    nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- "$MPIRUN" --hostfile hosts ./busy "$1" "$mark" >out 2>err </dev/null &
    job=$!
}
# All of a job but the nsenter that holds it, as seen from outside the hosts.
processes() { pgrep -f -- "^\./busy|^$MPIRUN|mpirun --agent|tern-guardian" | grep -vx "$job"; }
leftovers() { processes; }
# shellcheck source=test/soak/kills.bash
. "$here/../soak/kills.bash"
kill_jobs "${SOAK_HOST_KILLS:-100}"
run -q --hostfile hosts -n 8 true
for ((host = 1; host <= HOSTS; host++)); do
    eventually "n$host is clean" is_clean "$host" || on "$host" ls -lA /tmp /dev/shm
done
finish
