#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What batch systems leave in a job's environment and files becomes hosts and slots, and what LSF and Grid Engine have in ssh's
# place starts the agents. The hosts are this machine under other names.
# shellcheck disable=SC2016 # what stands in single quotes is for others
. "$(dirname "$0")/check.bash"
unset "${!SLURM_@}" "${!PBS_@}" "${!LSB_@}" "${!LSF_@}" "${!SGE_@}" JOB_ID PE_HOSTFILE ARC

# allocated WHAT "HOST:SLOTS ..." VARIABLE=VALUE...: what mpirun makes of it
allocated() {
    limit env "${@:3}" "$MPIRUN" -q --dry-run --display allocation -np 1 true >out 2>err
    rc=$?
    is "$1" "$rc $(sed -n 's/^\t\(.*\): slots=\([0-9]*\) .*/\1:\2/p' out | tr '\n' ' ')" "0 $2 "
    is "$1: not a word" "$(cat err)" ""
}
# refused WHAT REGEX VARIABLE=VALUE...
refused() {
    limit env "${@:3}" "$MPIRUN" --dry-run true >out 2>err
    rc=$?
    [ "$rc" != 0 ] || complain "$1: exit status 0"
    has "$1" err "^mpirun: $2"
}

# PBS, Torque: a line for each slot, hosts in any order; OpenPBS writes names with their domain
printf 'n1\nn2\nn1\nn2\nn3.example.org\n' >nodes
allocated "PBS" "n1:2 n2:2 n3.example.org:1" PBS_JOBID=7.server PBS_ENVIRONMENT=PBS_BATCH PBS_NP=5 PBS_NODEFILE=nodes
: >nobody
refused "PBS, an empty file" "this PBS job's allocation \(PBS_NODEFILE\) names no host" PBS_JOBID=7.server PBS_NODEFILE=nobody
refused "PBS, no file" "cannot read the batch system's list of hosts, none: " PBS_JOBID=7.server PBS_NODEFILE=none

# LSF: a file as PBS's; older ones, and those that write no file, have words
printf 'h1\nh1\nh2\n' >hosts
allocated "LSF" "h1:2 h2:1" LSB_JOBID=7 LSB_DJOB_HOSTFILE=hosts LSB_MCPU_HOSTS="h1 2 h2 1 " LSB_HOSTS="h1 h1 h2"
allocated "LSB_MCPU_HOSTS" "h1:2 h2:16" LSB_JOBID=7 LSB_MCPU_HOSTS="h1 2 h2 16 "
allocated "LSB_HOSTS" "h1:2 h2:1" LSB_JOBID=7 LSB_HOSTS="h1 h2 h1"
refused "LSB_MCPU_HOSTS" 'LSB_MCPU_HOSTS is `h1 2 h2`; expected pairs of a host and its number of slots' LSB_JOBID=7 LSB_MCPU_HOSTS="h1 2 h2"

# Grid Engine: a host has a line for each of its queues; the processors in the last column may be unknown
printf 'n1.example.org 4 all.q@n1.example.org UNDEFINED\nn2.example.org 2 all.q@n2.example.org <NULL>\nn2.example.org 3 big.q@n2.example.org 0,0:0,1\n' >pe
allocated "Grid Engine" "n1.example.org:4 n2.example.org:5" JOB_ID=7 PE_HOSTFILE=pe SGE_ROOT=/none ARC=lx-amd64
printf 'n1.example.org\n' >bad
refused "Grid Engine" 'bad, line 1: expected a host and its number of slots' JOB_ID=7 PE_HOSTFILE=bad

# Slurm 22.05, as recorded: sbatch -N 2 -n 3 --overcommit -c 2; lists of names with numbers in two places
allocated "Slurm" "n1:2 n2:1" SLURM_JOB_ID=7 SLURM_JOB_NODELIST='n[1-2]' SLURM_TASKS_PER_NODE=2,1 SLURM_NTASKS=3 \
    SLURM_JOB_CPUS_PER_NODE='2(x2)' SLURM_CPUS_PER_TASK=2 SLURM_OVERCOMMIT=1
allocated "many names" "r1n01:2 r1n02:2 r2n01:2 r2n02:1 gpu-a:1 n007:1" SLURM_JOB_ID=7 SLURM_JOB_NODELIST='r[1-2]n[01-02],gpu-a,n[007]' \
    SLURM_TASKS_PER_NODE='2(x3),1(x3)'
allocated "no number of tasks" "n1:12 n2:4" SLURM_JOB_ID=7 SLURM_JOB_NODELIST='n[1-2]' SLURM_JOB_CPUS_PER_NODE=12,4
# ... salloc -N 1 -n 2 : -N 2 -n 4
components=(SLURM_JOB_ID=1 SLURM_NTASKS=6 SLURM_JOB_NODELIST_HET_GROUP_0=n1 'SLURM_JOB_NODELIST_HET_GROUP_1=n[2-3]'
    SLURM_TASKS_PER_NODE_HET_GROUP_0=2 'SLURM_TASKS_PER_NODE_HET_GROUP_1=3,1')
allocated "several components" "n1:2 n2:3 n3:1" "${components[@]}" SLURM_HET_SIZE=2
allocated "... of Slurm 19" "n1:2 n2:3 n3:1" SLURM_PACK_SIZE=2 "${components[@]//HET_GROUP/PACK_GROUP}"
refused "a component without hosts" 'this Slurm job has 3 components, but SLURM_JOB_NODELIST_HET_GROUP_2 is not set' "${components[@]}" SLURM_HET_SIZE=3

# what starts agents: qrsh joins the words for a shell, as ssh does; blaunch does not
mkdir -p "sge root/bin/lx-amd64" lsf bin
cat >"sge root/bin/lx-amd64/qrsh" <<'END'
#!/bin/sh
echo "qrsh $1 $2 $3" >>"$REACHED"
[ "$1 $2" = '-inherit -V' ] || exit 3
shift 3
exec sh -c "$*"
END
cat >lsf/blaunch <<'END'
#!/bin/sh
echo "blaunch $1" >>"$REACHED"
shift
exec "$@"
END
cat >bin/ssh <<'END'
#!/bin/sh
echo "ssh" >>"$REACHED"
exit 9
END
chmod +x "sge root/bin/lx-amd64/qrsh" lsf/blaunch bin/ssh
export REACHED=$scratch/reached
ln -s "$MPIRUN" 'm p'
# started WHAT "WHO ..." VARIABLE=VALUE... -- ARGUMENT...: agents by those, and two ranks on each of two hosts
started() {
    local what=$1 wanted=$2 variables=()
    shift 2
    while [ "$1" != -- ]; do
        variables+=("$1")
        shift
    done
    : >reached
    limit env "${variables[@]}" PATH="$scratch/bin:$PATH" "$MPIRUN" -q "${@:2}" sh -c 'echo $OMPI_COMM_WORLD_RANK' >out 2>err
    rc=$?
    is "$what" "$(sort reached | tr '\n' ',')" "$wanted"
}
printf 'far1 2 all.q@far1 UNDEFINED\nfar2 2 all.q@far2 UNDEFINED\n' >pe
printf 'far1\nfar1\nfar2\nfar2\n' >hosts
sge=(JOB_ID=7 PE_HOSTFILE=pe SGE_ROOT="$scratch/sge root" ARC=lx-amd64)
started "qrsh" "qrsh -inherit -V far1,qrsh -inherit -V far2," "${sge[@]}" -- --launch-agent "$scratch/m p"
is "ranks by qrsh" "$rc $(sort out | tr '\n' ',') $(cat err)" "0 0,1,2,3, "
started "blaunch" "blaunch far1,blaunch far2," LSB_JOBID=7 LSB_DJOB_HOSTFILE=hosts LSF_BINDIR="$scratch/lsf" -- --launch-agent "$scratch/m p"
is "ranks by blaunch" "$rc $(sort out | tr '\n' ',') $(cat err)" "0 0,1,2,3, "
mv lsf/blaunch bin/
started "blaunch in PATH, and mpirun starts all" "blaunch far1,blaunch far2," LSB_JOBID=7 LSB_DJOB_HOSTFILE=hosts -- --mca launch_width 1
is "ranks by blaunch in PATH" "$rc $(sort out | tr '\n' ',') $(cat err)" "0 0,1,2,3, "
started "not found" "ssh," JOB_ID=7 PE_HOSTFILE=pe -- --host far1
started "not wanted" "ssh," "${sge[@]}" -- --mca plm_rsh_disable_qrsh 1 --host far1
started "words for ssh are not for qrsh" "qrsh -inherit -V far1," "${sge[@]}" OMPI_MCA_plm_rsh_args="-p 2222" -- --host far1
started "something else wanted" "ssh," "${sge[@]}" -- --mca plm_rsh_agent ssh --host far1
started "PBS has none" "ssh," PBS_JOBID=7 PBS_NODEFILE=hosts -- --host far1

# agents that srun starts get mpirun's addresses and port by their standard input
cat >bin/srun <<'END'
#!/bin/sh
while [ "$1" != --agent ]; do
    case $1 in --nodelist=*) nodes=${1#*=} ;; esac
    program=$1
    shift
done
[ "$2" = call ] || exit 0
echo srun >>"$REACHED"
cat >"$DIRECTIONS"
for node in $(echo "$nodes" | tr , ' '); do
    SLURMD_NODENAME=$node "$program" --agent call <"$DIRECTIONS" &
done
wait
END
chmod +x bin/srun
export DIRECTIONS=$scratch/directions
slurm=(SLURM_JOB_ID=7 SLURM_JOB_NODELIST='far[1-2]' SLURM_TASKS_PER_NODE='2(x2)')
addresses() { sed -n 's/^address //p' directions; }
# by_srun WHAT ARGUMENT...: four ranks, by agents that called
by_srun() {
    started "$1" "srun," "${slurm[@]}" -- "${@:2}"
    is "$1" "$rc $(sort out | tr '\n' ',') $(cat err)" "0 0,1,2,3, "
}
# not_by_srun WHAT REGEX ARGUMENT...
not_by_srun() {
    started "$1" "" "${slurm[@]}" -- "${@:3}"
    [ "$rc" != 0 ] || complain "$1: exit status 0"
    has "$1" err "^mpirun: $2"
}
not_by_srun "no port" 'oob_tcp_dynamic_ipv4_ports is `42000-41000`; expected ports and ranges of ports, such as 10000-10100,20000$' \
    --mca oob_tcp_dynamic_ipv4_ports 42000-41000
for ports in 0 1-70000 x "1," 1-; do
    not_by_srun "port $ports" "oob_tcp_dynamic_ipv6_ports is \`$ports\`; expected" --mca oob_tcp_dynamic_ipv6_ports "$ports"
done
not_by_srun "no port for both" 'cannot open a port that oob_tcp_dynamic_ipv4_ports and oob_tcp_dynamic_ipv6_ports allow ' \
    --mca oob_tcp_dynamic_ipv4_ports 41000-41010 --mca oob_tcp_dynamic_ipv6_ports 41011
not_by_srun "no subnet" 'oob_tcp_if_include: `10.0.0.0/99` is not a subnet' --mca oob_tcp_if_include 10.0.0.0/99
not_by_srun "no such interface" 'oob_tcp_if_include \(`none0`\) permits no address of this host, so agents cannot connect to mpirun$' \
    --mca oob_tcp_if_include none0
not_by_srun "both" 'oob_tcp_if_include .option. and oob_tcp_if_exclude .option. are both set' --mca oob_tcp_if_include lo --mca oob_tcp_if_exclude lo
if [ -n "$(ip -o address show scope global up 2>/dev/null)" ]; then
    by_srun "srun"
    first=$(addresses | head -n 1)
    bits=32
    [ "$first" = "${first#*:}" ] || bits=128
    by_srun "a range of ports" --mca oob_tcp_dynamic_ipv4_ports 41900,42000-42999 --mca oob_tcp_dynamic_ipv6_ports 42500-43000
    port=$(sed -n 's/^port //p' directions)
    { [ "$port" -ge 42500 ] && [ "$port" -le 42999 ]; } || complain "port $port is not of the range"
    by_srun "one address" --mca oob_tcp_if_include "$first/$bits"
    is "one address" "$(addresses)" "$first"
fi

finish
