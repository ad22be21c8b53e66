#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Files that a command line names: of parameters, hosts, ranks and programs; what stands beside them.
. "$(dirname "$0")/check.bash"
. "$here/lines.bash"

# a default hostfile may consist of comments, and --host may name other hosts; a last ":" is no program
echo '# none' >comments
run --default-hostfile comments -np 1 echo ran
is "a default hostfile of comments" "$rc $(cat out err)" "0 ran"
echo 'far1 slots=2' >one
ours "$small" "far2:0" --default-hostfile one --host far2
run -np 1 echo ran :
is "a last colon" "$rc $(cat out err)" "0 ran"
run --rtos bogus -np 1 true
has "--rtos bogus" err '^mpirun: --rtos: there is no word "bogus"; known are donotlaunch, abort-nonzero-status'
echo 'oob_tcp_if_exclude = lo' >excluded
run --mca mca_base_param_files "$PWD/excluded" --mca oob_tcp_if_include eth0,lo --mca plm_rsh_agent "nosuchagent : $PWD/reach" --host other -np 1 echo ran
is "the environment beats a file; the agent that is there" "$rc $(cat out)" "0 ran"

# Lines of parameter files, and names that the ranks see too, are named once for a job.
printf 'a = 1\n= 5\nbtl\norte_defualt_hostfile = x\norte_tag_output = 1\n' >params
said="mpirun: $PWD/params line 1: no parameter is called a; \`mpi_info --param all all\` lists them
mpirun: $PWD/params line 2 is ignored: expected \`name = value\`, not \"= 5\"
mpirun: $PWD/params line 3 is ignored: expected \`name = value\`, not \"btl\"
mpirun: warning: there is no parameter orte_defualt_hostfile ($PWD/params line 4); did you mean orte_default_hostfile; mpi_info lists them"
if [ -n "${MPICC:-}" ]; then
    printf '#include <mpi.h>\nint main(void) { MPI_Init(0, 0); return MPI_Finalize(); }\n' >nothing.c
    "$MPICC" -o nothing nothing.c || complain "cannot build nothing"
    run --oversubscribe --mca mca_base_param_files "$PWD/params" -np 2 ./nothing
    is "a parameter file" "$rc $(cat err)" "0 $said"
    OMPI_MCA_mca_param_files=$PWD/params OMPI_MCA_coll_tuned_use_dynamic_rules=1 run --oversubscribe -np 2 ./nothing
    is "a parameter file in the environment" "$rc $(wc -l <err)" "0 5"
    run -q --oversubscribe --mca chek_level full -np 2 ./nothing
    is "names with -q" "$rc $(cat err)" "0 "
    # what mpirun cannot see, a rank says
    run -np 2 --oversubscribe sh -c 'OMPI_MCA_chek_level=full exec ./nothing'
    is "a name of the ranks" "$rc $(wc -l <err)" "0 1"
    has "a name of the ranks" err 'there is no parameter chek_level, which the environment sets; did you mean check_level\?$'
    OMPI_MCA_chek_level=full OMPI_MCA_coll_tuned_bcast_algorithm=1 OMPI_MCA_orte_tag_output=1 ./nothing 2>err
    is "names without mpirun" "$? $(wc -l <err)" "0 2"
fi

# what stands beside a file of programs, and in files
printf -- '-np 1 sh -c "echo $A"\n-np 1 -x A=7 sh -c "echo $A"\n' >programs
run --oversubscribe -x A=4 --app programs
is "-x beside --app" "$rc $(sort out | tr '\n' ' ')$(cat err)" "0 4 7 "
run -q --wdir / --app programs
is "--wdir beside --app" "$rc $(cat err)" "0 "
run --oversubscribe -np 3 --app programs
is "-np beside --app" "$rc $(cat err)" "0 mpirun: warning: -np 3 has no effect beside --app programs: the lines of that file say how \
many ranks each program has"
echo 'echo once' >programs
run -q --oversubscribe -np 2 --app programs
is "-np beside a line without it" "$rc $(cat out)" $'0 once\nonce'
run -soft 1 --app programs
is "-soft beside --app" "$rc $(cat err)" "1 mpirun: -soft stands beside --app programs; write it on a line of that file, behind -np"
refuses "the program true stands beside --app programs, which says what to run; write it on a line of that file" --app programs
printf 'far1\n' >more
refuses "--machinefile more: this program has the hostfile two already; put the lines of both into one file" \
    --hostfile two --machinefile more -np 1
printf -- '-np 1 echo ok\n-np 1 echo "a b\n' >programs
run --app programs
is "a quote without an end" "$rc $(cat err)" "1 mpirun: programs, line 2: the quote \" before \"a b\" has no end on this line; end it, \
or put quotes of the other kind around it"
printf -- '-x A="1 2\n' >programs
run --tune programs true
has "a quote without an end in a tune file" err '^mpirun: programs, line 1: the quote " before "A=1 2" has no end on this line'
echo 'localhost slots=1 slots=2' >more
refuses 'more, line 1: "slots=2" is the second such number on this line; expected one, or a line of its own for each' --hostfile more
printf '\xef\xbb\xbf-np 1 echo marked\n' >programs
printf '\xef\xbb\xbfrank 0=localhost\n' >ranks
printf '\xef\xbb\xbforte_tag_output = 1\n' >params
printf '\xef\xbb\xbflocalhost slots=1\n' >more
run --app programs
is "a byte order mark: --app" "$rc $(cat out err)" "0 marked"
OMPI_MCA_mca_param_files=$PWD/params run --hostfile more -rf ranks echo marked
is "a byte order mark: parameters, hosts, ranks" "$rc $(cat out err)" "0 [1,0]<stdout>:marked"
warns "" -rf ranks --mca btl 'self, tcp'
refuses "--rankfile and --map-by core both choose where ranks run; use one of them" -rf ranks --map-by core
refuses "--rankfile and -N 1 both choose where ranks run; use one of them" -rf ranks -N 1
warns "mpirun: warning: --rank-by core has no effect: the rankfile ranks numbers the ranks" -rf ranks --rank-by core
warns "mpirun: warning: -npersocket 2 has no effect beside -npernode 1" -npernode 1 -npersocket 2
warns "mpirun: warning: -npersocket 2 has no effect beside -npernode 1" -npersocket 2 -npernode 1
run --mca mca_base_env_list A=1 --mca mca_base_env_list B=2 -np 1 sh -c "$show"
is "a list that replaces another" "$rc $(cat out err)" "0  2
mpirun: warning: --mca mca_base_env_list B=2 replaces --mca mca_base_env_list A=1, given before"
OMPI_MCA_mca_base_env_list=A=1 run --mca mca_base_env_list B=2 -np 1 sh -c "$show"
is "a list that replaces that of the environment" "$rc $(cat out err)" "0  2"
OMPI_MCA_orte_tag_output='' warns "mpirun: warning: OMPI_MCA_orte_tag_output is empty and has no effect; remove it"
OMPI_MCA_orte_set_default_slots='' warns "mpirun: warning: OMPI_MCA_orte_set_default_slots is empty and has no effect; remove it"
OMPI_MCA_rmaps_base_mapping_policy='' OMPI_MCA_btl='' warns ""
: >nobody
refuses "the application file nobody names no program" --app nobody
SLURM_JOB_ID=1 SLURM_NTASKS=2 warns "mpirun: warning: this is a batch job, but SLURM_JOB_NODELIST is not set: its hosts are unknown, \
and ranks run on this one. Pass the variable on (sudo -E), or name hosts with --host"
SLURM_JOB_ID=1 SLURM_NTASKS=2 warns "" --host localhost
mkdir -p .prte .openmpi
echo 'prte_default_hostfile = two' >.prte/mca-params.conf
ours "$small" "far1:0 far1:1" -np 2
echo 'orte_default_hostfile = uneven' >.openmpi/mca-params.conf
ours "$small" "far1:0-1 far1:2-3 far2:0-1 far2:2-3 far2:0-1" -np 5
run -np 1 --explain --dry-run -q true
has "the order of files" out "orte_default_hostfile \(file $PWD/.openmpi/mca-params.conf\) = uneven"
rm -r .prte .openmpi
finish
