#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Foreign, forgotten and misspelt words of a command line are refused, with the right ones.
. "$(dirname "$0")/check.bash"
. "$here/lines.bash"

refuses "option -ppn is a word of other launchers (MPICH, Intel MPI); here it is -N RANKS, the number of ranks on each node" -ppn 2
refuses "option -genv is a word of other launchers (MPICH, Intel MPI); here it is -x NAME=VALUE" -genv A 1
refuses "option -f is a word of other launchers (MPICH, Intel MPI); here it is --hostfile FILE" -f hosts
refuses "--mca btl has no value: the option -np follows; write --mca btl VALUE" --mca btl -np 2
refuses "--mca orte_tag_output is \"maybe\"; expected 0 or 1. Change or remove it" --mca orte_tag_output maybe
OMPI_MCA_orte_tag_output=perhaps refuses "OMPI_MCA_orte_tag_output is \"perhaps\"; expected 0 or 1. Change or remove it"
OMPI_MCA_orte_keep_fqdn_hostnames=perhaps refuses "OMPI_MCA_orte_keep_fqdn_hostnames is \"perhaps\"; expected 0 or 1. Change or remove it"
refuses "the command line both allows more ranks than slots (--oversubscribe) and forbids it (--nooversubscribe); use one of them" \
    --oversubscribe --nooversubscribe -np 1
refuses "the command line both allows more ranks than slots (--oversubscribe) and forbids it (--nooversubscribe); use one of them" \
    --map-by core:NOOVERSUBSCRIBE --oversubscribe -np 1
refuses "btl_tcp_port_min_v4 is 65530 and btl_tcp_port_range_v4 is 60000, but the last port is 65535; expected a range of at most \
6. Lower one of them" --mca btl_tcp_port_min_v4 65530 --mca btl_tcp_port_range_v4 60000 -np 1
warns "" --mca btl_tcp_port_min_v4 65530
HWLOC_XMLFILE=/nonexist refuses "HWLOC_XMLFILE names /nonexist, which cannot be read: No such file or directory; expected a file \
that \`lstopo FILE.xml\` wrote. Correct the variable or unset it" -np 1
echo 'pml_lanes = 4' >params
HWLOC_XMLFILE=$PWD/params refuses "HWLOC_XMLFILE names $PWD/params, which describes no machine; expected a file that \`lstopo FILE.xml\` wrote. \
Correct the variable or unset it" -np 1
HWLOC_SYNTHETIC=bogus refuses "HWLOC_SYNTHETIC is \"bogus\", which describes no machine; expected words such as \
\`package:2 core:4 pu:2\`. Correct the variable or unset it" -np 1
refuses "--mca hwloc_base_topo_file names /nonexist, which cannot be read: No such file or directory; expected a file that \
\`lstopo FILE.xml\` wrote" --mca hwloc_base_topo_file /nonexist -np 1
HWLOC_SYNTHETIC=$small run --display-map --dry-run --bind-to core --host localhost:2 -np 2 true
has "--display-map: as Open MPI writes it" out 'Bound: socket 0\[core 1\[hwt 0-1\]\]:\[../BB\]\[../..\]$'
refuses "btl_tcp_if_include (option) and btl_tcp_if_exclude (option) are both set; set only one of them" \
    --mca btl_tcp_if_include lo --mca btl_tcp_if_exclude eth0
refuses '--map-by: there is no word "SPNA"; did you mean SPAN? known are PE=N, PE-LIST=LIST, SPAN, OVERSUBSCRIBE, NOOVERSUBSCRIBE, '\
'HWTCPUS, CORECPUS, NOLOCAL, DISPLAY, DONOTLAUNCH, ORDERED' --map-by core:PE=2:SPNA
btl=$(run btl tcp,self -n 2 true; cat err)
is "a forgotten --mca" "${btl##*; }" "it is the name of a parameter: is --mca missing before it?"
for words in 'pml ob1' 'coll_tuned_use_dynamic_rules 1' 'orte_base_help_aggregate 0' 'rmaps_base_oversubscribe 1'; do
    # shellcheck disable=SC2086 # two words
    run $words -n 2 true
    has "a forgotten --mca before $words" err '; it is the name of a parameter: is --mca missing before it\?$'
done
run -np 1 -s all true
has "-s all" err '; `-s all` of other launchers \(MPICH, Intel MPI\) is --stdin all$'
refuses "option -localonly is a word of other launchers (MPICH, Intel MPI); here it is --host localhost" -localonly -np 1

# an option in place of a value, a value of an option that has none, one dash and "="
refuses "-x has no value: the option -np follows; write -x VALUE" -x -np 1
refuses "--report-pid has no value: the option -np follows; write --report-pid VALUE" --report-pid -np 1
refuses "--prepend-env PATH has no value: the option -np follows; write --prepend-env PATH VALUE" --prepend-env PATH -np 1
refuses "--mca has no value: the option -np follows; write --mca NAME VALUE" --mca -np 1
refuses "--wdir has no value: the option --np follows; write --wdir VALUE" --wdir --np 1
warns "" --mca plm_rsh_args -v --report-pid -
refuses "unknown option -np=2: the value is a word of its own; write -np 2" -np=2
refuses "unknown option -np4: the value is a word of its own; write -np 4" -np4
refuses "unknown option -N2: the value is a word of its own; write -N 2" -N2
refuses '–np begins with a dash that is not "-"; write -np, or ./–np if a program is meant' –np 2
refuses '—hostfile begins with a dash that is not "-"; write -hostfile, or ./—hostfile if a program is meant' -np 1 —hostfile two
refuses "unknown option --quiet=1: --quiet takes no value; write --quiet" --quiet=1
refuses "unknown option --mca=btl: --mca takes a name and a value; write --mca NAME VALUE" --mca=btl tcp
refuses "unknown option --tag-outptu=1; did you mean --tag-output? (mpirun --help lists them)" --tag-outptu=1
count=0 # every option with one value that is not refused
"$MPIRUN" --help rows | awk -F'\t' '$1 && $2 !~ /refused|foreign/ && $3 ~ /^[^[][^ ]*$/ { sub(/,.*/, "", $1); print $1 }' >options
while read -r option; do
    [ "$option" != --where ] || continue
    run "$option" -np 1 true
    is "$option -np" "$rc $(cat err)" "1 mpirun: $option has no value: the option -np follows; write $option VALUE"
    count=$((count + 1))
done <options
[ $count -ge 40 ] || complain "only $count options with a value"
echo '--mca btl -x A=1' >forgotten
refuses "forgotten line 1 btl has no value: the option -x follows; write forgotten line 1 btl VALUE" --tune forgotten

# Open MPI 5's words
refuses '--display: there is no word "mapp"; did you mean map? known are map, map-devel, bindings, allocation, paths, fabric, topology' \
    --display mapp -np 1
refuses '--display needs a word; known are map, map-devel, bindings, allocation, paths, fabric, topology' --display '' -np 1
refuses '--output: there is no word "tagg"; did you mean tag? known are tag, tag-detailed, tag-fullname, rank, timestamp, '\
'merge-stderr-to-stdout, raw, xml, dir=DIR, file=FILE' --output tagg -np 1
run --output '' -np 1 true
has "--output of nothing" err '^mpirun: --output needs a word; known are tag'
run --rtos '' -np 1 true
has "--rtos of nothing" err '^mpirun: --rtos needs a word; known are donotlaunch'
run --rtos abrot-nonzero-status=0 -np 1 true
has "--rtos abrot" err '^mpirun: --rtos: there is no word "abrot-nonzero-status=0"; did you mean abort-nonzero-status\? known are'
refuses '--rank-by: no object ""; there are slot, hwthread, core, l1cache, l2cache, l3cache, numa, socket, package, node, fill and span' \
    --rank-by '' -np 1
refuses '--bind-to: there is no word "overload-alowed"; did you mean overload-allowed? known are overload-allowed, if-supported, ordered, report, '\
'no-overload' --bind-to core:overload-alowed -np 1
warns 'mpirun: warning: --map-by "" is empty and has no effect' --map-by ''
warns 'mpirun: warning: --map-by= is empty and has no effect' --map-by=
warns 'mpirun: warning: --tune "" is empty and has no effect' --tune ''
warns 'mpirun: warning: --output-filename names no directory: files are written below this one' --output-filename ''
warns 'mpirun: warning: --display map:parseable: ":parseable" has no effect: the form is that of Open MPI 4.1' \
    --display map:parseable --host localhost:1 --rtos donotlaunch
HWLOC_SYNTHETIC=$small run -q --dry-run --bind-to core:REPORT --map-by socket:DISPLAY --host localhost:2 true
is "--bind-to core:REPORT, --map-by socket:DISPLAY" "$rc $(grep -c 'MCW rank' err) $(grep -c 'Process rank' out)" "0 2 2"
run --display alloc,map-devel,bind -q --dry-run --host localhost:1 true
is "words cut short" "$rc $(grep -c 'ALLOCATED NODES' out) $(grep -c 'Process rank' out) $(grep -c 'MCW rank' err)" "0 1 1 1"
finish
