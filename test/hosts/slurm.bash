# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by a test, with HOSTS set, in place of hosts.bash: a real Slurm on those hosts. n1 also has the controller, each host
# its own munged and slurmd, which end with the host. Job scripts' output lies in $scratch, which all hosts see.
. "$(dirname "${BASH_SOURCE[0]}")/hosts.bash"
export PATH=$PATH:/usr/sbin
for tool in slurmctld:slurmctld slurmd:slurmd srun:slurm-client munged:munge; do
    command -v "${tool%:*}" >/dev/null || {
        echo "there is no ${tool%:*}; install the package ${tool#*:}"
        exit 1
    }
done
unset "${!SLURM_@}" "${!SBATCH_@}" "${!SALLOC_@}"
export SLURM_CONF=$scratch/slurm.conf

# daemon HOST NAME COMMAND...: runs it there, in the background, until the host ends
daemon() {
    local host=$1 log=$scratch/$2$1.log
    shift 2
    on "$host" setsid "$@" >"$log" 2>&1 </dev/null &
}

# All of a host's own lies in its /run.
build_slurm() {
    local host
    head -c 128 /dev/urandom >munge.key
    chmod 600 munge.key
    # Slurm from 23.02 on can do without control groups, which not every machine has as it wants them.
    case $(slurmd -V) in
    *' '2[0-2].*) echo 'CgroupAutomount=no' ;;
    *) echo 'CgroupPlugin=disabled' ;;
    esac >cgroup.conf
    cat >slurm.conf <<END
ClusterName=tern
SlurmctldHost=n1
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
StateSaveLocation=/run/slurmctld
SlurmdSpoolDir=/run/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
KillWait=2
MessageTimeout=5
NodeName=n[1-$HOSTS] CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
    for ((host = 1; host <= HOSTS; host++)); do
        on "$host" mkdir -p /run/munge /run/slurmctld /run/slurmd
        daemon "$host" munged munged --foreground --force --key-file="$scratch/munge.key" --pid-file=/run/munge.pid \
            --log-file=/run/munge.log --seed-file=/run/munge.seed
    done
    eventually "munge" on 1 test -S /run/munge/munge.socket.2
    daemon 1 slurmctld slurmctld -D -c
    for ((host = 1; host <= HOSTS; host++)); do daemon "$host" slurmd slurmd -D -N "n$host"; done
    eventually "all nodes are idle" all_idle || {
        tail -n 20 slurmctld1.log slurmd?.log
        exit 1
    }
}
all_idle() { [ "$(on 1 sinfo -h -t idle -o %D 2>/dev/null)" = "$HOSTS" ]; }

# submit ARGUMENT...: srun with them on n1; leaves rc, and standard output and error in the files out and err
submit() {
    timeout -k 30 "$job_limit_s" nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- srun "$@" >out 2>err
    # shellcheck disable=SC2034 # for the script that reads this
    rc=$?
}

build_slurm
