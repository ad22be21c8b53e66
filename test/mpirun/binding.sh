#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks run on the processors that --report-bindings says, never outside those that mpirun itself may use, and binding never
# makes a job fail. (Which rank goes where on bigger machines: unit/test_map.)
. "$(dirname "$0")/check.bash"
allowed=$(taskset -cp $$ | sed 's/.*: //')
affinity='taskset -cp $$ | sed "s/.*: //"'

run -q -np 1 sh -c "$affinity"
default_of_one=$(cat out)
run -q -np 1 --bind-to none sh -c "$affinity"
is "--bind-to none" "$(cat out)" "$allowed"
run -q -np 1 --bind-to hwthread sh -c "$affinity"
has "--bind-to hwthread" out '^[0-9]+$'
for object in core hwthread l1cache l2cache l3cache numa socket package none board; do
    for option in --bind-to -bind-to; do
        run -q -np 5 $option $object sh -c "$affinity"
        is "$option $object" "$rc $(wc -l <out)" "0 5"
    done
done
for object in slot core hwthread l1cache l2cache l3cache numa socket package node core:PE=2 socket:PE=3 ppr:5:node; do
    run -q -np 5 --map-by $object sh -c "$affinity"
    is "--map-by $object" "$rc $(wc -l <out)" "0 5"
done
for option in -bynode -byslot -bycore -bind-to-core -bind-to-socket -bind-to-none --use-hwthread-cpus "--rank-by core" "--cpus-per-proc 2"; do
    run -q -np 3 $option true
    is "$option" "$rc" 0
done

# within what we were given
one=${allowed%%[,-]*}
limit taskset -c "$one" "$MPIRUN" -q -np 3 --bind-to core sh -c "$affinity" >out 2>err
is "within our own affinity" "$? $(sort -u out)" "0 $one"
limit taskset -c "$one" "$MPIRUN" -q -np 3 --bind-to none sh -c "$affinity" >out 2>err
is "unbound within our own affinity" "$? $(sort -u out)" "0 $one"
if [ "$(lscpu -p=CORE | grep -v '#' | sort -u | wc -l)" = "$(nproc --all)" ]; then # cores and processors: the same numbers
    run -q -np 3 --cpu-set "$one" sh -c "$affinity"
    is "--cpu-set" "$rc $(sort -u out)" "0 $one"
fi

# the report
run -np 1 --report-bindings --bind-to core true
has "--report-bindings" err '^\[.*:[0-9]+\] MCW rank 0 (bound to socket 0\[core 0\[hwt 0(-[0-9]+)?\]\]: \[B|is not bound)'
run -np 1 --display-map --do-not-launch --bind-to core sh -c 'echo started'
has "--display-map" out 'Data for node: .*Num slots: [0-9]+.*Num procs: 1'
has "--display-map" out 'App: 0 Process rank: 0 Bound: '
hasnt "--do-not-launch" out 'started'
run -np 1 --display map,bind,allocation true
has "--display" out 'JOB MAP'
has "--display" out 'ALLOCATED NODES'
has "--display" err 'MCW rank 0'

cores=$(limit "$MPIRUN" --display-map --do-not-launch true | sed -n 's/.*Num slots: \([0-9]*\).*/\1/p')
if [ "$cores" -ge 2 ]; then
    run -np 2 sh -c "$affinity"
    is "two ranks by default: a core each" "$rc $(sort -u out | wc -l)" "0 2"
    [ "$default_of_one" != "$allowed" ] || complain "one rank by default: not bound"
fi
run -q -np $((cores + 1)) sh -c "$affinity"
is "a crowd is not bound" "$rc $(sort -u out)" "0 $allowed"
finish
