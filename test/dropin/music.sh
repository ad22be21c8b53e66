#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MUSIC, which couples simulations and speaks MPI by its C++ bindings only: waves from two ranks to two others, and a ring
# of three programs with eight connections, come out as on Open MPI. The ring takes messages of 7 KB from any source and
# relies on MPI_Isend and MPI_Waitall to keep two ranks in step. A library that keeps such messages lets one rank run ahead,
# and MUSIC hangs at its end: so does Open MPI with btl_vader_eager_limit 32768 if rank 1 is slow.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
programs=$(echo /usr/lib/*/music-1.1.16)
needs "$programs/waveproducer" music-bin
needs /usr/bin/mpirun.openmpi openmpi-bin
uses_our_library /usr/bin/music
grep -qF "libmpi_cxx.so.40 => $libdir/" ldd.out || fail "music does not load our libmpi_cxx.so.40" ldd.out

cat >wave <<END
stoptime=1.0
[producer]
  binary=$programs/waveproducer
  args=120
  np=2
[consumer]
  binary=$programs/waveconsumer
  args=dump
  np=2
  producer.wavedata -> consumer.wavedata [120, point-to-point]
END
cat >ring <<END
stoptime=1.0
[A]
  binary=$programs/multiport
  args=--in in0:2640 --in in1:2640 --in in2:1 --out out0:968 --out out1:968 --out out2:1 --out out3:1
  np=2
[B]
  binary=$programs/multiport
  args=--in in0:1 --out out0:2640 --out out1:2640 --out out2:1
  np=1
[C]
  binary=$programs/multiport
  args=--in in0:968 --in in1:968 --in in2:1 --in in3:1 --out out0:1
  np=1
B.out0 -> A.in0 [2640, point-to-point]
B.out1 -> A.in1 [2640, point-to-point]
B.out2 -> A.in2 [1, point-to-point]
A.out0 -> C.in0 [968, point-to-point]
A.out1 -> C.in1 [968, point-to-point]
A.out2 -> C.in2 [1, point-to-point]
A.out3 -> C.in3 [1, point-to-point]
C.out0 -> B.in0 [1, point-to-point]
END

timeout -k 30 300 mpirun.openmpi --allow-run-as-root --oversubscribe -np 4 music wave >out 2>&1 </dev/null ||
    fail "exit status $? of the waves on Open MPI" out
cat dump* | sort >expected
[ "$(wc -l <expected)" -ge 1000 ] || fail "only $(wc -l <expected) values from Open MPI" expected
rm dump*
mpi 4 out music wave
cat dump* | sort | diff expected - >differences || fail "the waves are not those on Open MPI" differences
mpi 4 out --mca pml_eager_limit 4096 music ring
