#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The driver without a device that the tests of device memory use is as strict as the real one's manual (driver.c).
set -u
. "$TERN_SRCDIR/test/mpirun/check.bash"
libraries=$TERN_BUILDDIR/test/device/.libs
"$MPICC" -I"$TERN_SRCDIR" -o driver "$TERN_SRCDIR/test/device/driver.c" "$libraries/libcuda.so.1" || exit 1
export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} FAKE_CUDA_REUSE=1
try() { # WHAT VARIABLE=VALUE
    env "$2" ./driver >out 2>&1
    is "$1" "$? $(cat out)" "0 "
}
try "operations are done as late as possible" FAKE_CUDA_DELAY_US=0
try "streams are threads" FAKE_CUDA_DELAY_US=300
try "pinned memory is locked" FAKE_CUDA_PINNED=locks
try "one device is visible" CUDA_VISIBLE_DEVICES=2
./driver leak >out 2>&1
has "leak" out '5000 bytes on device 0 were not freed'
has "leak" out 'a stream of device 0 was not destroyed'
finish
