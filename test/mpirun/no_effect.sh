#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Whatever has no effect that a user would notice is said once; the rest is silent. So is what is given twice, or is empty.
. "$(dirname "$0")/check.bash"
. "$here/lines.bash"

warns "mpirun: warning: --mca orte_xterm has no effect: write mpirun -np 2 xterm -e PROGRAM" --mca orte_xterm 1
warns "mpirun: warning: --with-ft ulfm has no effect: a rank that fails ends the job" --with-ft ulfm
for word in -am --am --tune; do
    warns "mpirun: warning: $word ft-enable-mpi has no effect: a rank that fails ends the job" $word ft-enable-mpi
done
run --oversubscribe -np 3 --npernode 1 --map-by core:PE=1 true
is "--npernode" "$rc $(cat err)" \
    "0 mpirun: warning: --npernode 1 has no effect beside --map-by: -np 3 is more, and holds, as in Open MPI 4.1"
printf 'rank 0=localhost slot=0\n' >rankfile
warns "" --mca rmaps_base_mapping_policy "" --rankfile rankfile
warns 'mpirun: warning: --map-by "" is empty and has no effect' --map-by "" --rankfile rankfile
warns "mpirun: warning: --output xml has no effect: output is plain text; tag names the rank of each line" --output xml
warns "mpirun: warning: --xml has no effect: output is plain text; --tag-output names the rank of each line" --xml
warns "mpirun: warning: --continuous has no effect: a rank that fails ends the job" --continuous
warns "mpirun: warning: --no-app-prefix has no effect: --prefix, if given, holds for all programs" --no-app-prefix
warns "" --fwd-environment
warns "" --runtime-options report-state-on-timeout
warns "" --display topo=localhost
for name in HYDRA_HOST_FILE I_MPI_HYDRA_HOST_FILE; do
    export $name=$PWD/hosts
    warns "mpirun: warning: $name is a variable of other launchers (MPICH, Intel MPI) and has no effect: \
write --hostfile $PWD/hosts, with lines HOST slots=N"
    warns "" --host localhost
    unset $name
done
FIRST=1 SECOND=2 run -np 1 --unset-env FIRST sh -c 'echo "${FIRST-none} $SECOND"'
is "--unset-env" "$rc $(cat out err)" "0 none 2"
warns "mpirun: warning: --enable-recovery has no effect: ranks that failed are not restarted" --enable-recovery --enable-recovery
warns "mpirun: warning: there is no parameter orte_defualt_hostfile; did you mean orte_default_hostfile; mpi_info lists them" \
    --mca orte_defualt_hostfile x
warns "mpirun: warning: --mca plm_rsh_chdir has no effect: use --wdir" --mca plm_rsh_chdir /tmp
warns "" -q --with-ft ulfm
warns "mpirun: warning: --mca mpi_paffinity_alone has no effect: use --bind-to core" --mca mpi_paffinity_alone 1
warns "mpirun: warning: --mca pml_monitoring_enable has no effect: the tool interface, MPI_T, counts traffic by peer" \
    --mca pml_monitoring_enable 1
warns "mpirun: warning: --mca ompi_display_comm has no effect: --explain says what carries messages" --mca ompi_display_comm 1
warns "mpirun: warning: --mca ess_base_stream_buffering 0 has no effect: each line is passed on; use stdbuf" \
    --mca ess_base_stream_buffering 0
warns "mpirun: warning: --mca coll_base_verbose has no effect: --explain says what is decided, --debug-daemons what is started" \
    --mca coll_base_verbose 10
OMPI_MCA_rmaps_base_verbose=5 warns "mpirun: warning: OMPI_MCA_rmaps_base_verbose has no effect: --explain says what is decided, \
--debug-daemons what is started"
OMPI_MCA_rmaps_base_verbose=0 warns "" --mca coll_base_verbose none
warns "" --mca orte_enable_recovery 0 --mca plm_base_verbose 0 --mca routed_radix 8 --mca rmaps_seq_priority 1 --mca ess pmi

warns 'mpirun: warning: --mca pml: there is no "ucz"; known are ob1,ucx,cm,yalla,v,monitoring,bfo,crcpw' --mca pml ucz
warns "" --mca pml ^ucx --mca osc ^rdma,pt2pt --mca coll tuned,basic,libnbc --mca mtl ofi --mca io ompio
OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_bcast_algorithm=3 run -np 1 true
is "coll_tuned_: said once" "$rc $(grep -c 'coll_tuned_... parameters have no effect' err) $(wc -l <err)" "0 1 1"
warns "mpirun: warning: coll_bcast_algorithm: two_tree is no more; circulant is used instead" \
    --mca coll_bcast_algorithm two_tree
warns "" --mca coll_bcast_algorithm circulant
warns "mpirun: warning: coll_algorithm: bine is no more; binomial is used instead" --mca coll_algorithm allreduce:ring,reduce:bine
OMPI_MCA_coll_reduce_algorithm=Bine run -np 2 true
is "an algorithm that is no more: said once" "$rc $(cat err)" "0 mpirun: warning: coll_reduce_algorithm: Bine is no more; binomial is used instead"
mkdir -p .openmpi
echo 'coll_tuned_use_dynamic_rules = 1' >.openmpi/mca-params.conf
run -np 1 true
is "coll_tuned_ in a file" "$rc $(grep -c 'coll_tuned_... parameters have no effect' err) $(wc -l <err)" "0 1 1"
rm .openmpi/mca-params.conf
I_MPI_PIN=1 HYDRA_BOOTSTRAP=ssh run -np 1 true
is "variables of other launchers" "$rc [$(cat err)]" "0 []"
I_MPI_PIN=1 run -v -np 1 true
has "variables of other launchers with -v" err '^mpirun: I_MPI_PIN: variables of Intel MPI and MPICH, which mean nothing here$'
warns "mpirun: warning: --preload-binary has no effect: the program must be at the same path on all hosts" \
    --preload-binary --mca plm_rsh_agent "$PWD/elsewhere" --host far1
warns "" --preload-binary
warns "mpirun: warning: -x NOBODY*: the environment has no such variables" -x "NOBODY*"
warns 'mpirun: warning: -x A B=c: the variable'"'s"' name is "A B", with a blank in it; each variable has a -x of its own' -x 'A B=c'
warns "" -x 'A=B C'
warns "" --mca coll ^ml

# given twice, or empty, or in two ways: the last counts, and is named
warns "mpirun: warning: -np 1 replaces --n 2, given before" --n 2
warns "mpirun: warning: -np 1 replaces --np=2, given before" --np=2
warns "" --np=1
warns "mpirun: warning: --stream-buffering=no has no effect: each line is passed on; use stdbuf" --stream-buffering=no
warns "" --stream-buffering=line
warns "" -np 1
warns "mpirun: warning: -x A=2 replaces -x A=1, given before" -x A=1 -x A=2 -x B=1
warns "mpirun: warning: --mca btl self replaces --mca btl tcp,self, given before" --mca btl tcp,self --mca btl self
warns "mpirun: warning: --bynode replaces --map-by core:PE=1, given before" --map-by core:PE=1 --bynode
warns "" --map-by core --map-by :PE=1 --host localhost:1 --host localhost:1 -x A=1 -x A=1
warns "mpirun: warning: --bind-to none replaces --bind-to core, given before" --bind-to core --bind-to none
warns "mpirun: warning: --mca hwloc_base_binding_policy none replaces --bind-to core, given before" --bind-to core \
    --mca hwloc_base_binding_policy none
warns "" --mca hwloc_base_binding_policy core --bind-to core
warns "mpirun: warning: -np 1 replaces --n 21, given before" --n 21
run --map-by core -np 1 -x A=1 true : -np 2 --oversubscribe -x A=2 true
is "once for each program" "$rc $(cat err)" "0 "
warns 'mpirun: warning: --mca plm: there is no "rsch"; known are slurm,rsh,ssh,tm,lsf,alps,gridengine,isolated' --mca plm rsch
warns 'mpirun: warning: --mca rmaps: there is no "sequ"; known are round_robin,ppr,rank_file,seq,mindist,resilient,staged,'\
'load_balance,lama,topo' --mca rmaps sequ
warns "" --mca opal_cuda_support 1
HWLOC_SYNTHETIC='package:2 core:2 pu:2' warns "mpirun: --bind-to l2cache: host $(hostname) has no more than one such cache, so its \
ranks are not bound" --bind-to l2cache --dry-run
HWLOC_SYNTHETIC=$large warns "mpirun: --map-by l3cache: as far as hwloc knows, this machine has no l3cache; numa stands for it" \
    --map-by l3cache --dry-run
HWLOC_SYNTHETIC='package:2 l3:2 core:2 pu:1' warns "" --map-by l3cache --bind-to l3cache --dry-run
HWLOC_SYNTHETIC=$large run --map-by ppr:1:l2cache --dry-run true
has "ppr on caches that are not there" err '^mpirun: --map-by ppr:N:l2cache: as far as hwloc knows, .* has no l2cache; numa stands for it$'
for form in "--launch-agent" "--mca orte_launch_agent"; do
    # shellcheck disable=SC2086 # options are words
    run $form "valgrind $TERN_PREFIX/bin/mpirun" --host far1 -np 1 true
    is "$form of several words" "$rc" 1
    has "$form of several words" err '^mpirun: .*launch.agent is "valgrind .*"; expected the path of mpirun on the other hosts, '
done
run --mca plm ^rsh,slurm --host far1 -np 1 true
is "no way to other hosts" "$rc" 1
has "no way to other hosts" err 'plm is `\^rsh,slurm`, which leaves no way to start agents on other hosts; known are slurm and rsh$'
warns 'mpirun: warning: --wdir "" is empty and has no effect: ranks start in this directory' --wdir ''
warns 'mpirun: warning: --path "" is empty and has no effect: programs are looked for in PATH' --path ''
warns 'mpirun: warning: --prefix "" is empty and has no effect: the environment says where libraries are' --prefix ''
warns "mpirun: warning: --prefix /nonexist: there is no such directory; expected one with bin and lib of an installation. Ranks find \
their libraries elsewhere, or not at all" --prefix /nonexist
OPAL_PREFIX=/nonexist warns "mpirun: warning: OPAL_PREFIX is /nonexist, and there is no such directory; expected that of this \
installation, with bin/mpirun in it. Its libraries and parameter files are not found there"
OMPI_MCA_chek_level=full warns "mpirun: warning: there is no parameter chek_level, which the environment sets; did you mean \
check_level; mpi_info lists them"
PRTE_MCA_rmaps_defualt_mapping_policy=core warns "mpirun: warning: there is no parameter rmaps_defualt_mapping_policy, which the \
environment sets; did you mean rmaps_default_mapping_policy; mpi_info lists them"
OMPI_MCA_chek_level=full warns "" -q
warns "mpirun: warning: --mca mpi_show_handle_leaks has no effect: use check_level full, which names what was not freed" \
    --mca mpi_show_handle_leaks 1
run --mca btl_tcp_if_include lo,nosuch0,240.7.7.0/24 -np 1 true
is "interfaces that this host lacks" "$rc $(sed 's/ (it has [^)]*)//' err | tr '\n' ';')" "0 mpirun: warning: \
btl_tcp_if_include names nosuch0, but this host has no such interface; ranks of one host need none;mpirun: warning: \
btl_tcp_if_include names 240.7.7.0/24, but this host has no such interface; ranks of one host need none;"
warns 'mpirun: warning: --mca ras: there is no "slrum"; known are slurm,tm,lsf,gridengine,alps,loadleveler,simulator' --mca ras ^slrum

warns "mpirun: warning: --cpus-per-proc 3 has no effect beside PE=1" --map-by slot:PE=1 --cpus-per-proc 3
warns "mpirun: warning: PE=2 has no effect beside PE=1" --host localhost:2 --map-by slot:PE=2 --map-by :PE=1
OMPI_MCA_rmaps_base_cpus_per_rank=2 warns "" --map-by slot:PE=1
warns "mpirun: warning: --set-cwd-to-session-dir has no effect beside --wdir /" --set-cwd-to-session-dir --wdir /
warns "mpirun: warning: --bind-to cpu-list binds nobody without --cpu-list LIST" --bind-to cpu-list
finish
