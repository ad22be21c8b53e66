#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Who runs where, as --dry-run says on machines that hwloc imagines, and as it is. --dry-run starts nothing anywhere. (All policies
# on all kinds of machines: test_machines.)
. "$(dirname "$0")/check.bash"

cat >reach <<'END'
#!/bin/sh
echo "$1" >>"$REACHED"
echo $$ >>"$REACHED.pids"
shift
exec "$@"
END
chmod +x reach
export REACHED=$scratch/reached OMPI_MCA_plm_rsh_agent=$scratch/reach

# map ARGUMENT...: leaves "RANK HOST [CORES]" in order of ranks in the variable `map`
map() {
    run --dry-run "$@" sh -c '>started'
    map=$(awk '/Data for node/ { host = $4 }
        /Process rank:/ { rank = $0; sub(/.*Process rank: /, "", rank); sub(/ .*/, "", rank)
            drawn = $0; if (!sub(/.*]]: ?\[/, "[", drawn)) drawn = "free"; print rank, host, drawn }' out | sort -n | tr '\n' ';')
    [ ! -e started ] || complain "--dry-run $*: the program was started"
    [ ! -e "$REACHED" ] || complain "--dry-run $*: asks other hosts"
}
export HWLOC_SYNTHETIC='package:2 core:2 pu:2'

map -np 2
is "two ranks" "$rc $map" "0 0 $(hostname) [BB/..][../..];1 $(hostname) [../BB][../..];"
map -np 4 --map-by socket --bind-to core
is "by socket" "$map" "$(for r in '0 vm [BB/..][../..]' '1 vm [../..][BB/..]' '2 vm [../BB][../..]' '3 vm [../..][../BB]'; do
    echo "${r/vm/$(hostname)};"; done | tr -d '\n')"
map --host far1:2,far2:2 --map-by core
is "other hosts are taken to be like this one" "$rc $map" \
    "0 0 far1 [BB/..][../..];1 far1 [../BB][../..];2 far2 [BB/..][../..];3 far2 [../BB][../..];"
has "it says so" err '^mpirun: nothing is started on other hosts, so other hosts are assumed to have the processors of this machine \(4 cores\)$'
map --host 'far1:*' --map-by core
is "also their number of cores" "$rc $(grep -c 'Process rank' out)" "0 4"
map -q --host far1:2,far2:2 --map-by node -np 3
is "by node" "$map" "0 far1 [BB/BB][../..];1 far2 [BB/BB][../..];2 far1 [../..][BB/BB];"
[ ! -s err ] || complain "--quiet: not quiet"

printf '%s\n' 'far1 slots=1' 'far2' '# again' 'far1 slots=2 max_slots=3' >hosts
map -q --hostfile hosts --map-by core
is "a host on several lines" "$map" \
    "0 far1 [BB/..][../..];1 far1 [../BB][../..];2 far1 [../..][BB/..];3 far2 [BB/..][../..];4 far2 [../BB][../..];5 far2 [../..][BB/..];6 far2 [../..][../BB];"

map -q --host far1,far1,far2,FAR1 --map-by core
is "a host named again has one more slot" "$map" \
    "0 far1 [BB/..][../..];1 far1 [../BB][../..];2 far1 [../..][BB/..];3 far2 [BB/..][../..];"

# in sequence
for how in '--map-by seq' '--map-by SEQ:NOOVERSUBSCRIBE' '--mca rmaps seq'; do
    # shellcheck disable=SC2086
    map -q $how --hostfile hosts --bind-to core
    is "$how" "$rc $map" "0 0 far1 [BB/..][../..];1 far2 [BB/..][../..];2 far1 [../BB][../..];"
done
map -q --map-by seq:FILE=hosts --bind-to core
is "seq:FILE=" "$rc $map" "0 0 far1 [BB/..][../..];1 far2 [BB/..][../..];2 far1 [../BB][../..];"
map -q --map-by seq --host far2,far1:2,far2 -np 3
is "seq of --host" "$rc $map" "0 0 far2 free;1 far1 free;2 far1 free;"
map -q --map-by seq --host far2,far1,far3 -np 1 true : -np 2
is "seq of two programs" "$rc $(grep -c 'App: 1' out) $map" "0 2 0 far2 free;1 far1 free;2 far3 free;"

# as a rankfile says
cat >ranks <<'END'
# where they run
rank 0=far2 slot=1:0-1
rank 2 = +n0  slot = "0"    # the list's first
rank 1=far1 slots=0:1;1:0

rank 3=far2 slot=p2
rank 4=far2
END
wanted='0 0 far2 [../..][BB/BB];1 far1 [../BB][BB/..];2 far1 [BB/..][../..];3 far2 [../BB][../..];4 far2 [BB/BB][../..];'
for how in '--rankfile ranks' '-rf ranks' '--map-by rankfile:FILE=ranks' '--map-by rankfile --rankfile ranks' \
    '--mca rmaps_rank_file_path ranks' '--rankfile ranks --map-by :NOOVERSUBSCRIBE'; do
    # shellcheck disable=SC2086
    map -q --host far1:2,far2:3 $how
    is "$how" "$rc $map" "$wanted"
done
map -q --host far1:2,far2:3 -rf ranks -np 2
is "the first ranks of a rankfile" "$rc $map" '0 0 far2 [../..][BB/BB];1 far1 [../BB][BB/..];'
map -q --host far1,far2 -rf ranks
is "its lines are the slots where none are given" "$rc" 0
map --host far1:2,far2:2 -rf ranks
is "its lines beyond the slots" "$rc $(head -n 1 err)" "1 mpirun: 5 ranks on 4 slots, and --oversubscribe was not given"
map --host far1:2,far2:3 -rf ranks --bind-to none
bound='0 0 far2 [../..][BB/BB];1 far1 [../BB][BB/..];2 far1 [BB/..][../..];3 far2 [../BB][../..];4 far2 free;'
is "--bind-to none" "$rc $map" "$bound"
map -q --host far1:2,far2:3 -rf ranks --use-hwthread-cpus
is "threads" "$rc $map" '0 0 far2 [../..][BB/..];1 far1 [.B/..][B./..];2 far1 [B./..][../..];3 far2 [../B.][../..];4 far2 [BB/BB][../..];'
printf 'rank 0=near slot=0\nrank 1=far slot=5\n' >ranks
map -q -rf ranks --mca rmaps_rank_file_physical 1
is "the system's numbers, and hosts of the rankfile" "$rc $map" '0 0 near [BB/..][../..];1 far [../..][BB/..];'
unset HWLOC_SYNTHETIC

# as it is
core=$(taskset -cp $$ | sed 's/.*[:, -]//')
show='echo "$OMPI_COMM_WORLD_RANK $(taskset -cp $$ | sed "s/.*: //")"'
printf 'rank 1=localhost slot=p%s\nrank 0=localhost\n' "$core" >ranks
run -rf ranks --bind-to none sh -c "$show"
is "bound and not bound here" "$rc $(sort out | tr '\n' ';')" "0 0 $(taskset -cp $$ | sed 's/.*: //');1 $core;"
has "a binding that has no effect" err '--bind-to none has no effect on ranks that the rankfile ranks gives slots: these say where'
run -q -rf ranks --use-hwthread-cpus sh -c "$show"
is "bound here" "$rc $(sort out | sed -n 2p)" "0 1 $core"
[ ! -e "$REACHED" ] || complain "a rankfile of this machine: asks other hosts"
printf 'rank 1=far1 slot=p%s\nrank 0=far2\nrank 2=+n0 slot=0' "$core" >ranks
run -q --host far1:2,far2,far3:9 -rf ranks --use-hwthread-cpus sh -c "$show"
is "bound there" "$rc $(wc -l <out) $(grep '^1' out)" "0 3 1 $core"
is "hosts that the rankfile does not name are not asked" "$(sort "$REACHED" | tr '\n' ' ')" "far1 far2 "
run -q --host far1,far3,far2 --map-by seq sh -c 'echo $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_LOCAL_RANK'
is "in sequence" "$rc $(sort out | tr '\n' ',')" "0 0 0,1 0,2 0,"
printf 'rank 0=far1\nrank 1=far2 slot=4000' >ranks
run --host far1,far2 -rf ranks sh -c '>started'
is "a core that another host does not have" "$rc $(wc -l <err)" "1 1"
has "a core that another host does not have" err 'ranks, line 2: host .* has no usable core 4000'
[ ! -e started ] || complain "a core that another host does not have: the program was started"
none_runs() {
    local pid
    while read -r pid; do
        ! kill -0 "$pid" 2>/dev/null || return 1
    done <"$REACHED.pids"
}
eventually "no agent is left" none_runs
tmp_is_empty || complain "left behind: $(find "$TMPDIR")"
finish
