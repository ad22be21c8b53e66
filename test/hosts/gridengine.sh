#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Under a real Grid Engine on two hosts: mpirun takes hosts and slots from its job and has qrsh start its agents. What qrsh passes
# on arrives whole, and with the job all ends. n1 also has the master, each host its execution daemon; they end with the host.
HOSTS=2
. "$(dirname "$0")/hosts.bash"
# Installed, or as quickstart unpacks it: then /usr/lib has it on these hosts only, for paths in there are built into the master.
from=/usr
[ -x /usr/lib/gridengine/sge_qmaster ] || from=$TERN_BUILDDIR/gridengine/usr
[ -x "$from/lib/gridengine/sge_qmaster" ] || skip "there is no Grid Engine; ./quickstart check unpacks Debian's"
for ((host = 1; host <= HOSTS; host++)); do
    [ "$from" = /usr ] || on "$host" mount -t overlay -o "lowerdir=$from/lib:/usr/lib" overlay /usr/lib || skip "this system permits no overlay mounts"
done
for program in "$here/../../examples/"{hello,ring}.c; do
    "$MPICC" -O1 -o "$(basename "$program" .c)" "$program" || { echo "cannot build $program"; exit 1; }
done
unset "${!SGE_@}"
export SGE_ROOT=$scratch/sge SGE_CELL=default SGE_QMASTER_PORT=6444 SGE_EXECD_PORT=6445
arch=$("$from/share/gridengine/util/arch")
PATH=$SGE_ROOT/bin/$arch:$PATH

# daemon HOST COMMAND: runs it there, in the background, until the host ends
daemon() { SGE_ND=1 on "$1" setsid "$2" >"$2$1.log" 2>&1 </dev/null & }
answers() { on 1 qconf -sss >/dev/null 2>&1; }
all_report() { [ "$(on 1 qhost | grep -c "^n[0-9]* *$arch ")" = "$HOSTS" ]; }
give_up() {
    tail -n 20 ./*.log
    exit 1
}

# What differs from the configuration that comes with it. All of a host's own lies in its /run.
build_grid_engine() {
    local common=$SGE_ROOT/$SGE_CELL/common resources=$from/share/gridengine/util/resources host
    mkdir -p "$SGE_ROOT"/{bin,utilbin} "$common"
    ln -s /usr/lib/gridengine "$SGE_ROOT/bin/$arch"
    ln -s /usr/lib/gridengine "$SGE_ROOT/utilbin/$arch"
    ln -s "$from/share/gridengine/util" "$SGE_ROOT/util"
    echo n1 >"$common/act_qmaster"
    sed -e 's/^admin_user .*/admin_user root/' -e 's/^ignore_fqdn .*/ignore_fqdn true/' -e 's/^spooling_method .*/spooling_method classic/' \
        -e 's/^spooling_lib .*/spooling_lib libspoolc/' -e "s,^spooling_params .*,spooling_params $common;/run/qmaster," \
        -e "s,^binary_path .*,binary_path $SGE_ROOT/bin," -e 's,^qmaster_spool_dir .*,qmaster_spool_dir /run/qmaster,' \
        "$from/share/gridengine/default-bootstrap" >"$common/bootstrap"
    sed -e 's,^execd_spool_dir .*,execd_spool_dir /run/execd,' -e 's/^min_\([ug]\)id .*/min_\1id 0/' -e 's,^mailer .*,mailer /bin/true,' \
        -e 's/^load_report_time .*/load_report_time 0:0:1/' -e 's/^reporting_params .*/reporting_params none/' \
        "$from/share/gridengine/default-configuration" >configuration
    on 1 mkdir -p /run/qmaster/job_scripts
    on 1 spoolinit classic libspoolc "$common;/run/qmaster" init
    on 1 spooldefaults configuration "$scratch/configuration"
    on 1 spooldefaults complexes "$resources/centry"
    on 1 spooldefaults usersets "$resources/usersets"
    on 1 spooldefaults managers root
    daemon 1 sge_qmaster
    eventually "the master answers" answers || give_up
    on 1 qconf -ssconf | sed -e 's/^schedule_interval .*/schedule_interval 0:0:1/' -e 's/^flush_\([a-z]*\)_sec .*/flush_\1_sec 1/' >schedule
    sed 's/^slots .*/slots 99/' "$resources"/pe/mpi* >mpi
    printf 'group_name @allhosts\nhostlist %s\n' "$(seq -f n%.0f -s ' ' "$HOSTS")" >group
    on 1 qconf -sq | sed -e 's/^qname .*/qname all.q/' -e 's/^hostlist .*/hostlist @allhosts/' -e 's/^slots .*/slots 2/' \
        -e 's/^pe_list .*/pe_list mpi/' -e 's,^shell .*,shell /bin/sh,' -e 's/^load_thresholds .*/load_thresholds NONE/' >queue
    {
        on 1 qconf -Msconf schedule
        on 1 qconf -Ap mpi
        for ((host = 1; host <= HOSTS; host++)); do
            on 1 qconf -ah "n$host"
            on 1 qconf -as "n$host"
            on "$host" mkdir -p /run/execd
            daemon "$host" sge_execd
        done
        on 1 qconf -Ahgrp group
        on 1 qconf -Aq queue
    } >configured.log 2>&1
    eventually "all hosts report" all_report || give_up
    for ((host = 1; host <= HOSTS; host++)); do on "$host" ls -A /tmp /dev/shm >"clean$host"; done
}

# submit OPTION...: the file job; Grid Engine's own words come into said, the job's into job.out
submit() { on 1 timeout -k 30 "$job_limit_s" qsub "$@" -cwd -j y -o job.out -pe mpi 4 job >said 2>&1; }

build_grid_engine
seq 200000 >numbers
cat >job <<END
#!/bin/sh
cp "\$PE_HOSTFILE" pe_hosts
"$MPIRUN" ./hello >hello.out 2>&1
"$MPIRUN" ./ring >ring.out 2>&1
"$MPIRUN" --map-by node -n 2 sh -c 'pid=\$\$; while [ \$pid -gt 1 ]; do read -r pid name _ parent _ </proc/\$pid/stat; echo "\$(hostname) \$name"
    pid=\$parent; done' >parents.out 2>&1
"$MPIRUN" --stdin 3 sh -c 'cat numbers; cat >read.\$OMPI_COMM_WORLD_RANK' <numbers >lines.out 2>lines.err
"$MPIRUN" --host n7 true >refused.out 2>&1
"$MPIRUN" sh -c 'exit \$((OMPI_COMM_WORLD_RANK == 3 ? 9 : 0))' >exit.out 2>&1
END
submit -sync y
is "the job's exit status" "$(grep -o 'exit.* code .*' said)" "exited with exit code 9."
is "the job's words" "$(cat job.out)" ""
is "hosts and slots" "$(cut -d' ' -f1,2 pe_hosts | sort | tr '\n' ,)" "n1 2,n2 2,"
first=$(cut -d' ' -f1 pe_hosts | head -n 1) second=$(cut -d' ' -f1 pe_hosts | tail -n 1)
is "hello" "$(sort hello.out | cut -d, -f1 | tr '\n' ,)" "$(printf 'Hello from rank %d of 4 on %s,' 0 "$first" 1 "$first" 2 "$second" 3 "$second")"
is "ring" "$(cat ring.out)" "The token passed 4 ranks and returned with 6"
is "ranks on both hosts descend from Grid Engine" "$(grep -o 'n[12] (sge_shepherd' parents.out | sort | tr '\n' ,)" "n1 (sge_shepherd,n2 (sge_shepherd,"
is "output by way of qrsh" "$(wc -l <lines.out) $(sort -n lines.out | uniq -c | awk '$1 != 4' | wc -l) $(cat lines.err)" "800000 0 "
is "input by way of qrsh" "$(cksum <read.3)" "$(cksum <numbers)"
is "another host" "$(cat refused.out)" "mpirun: host n7 is not in this Grid Engine job's allocation (PE_HOSTFILE)"
has "an exit status" exit.out "^mpirun: rank 3 \(pid [0-9]+ on host $second\) exited with code 9$"

# qdel kills mpirun and qrsh
cat >job <<END
#!/bin/sh
"$MPIRUN" sh -c '(setsid sleep $mark &); echo ready; sleep $mark'
END
: >job.out
submit -terse
all_ready() { [ "$(grep -c ready job.out)" = 4 ]; }
all_clean() { is_clean 1 && is_clean 2; }
eventually "a job runs" all_ready
on 1 qdel "$(cat said)" >/dev/null
eventually "nothing is left of a deleted job" all_clean
finish
