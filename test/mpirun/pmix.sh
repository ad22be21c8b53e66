#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What mpirun's PMIx server tells and does, seen by a program that uses libpmix directly.
. "$(dirname "$0")/check.bash"
here_cc=${CC:-cc}
# shellcheck disable=SC2086
$here_cc -o pmix_rank "$here/pmix_rank.c" $LIBPMIX_FLAGS || { echo "cannot build pmix_rank"; exit 1; }
hostname=$(hostname)

run -q --host localhost:7 -np 2 ./pmix_rank facts : -np 1 ./pmix_rank facts
is "facts" "$rc" 0
for r in 0 1 2; do
    is "facts of rank $r" "$(grep -c "^rank $r of 3, universe 7, max 7, local 3, peers 0,1,2, nodes 1, apps 2\$" out)" 1
    app=$((r / 2))
    is "rank $r as all see it" "$(grep -cE "^  $r: local $r node $r nodeid 0 app $app host $hostname locality [^ ]+\$" out)" 3
done
hasnt "session directory" out 'not right'

run -q -np 5 ./pmix_rank exchange
is "exchange" "$rc $(sort out | tr '\n' ',')" "0 from 0,from 1,from 2,from 3,from 4,"
run -q -np 3 ./pmix_rank publish
is "publish and look up" "$rc $(tr '\n' ',' <out)" "0 here of 0,here of 0,"
run -q -np 2 ./pmix_rank spawn
is "PMIx_Spawn" "$rc $(sort -u out)" "0 not supported"
is "PMIx_Spawn is said" "$(grep -cE '^mpirun: rank [01] on host .* asks by PMIx_Spawn for .* MPI_Comm_spawn$' err)" 1
run -q -np 64 ./pmix_rank exchange
is "exchange of 64" "$rc $(sort -u out | wc -l)" "0 64"

# Two jobs at the same time, and one within the other, keep apart.
limit "$MPIRUN" -q -np 3 ./pmix_rank exchange >out2 2>err2 &
run -q -np 2 ./pmix_rank exchange
wait $!
is "two jobs" "$? $rc $(sort out2 | tr '\n' ',')$(sort out | tr '\n' ',')" "0 0 from 0,from 1,from 2,from 0,from 1,"
run -q -np 2 "$MPIRUN" -q -np 3 ./pmix_rank exchange
is "nested jobs" "$rc $(sort out | tr '\n' ',')" "0 from 0,from 0,from 1,from 1,from 2,from 2,"
# leftovers of another launcher in the environment
PMIX_NAMESPACE=other PMIX_RANK=77 PMIX_SERVER_URI41='other.0;tcp4://127.0.0.1:1' PMIX_MCA_gds=ds21 OMPI_COMM_WORLD_RANK=9 \
    run -q -np 2 ./pmix_rank exchange
is "another launcher's leavings" "$rc $(sort out | tr '\n' ',')" "0 from 0,from 1,"

# The server listens on the loopback interface only. Each version of PMIx has variables of its own for its address.
run -np 1 sh -c 'env | grep ^PMIX_SERVER_URI'
has "listens" out ';tcp4://127\.0\.0\.1:[0-9]+$'
is "and nowhere else" "$(grep -cvE ';tcp4://127\.0\.0\.1:[0-9]+$' out)" 0
tmp_is_empty || complain "left behind: $(find "$TMPDIR")"
finish
