#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpirun in a Slurm job on four hosts: it finds the hosts, srun starts its agents, they prove that they belong to it; what goes
# wrong is said by name, and nothing is left anywhere.
HOSTS=4
. "$(dirname "$0")/slurm.bash"
for program in hello ring; do
    "$MPICC" -o $program "$here/../../examples/$program.c" || { echo "cannot build $program"; exit 1; }
done
"$MPICC" -o spawning "$TERN_SRCDIR/test/mpirun/spawning.c" || exit 1
for ((host = 1; host <= HOSTS; host++)); do on "$host" ls -A /tmp /dev/shm >"clean$host"; done

# within OPTION... -- ARGUMENT...: mpirun with the arguments, in a job that salloc gets with the options, on n1. Slurm takes the first
# idle hosts, so the job before must have left them, which is after the end of its salloc.
within() {
    local options=()
    eventually "all hosts are idle" all_idle
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    timeout -k 30 "$job_limit_s" nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- salloc -Q "${options[@]}" "$MPIRUN" "$@" >out 2>err
    rc=$?
}

printf '#!/bin/bash\n%s --oversubscribe ./hello && %s --oversubscribe ./ring\necho $? >status\n' "$MPIRUN" "$MPIRUN" >script
on 1 sbatch -Q -N 4 --ntasks-per-node=2 -o out -e err script
eventually "sbatch" test -s status
is "sbatch" "$(cat status) $(sort out | cut -d, -f1 | tr '\n' ',')" "0 $(for rank in 0 1 2 3 4 5 6 7; do printf 'Hello from rank %d of 8 on n%d,' $rank $((rank / 2 + 1)); done)The token passed 8 ranks and returned with 28,"
is "and not a word" "$(cat err)" ""
within -N 3 -w n2,n3,n4 --ntasks-per-node=2 -- ./hello
is "from outside of the job's hosts" "$rc $(sort out | cut -d, -f1 | tr '\n' ',')" "0 $(for rank in 0 1 2 3 4 5; do printf 'Hello from rank %d of 6 on n%d,' $rank $((rank / 2 + 2)); done)"
within -N 4 -n 8 --exclusive -- --host n3:2,n2:2 --map-by node -np 4 sh -c 'echo $OMPI_COMM_WORLD_RANK $(hostname) ${SSH_CONNECTION:-none} ${SLURM_NTASKS}${SLURM_PROCID}${SLURM_STEP_ID}'
is "some of the hosts, and Slurm's variables are the job's" "$rc $(sort out | tr '\n' ',')" "0 0 n3 none 8,1 n2 none 8,2 n3 none 8,3 n2 none 8,"
within -w n1,n2 -n 2 -- --mca plm rsh sh -c 'echo $(hostname) ${SSH_CONNECTION:+by ssh}'
is "--mca plm rsh" "$rc $(sort out | tr '\n' ',')" "0 n1,n2 by ssh,"
within -N 2 -n 2 -- --mca oob_tcp_if_include 10.77.0.0/24 --mca oob_tcp_dynamic_ipv4_ports 40100-40200 hostname
is "mpirun's port and network" "$rc $(sort out | tr '\n' ',')" "0 n1,n2,"
within -N 1 -n 1 : -N 2 -n 3 -- sh -c 'echo $(hostname) ${SSH_CONNECTION:+by ssh}'
is "a job of two components" "$rc $(sort out | tr '\n' ',')" "0 n1,n2 by ssh,n2 by ssh,n3 by ssh,"
within -N 3 -n 3 -- sh -c 'exit $((OMPI_COMM_WORLD_RANK == 2 ? 9 : 0))'
is "exit code" "$rc" 9
has "exit code" err '^mpirun: rank 2 \(pid [0-9]+ on host n3\) exited with code 9$'
cat >filtered <<'END'
#!/bin/bash
exec > >(while kill -0 $$ 2>/dev/null; do sleep 0.02; done; sleep 0.5; sort | gzip >log.$OMPI_COMM_WORLD_RANK.gz)
seq 5000
END
chmod +x filtered
within -N 3 -n 3 -- ./filtered
is "a filter behind the output of a rank ends its work" "$rc $(cat err) $(zcat log.?.gz | wc -l)" "0  15000"
within -N 3 -w n1,n2,n3 --ntasks-per-node=2 -- -n 2 ./spawning start 4 ''
is "MPI_Comm_spawn uses the slots that are free, on hosts without ranks, too" "$rc $(grep '^child .* right' out | sed 's/.* on //' | sort | tr '\n' ' ')" "0 n2 n2 n3 n3 "
within -N 3 -w n1,n2,n3 --ntasks-per-node=2 -- -n 3 ./spawning start 4 quiet
is "MPI_Comm_spawn is refused without free slots" "$rc $(grep -c '^class MPI_ERR_SPAWN$' out)" "0 3"
on 2 sh -c 'cat /proc/net/tcp /proc/net/tcp6 | grep -c " 0A "' >ports
within -N 2 -n 2 -- --host n2 sh -c 'cat /proc/net/tcp /proc/net/tcp6 | grep -c " 0A "'
is "an agent opens no port but PMIx's on the loopback interface" "$rc $(cat out)" "0 $(($(cat ports) + 1))"

# what cannot be started
wrong_start() {
    local what=$1 regex=$2
    shift 2
    within -N 4 -n 4 -- --mca launch_timeout 10 "$@" sleep "$mark"
    [ "$rc" != 0 ] || complain "$what: exit status 0"
    has "$what" err "^mpirun: $regex"
}
run --mca plm slurm --host n2 hostname
has "no Slurm job" err '^mpirun: the parameter plm is `slurm`, but this is not a Slurm job'
wrong_start "no mpirun" 'cannot start on host n[234]: .*/none/mpirun: No such file' --launch-agent /none/mpirun
wrong_start "an interface that leads nowhere" 'cannot start on host n[234]: .*10.99.0.[12]: ' --mca oob_tcp_if_include lost0
wrong_start "an option that srun has not" 'cannot start on host n[234]: .*unrecognized option.*--nonsense' --mca plm_slurm_args --nonsense
# agents that are told something else than the truth
mislead() {
    printf '#!/bin/sh\nsed "s/^%s .*/%s/" | exec %s "$@"\n' "$1" "$2" "$MPIRUN" >misleading
    chmod +x misleading
}
mislead port 'port 1'
wrong_start "a port that is closed" 'cannot start on host n[234]: agent: cannot connect to mpirun at port 1: 10.77.0.1: Connection refused; ' \
    --launch-agent "$PWD/misleading"
mislead secret "secret $(printf '%064d' 0)"
wrong_start "a wrong secret" 'cannot start on host n[234]: agent: cannot connect to mpirun at port [0-9]+: .*10.77.0.1: another program listens there' \
    --launch-agent "$PWD/misleading"
has "a wrong secret" err "^mpirun: closed a connection from 10.77.0.[234]: it does not know this job's secret"
# n3's mpirun is of another version: the same program with another number in it
version=$("$MPIRUN" --version | sed -n 's/.*Tern[^0-9]*\([0-9.]*\).*/\1/p' | head -n 1)
other=${version%?}$(((${version: -1} + 1) % 10))
LC_ALL=C sed "s/${version//./\\.}/$other/g" "$MPIRUN" >other_mpirun
printf '#!/bin/sh\n[ "$SLURMD_NODENAME" != n3 ] || exec %s "$@"\nexec %s "$@"\n' "$PWD/other_mpirun" "$MPIRUN" >mixed
chmod +x other_mpirun mixed
wrong_start "another version" "cannot start on host n3: its mpirun \\($PWD/mixed\\) is version $other [^ ]+, but this one is version $version" \
    --launch-agent "$PWD/mixed"
hasnt "another version" err 'cannot start on host n[124]'
salloc=$(command -v salloc)
on 1 env PATH=/none "$salloc" -Q -N 2 -n 2 "$MPIRUN" -np 2 /bin/hostname >out 2>err
has "no srun" err '^mpirun: cannot start on host n[234]: cannot run srun: No such file or directory; .* \(--mca plm rsh does not need srun\)$'

# whoever dies, all is gone on all hosts
all_ready() { [ "$(grep -c ready out)" = 4 ]; }
all_clean() {
    local host
    for host in 1 2 3 4; do is_clean "$host" || return 1; done
}
# The job lives a second longer than mpirun: at its end Slurm kills whatever is there, which would hide what we have left.
# shellcheck disable=SC2016
printf '#!/bin/bash\n"$@"\nstatus=$?\nsleep 1\nexit $status\n' >outlive
start_job() {
    : >out
    timeout -k 30 "$job_limit_s" nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- salloc -Q -J "$mark" -N 4 -n 4 \
        bash outlive "$MPIRUN" "$@" \
        sh -c "(setsid sleep $mark &); echo ready; sleep $mark" >out 2>err </dev/null &
    job=$!
    eventually "all are ready" all_ready
}
for victim in mpirun srun agent guardian rank; do
    start_job
    case $victim in
    mpirun) on 1 pkill -9 -x mpirun ;;
    srun) on 1 pkill -9 -x -P "$(on 1 pgrep -n -x mpirun)" srun ;;
    agent) on 3 pkill -9 -x mpirun ;;
    guardian) on 3 pkill -9 -x tern-guardian ;;
    rank) on 4 pkill -9 -f '^sh -c .setsid' ;;
    esac
    wait $job
    rc=$?
    [ "$rc" != 0 ] || complain "$victim: exit status 0"
    eventually "$victim: nothing is left" all_clean
done
start_job --mca heartbeat_timeout 2
ip link set p3 down
wait $job && complain "a host goes silent: exit status 0"
has "a host goes silent" err '^mpirun: host n3 is lost: it has been silent for 2 s \(heartbeat_timeout\)'
ip link set p3 up
eventually "a host goes silent: nothing is left" all_clean
start_job
on 1 scancel -n "$mark"
wait $job
eventually "scancel: nothing is left" all_clean

# Slurm's daemon on a host stands still; whoever comes to mpirun's port meanwhile gets nothing.
eventually "the job has ended" all_idle
on 3 pkill -STOP -x slurmd
timeout -k 30 "$job_limit_s" nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- salloc -Q -N 4 -n 4 "$MPIRUN" \
    --mca launch_timeout 10 sleep "$mark" >out 2>err </dev/null &
job=$!
find_port() { port=$(on 1 ss -Hltnp | sed -n '/salloc/!s/.*:\([0-9]*\) .*"mpirun".*/\1/p' | head -n 1); [ -n "$port" ]; }
eventually "a port is open" find_port
on 1 timeout 5 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port && head -c 500 /dev/zero >&3 && cat <&3" >got 2>/dev/null
is "an intruder gets nothing" "$(wc -c <got)" 0
wait $job && complain "a host that stands still: exit status 0"
has "an intruder" err "^mpirun: closed a connection from 127.0.0.1: it does not know this job's secret"
has "a host that stands still" err '^mpirun: cannot start on host n[234]: no answer within 10 s \(launch_timeout\), and from no other host'
on 3 pkill -CONT -x slurmd
eventually "a host that stands still: nothing is left" all_clean

eventually "the job has ended" all_idle
timeout -k 30 "$job_limit_s" nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- salloc -Q -N 4 -n 4 bash -c '
    : >allocated
    until [ -e lost ]; do sleep 0.05; done
    exec "$MPIRUN" --mca launch_timeout 20 sleep '"$mark" >out 2>err </dev/null &
job=$!
eventually "the job begins" test -e allocated
ip link set p3 down
: >lost
wait $job && complain "a host that is down: exit status 0"
has "a host that is down" err '^mpirun: cannot start on host n3: srun: error: Task launch for .* failed on node n3: '
hasnt "a host that is down" err 'cannot start on host n[124]'
ip link set p3 up
eventually "a host that is down: nothing is left" all_clean
finish
