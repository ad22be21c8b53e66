# SPDX-License-Identifier: BSD-3-Clause
# Kills processes of jobs at random. Sourced behind check.bash or hosts.bash; the script says how a job is started, which
# processes it has, and what is left of it:
#
#   start SEED       starts mpirun in the background, with its pid in `job`
#   processes        prints the pids of the job, one a line
#   leftovers        prints what is left; nothing if all is well
#
# SOAK_SEED repeats a series of random numbers. A job must be gone 2 seconds after the kill.

RANDOM=${SOAK_SEED:=$(date +%N | sed 's/^0*//;s/...$//')}
echo "SOAK_SEED=$SOAK_SEED"
slowest=0 # ms

# strike: kills one process of the job, two, or all of one host's but one; says in `struck` which
strike() {
    local pids=() victims=()
    # mpirun may not run yet, and a process may have gone since it was listed
    until [ ${#victims[@]} -gt 0 ] && kill -9 "${victims[@]}" 2>/dev/null; do
        mapfile -t pids < <(processes)
        [ ${#pids[@]} -gt 0 ] || continue
        case $((RANDOM % 10)) in
        0 | 1) victims=("${pids[RANDOM % ${#pids[@]}]}" "${pids[RANDOM % ${#pids[@]}]}") ;;
        2) victims=("${pids[@]:1}") ;;
        *) victims=("${pids[RANDOM % ${#pids[@]}]}") ;;
        esac
        struck=$(ps -o pid=,args= -p "${victims[*]}")
    done
}

# kill_jobs COUNT
kill_jobs() {
    local i begin took
    for ((i = 1; i <= $1; i++)); do
        start "$i"
        sleep "0.$(printf '%03d' $((RANDOM % 400)))"
        strike
        begin=$(date +%s%N)
        while [ -n "$(leftovers)" ] || kill -0 "$job" 2>/dev/null; do
            took=$((($(date +%s%N) - begin) / 1000000))
            if [ "$took" -gt 2000 ]; then
                complain "job $i: left after 2 s: $(leftovers | tr '\n' ' '); killed were: $(tr '\n' ' ' <<<"$struck")"
                processes | xargs -r kill -9 2>/dev/null
                break
            fi
            sleep 0.02
        done
        took=$((($(date +%s%N) - begin) / 1000000))
        [ "$took" -le "$slowest" ] || slowest=$took
        wait "$job" 2>/dev/null
    done
    echo "$1 jobs, the slowest was gone after $slowest ms"
}
