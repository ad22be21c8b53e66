#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The parameter coll_model_file names the figures by which collectives choose: all ranks have them, also under another
# launcher; a file with a fault is refused with its line; figures set as parameters, as it was once, are refused with the cure.
set -u
bin=$(dirname "$MPICC")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
unset XDG_CONFIG_HOME "${!OMPI_@}"
export HOME=$scratch
fail() {
    echo "$*"
    tail -n 20 out 2>/dev/null
    exit 1
}
figure() { sed -n "s/^model:$1:$2://p" out; }
cat >show <<SH
#!/bin/sh
exec $bin/mpi_info --parsable --model
SH
chmod +x show
cat >start.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    return MPI_Finalize();
}
C
"$MPICC" -o start start.c || fail "cannot compile start.c"

# some figures by hand; the others are built in
printf '# our network\n\n  coll_network_latency = 1700  # ns\ncoll_network_gap=80\nend = 2\n' >model
export OMPI_MCA_coll_model_file=model
./show >out 2>&1 || fail "exit status $?"
[ "$(figure coll_network_latency value) $(figure coll_network_latency source)" = "1700 model" ] || fail "not the figure of the file"
[ "$(figure coll_network_gap value)" = 80 ] || fail "nor the other one"
[ "$(figure coll_switch value) $(figure coll_switch source)" = "$(figure coll_switch default) default" ] || fail "nor the built-in one"
PMIX_NAMESPACE=other PMIX_RANK=1 ./show >out 2>&1 || fail "exit status $? under another launcher"
[ "$(figure coll_network_latency value)" = 1700 ] || fail "not under another launcher"
unset OMPI_MCA_coll_model_file
# the ranks have what mpirun has read, wherever they are
"$MPIRUN" --mca coll_model_file model -wdir / -n 2 "$scratch/show" >out 2>&1 || fail "exit status $? of ranks"
[ "$(grep -c '^model:coll_network_latency:value:1700$' out)" = 2 ] || fail "not all ranks have the figures of the file"
[ "$(grep -c '^model:coll_network_latency:source:mpirun$' out)" = 2 ] || fail "nor from mpirun"

# what mpi_info prints is such a file
OMPI_MCA_coll_model_file=model "$bin/mpi_info" --model >printed || fail "exit status $? of mpi_info --model"
OMPI_MCA_coll_model_file=printed ./show >out 2>&1 || fail "what mpi_info --model prints is no model file"
[ "$(figure coll_network_latency value) $(figure coll_network_latency source)" = "1700 printed" ] || fail "it has another figure"

# faulty LINE REGEX TEXT: a file with this text is refused, by mpirun and by a program started by itself
faulty() {
    printf "$3" >bad
    for command in "$MPIRUN --mca coll_model_file bad -n 2 ./start" "env OMPI_MCA_coll_model_file=bad ./start" \
        "env OMPI_MCA_coll_model_file=bad $bin/mpi_info --model"; do
        ! $command >out 2>&1 || fail "accepted: $3"
        grep -qE "bad line $1: $2" out || fail "no line $1 with '$2': $3"
    done
    [ "$(wc -l <out)" = 1 ] || fail "more than one sentence: $3"
}
faulty 2 'no figure is called coll_swich' 'coll_call = 3\ncoll_swich = 5\nend = 2\n'
faulty 1 'expected `name = value`, a whole number' 'coll_call = fast\nend = 1\n'
faulty 1 'expected `name = value`, a whole number' 'coll_call = -1\nend = 1\n'
faulty 1 'expected `name = value`, a whole number' 'coll_call = 3 4\nend = 1\n'
faulty 3 'coll_call stands here twice' '\ncoll_call = 3\ncoll_call = 3\nend = 2\n'
faulty 1 'coll_call is 1000000001; expected 0 to 1000000000' 'coll_call = 1000000001\nend = 1\n'
faulty 1 'coll_call is 99999999999999999999999; expected 0 to' 'coll_call = 99999999999999999999999\nend = 1\n'
faulty 2 'expected `end = 1` as the last line' 'coll_call = 3\n'
faulty 2 'end is 2, but 1 figures stand above' 'coll_call = 3\nend = 2\n'
faulty 3 'there is more behind the end' 'coll_call = 3\nend = 1\ncoll_switch = 4\n'
faulty 1 'expected `end = 0` as the last line' ''
! "$MPIRUN" --mca coll_model_file nosuch -n 1 ./start >out 2>&1 || fail "a missing file is no fault"
grep -q 'the model file nosuch cannot be read: No such file' out || fail "no word about the missing file"

# figures were parameters once
cure='is a figure, which only a model file can set.*`coll_switch = 5`.*coll_model_file'
! "$MPIRUN" --mca coll_switch 5 -n 1 ./start >out 2>&1 || fail "--mca coll_switch is accepted"
grep -q "coll_switch (option --mca) $cure" out || fail "no cure for --mca"
for command in ./start "$MPIRUN -n 1 ./start"; do
    ! OMPI_MCA_coll_switch=5 $command >out 2>&1 || fail "OMPI_MCA_coll_switch is accepted by $command"
    grep -q "coll_switch (OMPI_MCA_coll_switch in the environment) $cure" out || fail "no cure for the variable"
done
printf '\ncoll_switch = 5\n' >parameters
! OMPI_MCA_mca_param_files=parameters ./start >out 2>&1 || fail "coll_switch in a file is accepted"
grep -q "coll_switch (parameters line 2) $cure" out || fail "no cure for the file"
exit 0
