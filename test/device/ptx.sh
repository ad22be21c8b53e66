#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# CUDA's assembler takes the text of every kernel, for old and new devices.
set -u
. "$TERN_SRCDIR/test/mpirun/check.bash"
ptxas=$(command -v ptxas || ls "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas" 2>/dev/null)
[ -n "$ptxas" ] || { echo "CUDA's assembler, ptxas, is not installed"; exit 77; }
# shellcheck disable=SC2086 # words
${CC:-gcc} -I"$TERN_SRCDIR" -o ptx_all "$TERN_SRCDIR/test/device/ptx_all.c" "$TERN_SRCDIR/lib/accel/ptx.c" || exit 1
./ptx_all >all.ptx
is "kernels" "$(grep -c '^.visible' all.ptx)" 156
for architecture in sm_75 sm_90 sm_100; do
    "$ptxas" -arch $architecture -o kernels.cubin all.ptx >out 2>&1
    is "$architecture" "$? $(cat out)" "0 "
done
finish
