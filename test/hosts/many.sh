#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# 16 hosts with 8 ranks each start, exchange data and end; by a flat tree and by a deep one.
HOSTS=16
. "$(dirname "$0")/hosts.bash"
here_cc=${CC:-cc}
# shellcheck disable=SC2086
$here_cc -o pmix_rank "$here/../mpirun/pmix_rank.c" $LIBPMIX_FLAGS || { echo "cannot build pmix_rank"; exit 1; }

for ((host = 1; host <= HOSTS; host++)); do echo "n$host slots=8"; done >hosts
run --hostfile hosts sh -c 'echo $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_LOCAL_RANK $(hostname)'
for ((rank = 0; rank < 8 * HOSTS; rank++)); do echo "$rank $((rank % 8)) n$((rank / 8 + 1))"; done >wanted
is "128 ranks" "$rc $(sort -n out | cksum)" "0 $(cksum <wanted)"
"$MPICC" -o hello "$here/../../examples/hello.c" || { echo "cannot build hello"; exit 1; }
run --hostfile hosts ./hello
is "hello of 128" "$rc $(sort -u out | grep -c '^Hello from rank [0-9]* of 128 on n[0-9]*, cores ')" "0 128"
for width in 32 2; do
    run --mca launch_width $width --hostfile hosts ./pmix_rank exchange
    is "an exchange of 128, launch_width $width" "$rc $(sort -u out | grep -c '^from ')" "0 128"
done
finish
