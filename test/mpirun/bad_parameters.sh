#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# No parameter takes a value that it cannot have: mpirun, and a program without mpirun, say in one sentence what was found,
# where it was set and what is expected, and start nothing.
. "$(dirname "$0")/check.bash"
bin=$(dirname "$MPICC")
unset "${!TERN_@}"
export HOME=$scratch

# refuses WHERE COMMAND...: the command ends with one sentence that names the parameter $name, its value $value, and WHERE
refuses() {
    local where=$1
    shift
    rm -f started
    limit "$@" >out 2>err
    rc=$?
    [ "$rc" != 0 ] || complain "$name = $value: exit status 0"
    grep -qF "parameter $name is \"$value\" ($where); expected " err || complain "$name = $value: no such word of $where"
    has "$name = $value: the cure" err 'Change or remove it; the default is [^ ]+$'
    is "$name = $value: sentences" "$(wc -l <err)" 1
    [ ! -e started ] || complain "$name = $value: the program was started"
}

# every parameter that is not free text: below its range, above it, and a text that is no number
"$bin/mpi_info" --parsable --internal --param all all >all
field() { sed -n "s/^mca:[a-z_]*:[a-z_]*:param:$name:$1://p" all; }
count=0
for name in $(sed -n 's/^mca:[a-z_]*:[a-z_]*:param:\([a-z0-9_]*\):type:.*/\1/p' all); do
    type=$(field type)
    choices=$(field choices)
    case $type in
    int | size) values="$(($(field least) - 1)) $(($(field most) + 1)) much" ;;
    bool) values='-1 2 much' ;;
    string) values=${choices:+-1 99 much} ;;
    *) complain "$name has the type '$type'" ;;
    esac
    [ -z "$choices" ] || values="$values $name"
    for value in $values; do
        refuses "option --mca" "$MPIRUN" --mca "$name" "$value" -n 1 sh -c '>started'
        count=$((count + 1))
    done
    # the message lists the choices
    [ -z "$choices" ] || grep -qF "expected one of ${choices//,/, }." err || complain "$name: the choices are not all named"
    [ -z "$values" ] ||
        limit "$MPIRUN" --mca "$name" "$(field default)" -n 1 true >out 2>err || complain "$name: the default is refused"
done
[ "$count" -ge 90 ] || complain "only $count values were tried"

# from the environment, from a file, and without mpirun
name=btl_tcp_timeout value=1
OMPI_MCA_btl_tcp_timeout=1 refuses "OMPI_MCA_btl_tcp_timeout in the environment" "$MPIRUN" -n 1 sh -c '>started'
# mpirun's own, in a variable of Open MPI 5's launcher
name=launch_timeout value=soon
PRTE_MCA_launch_timeout=soon refuses "PRTE_MCA_launch_timeout in the environment" "$MPIRUN" -n 1 sh -c '>started'
name=btl_tcp_timeout value=1
printf '# slow network\nbtl_tcp_timeout = 1\n' >file
export OMPI_MCA_mca_param_files=$scratch/file
refuses "$scratch/file line 2" "$MPIRUN" -n 1 sh -c '>started'
# what the option says comes first, and is right
run --mca btl_tcp_timeout 5 -n 1 true
is "an option before a file" "$rc $(cat err)" "0 "
unset OMPI_MCA_mca_param_files

cat >start.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    fclose(fopen("started", "w"));
    return MPI_Finalize();
}
C
"$MPICC" -o start start.c || complain "cannot compile start.c"
# alone WHERE COMMAND...: MPI_Init of a program fails
alone() {
    rm -f started
    limit "${@:2}" >out 2>err
    [ $? != 0 ] || complain "MPI_Init with $name = $value: exit status 0"
    grep -qF "parameter $name is \"$value\" ($1); expected " err || complain "MPI_Init with $name = $value: no such word"
    [ ! -e started ] || complain "$name = $value: the program was started"
}
name=coll_segment_bytes value=-5
alone "OMPI_MCA_coll_segment_bytes in the environment" env OMPI_MCA_coll_segment_bytes=-5 ./start
alone "OMPI_MCA_coll_segment_bytes in the environment" "$MPIRUN" -n 2 env OMPI_MCA_coll_segment_bytes=-5 ./start
name=btl_vader_single_copy_mechanism value=nosuch
alone "OMPI_MCA_btl_vader_single_copy_mechanism in the environment" env OMPI_MCA_btl_vader_single_copy_mechanism=nosuch ./start
name=check_level value=ful
alone "OMPI_MCA_check_level in the environment" env OMPI_MCA_check_level=ful ./start
# Open MPI's own parameters that have no effect here, but take only certain words there
name=mpi_param_check value=perhaps
alone "OMPI_MCA_mpi_param_check in the environment" env OMPI_MCA_mpi_param_check=perhaps ./start
alone "option --mca" "$MPIRUN" --mca mpi_param_check perhaps -n 2 ./start
name=mtl_ofi_av value=tables
echo 'mtl_ofi_av = tables' >words
alone "$scratch/words line 1" env OMPI_MCA_mca_param_files="$scratch/words" "$MPIRUN" -n 2 ./start
has "the words of mtl_ofi_av" err 'expected one of map, table\. Change or remove it$'
name=plm_base_verbose value=loud
alone "option --mca" "$MPIRUN" --mca plm_base_verbose loud -n 2 ./start
OMPI_MCA_mpi_param_check=-3 limit "$MPIRUN" --mca mpi_leave_pinned auto --mca plm_base_verbose error -n 1 ./start >out 2>err ||
    complain "values that Open MPI takes are refused"
is "values that Open MPI takes" "$(cat err)" ""
OMPI_MCA_check_level=Full limit ./start >out 2>err || complain "a choice in other letters is refused"

# mpi_info shows all parameters, and the one that is wrong
name=pml_lanes value=3
OMPI_MCA_pml_lanes=3 refuses "OMPI_MCA_pml_lanes in the environment" "$bin/mpi_info" --param all all
has "mpi_info goes on" out 'heartbeat_timeout'
finish
