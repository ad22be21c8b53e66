#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Messages between device memory over the provider strict (strict.h), which plays a network card that reaches the memory of the
# tests' CUDA driver: directly where the provider registers such memory, else through the host, in pieces that overlap.
set -u
. "$TERN_SRCDIR/test/needs.bash"
needs_libfabric
. "$TERN_SRCDIR/test/mpirun/check.bash"
export OMPI_MCA_rmaps_base_oversubscribe=1 # no word where ranks share a core
export FAKE_CUDA=$TERN_BUILDDIR/test/device/.libs/libcuda.so.1
for file in "$FAKE_CUDA" "$TERN_BUILDDIR/test/ofi/.libs/libstrict-fi.so"; do
    [ -e "$file" ] || { echo "no $file: make check builds it"; exit 1; }
done
for program in ofi/devices device/shared device/threads; do
    "$MPICC" -O1 -g -w -o "${program#*/}" "$TERN_SRCDIR/test/$program.c" -ldl -lpthread || exit 1
done
export FI_PROVIDER_PATH=$TERN_BUILDDIR/test/ofi/.libs OMPI_MCA_btl=ofi,self OMPI_MCA_btl_ofi_provider=strict
export STRICT_REPORT=$PWD/report OMPI_MCA_btl_ofi_hmem=always STRICT_HMEM=yes
refusal='messages between device memory of different hosts go through the hosts. memory, which is slower: libfabric.s provider strict, device .*nvidia-peermem'

# count WORD: the sum of it over both ranks
count() { awk -v word="$1" '{for (i = 1; i < NF; i += 2) if ($i == word) sum += $(i + 1)} END {print sum + 0}' report; }
# most WORD: the larger one of the two ranks'
most() { awk -v word="$1" '{for (i = 1; i < NF; i += 2) if ($i == word && $(i + 1) > most) most = $(i + 1)} END {print most + 0}' report; }
# goes WHAT ARGUMENTS...: the job is right and says nothing
goes() {
    local what=$1
    shift
    rm -f report
    run -n 2 "$@"
    is "$what" "$rc $(cat err)" "0 "
}
direct() { # likewise, and reads go to device memory, by registrations that have all ended
    goes "$@"
    [ "$(count device_reads)" -ge 50 ] || complain "$1: $(count device_reads) reads of device memory"
    is "$1: left" "$(count device_left)" 0
}
refused() { # likewise, and it is said once that messages go through the host
    local what=$1
    shift
    rm -f report
    run -n 2 "$@"
    is "$what" "$rc $(grep -c "$refusal" err) $(wc -l <err) $(count device_reads)" "0 1 1 0"
}

direct "direct" ./devices direct
# buffers that are used again are registered once
registered=$(count device_registrations)
direct "direct, again and again" ./devices direct 60
is "registrations, 2 and 60 messages" "$registered" "$(count device_registrations)"
direct "nothing kept" --mca btl_ofi_cache never ./devices direct
direct "addresses come back" -x FAKE_CUDA_REUSE=1 ./devices direct
direct "by descriptors" --mca btl_ofi_hmem dmabuf -x STRICT_HMEM=dmabuf ./devices direct
direct "a small window to the device" -x STRICT_HMEM=small ./devices any
direct "streams are threads" -x FAKE_CUDA_DELAY_US=100 ./devices direct
direct "reads that fail" -x STRICT_AGAIN=50 -x STRICT_READ_FAILS=30 -x STRICT_REFUSES=30 ./devices any
direct "many buffers" -x FAKE_CUDA_REUSE=1 ./shared staged ${TERN_TEST_LONG:+10000}
run -n 2 --display paths,fabric ./devices direct
has "the path" err 'rank 0 .*path to rank 1: ofi strict .*; device memory: directly \(FI_HMEM\)$'
has "what is used" err 'fabric: device memory is read and written by the network card \(FI_HMEM\)$'

# four threads in each rank; every length comes once in four rounds
many=4 few=4
if in_long; then many=12 few=8; fi
direct "threads" -x FAKE_CUDA_REUSE=1 ./threads $many
direct "threads, nothing kept" --mca btl_ofi_cache never ./threads $few
direct "threads, streams are threads, reads that fail" -x FAKE_CUDA_DELAY_US=50 -x STRICT_AGAIN=50 -x STRICT_READ_FAILS=30 \
    -x STRICT_REFUSES=30 ./threads $few
refused "threads, refused" -x STRICT_HMEM=refuses ./threads $few
goes "threads, not offered" -x STRICT_HMEM= ./threads $few
goes "threads, tcp;ofi_rxm" --mca btl_ofi_provider "tcp;ofi_rxm" --mca btl_ofi_hmem auto ./threads $few
pinned='does not pin 1024 KiB of host memory .*this process may lock 100 KiB'
run -n 2 -x FAKE_CUDA_PINNED=locks sh -c "ulimit -l 100 && exec ./threads $few"
is "threads, little memory may be locked" "$rc $(grep -c "$pinned" err) $(wc -l <err)" "0 1 1"

refused "refused" -x STRICT_HMEM=refuses ./devices staged
# libfabric knows from 1.20 on what a descriptor is; before, it is tried only where the user asks for it
if pkg-config --atleast-version=1.20 libfabric; then
    direct "refused but by descriptors" -x STRICT_HMEM=dmabuf ./devices direct
else
    refused "refused but by descriptors" -x STRICT_HMEM=dmabuf ./devices staged
fi
refused "refused, no descriptors" --mca btl_ofi_hmem dmabuf -x FAKE_CUDA_DMABUF=none ./devices staged
# one rank may have what the other lacks
rm -f report
run -n 1 env STRICT_HMEM= ./devices any : -n 1 ./devices any
is "one end" "$rc $(cat err)" "0 "
[ "$(count device_registrations)" -gt 0 ] || complain "one end: nothing was registered"

# without FI_HMEM: at the sender copies from the device and frames take turns, and at the receiver frames and copies to it; a
# message of 4 MiB has 16 pieces, of which the first ones are copied before the first frame
for wish in "" refuses; do
    for _ in $(seq 10); do # most frames may be there before the receiver looks
        goes "pipeline" --mca btl_ofi_hmem never -x STRICT_HMEM=$wish ./devices pipeline
        [ "$(most steps_in)" -lt 3 ] || break
    done
    [ "$(most steps_out)" -ge 10 ] && [ "$(most steps_in)" -ge 3 ] || complain "pipeline: $(cat report)"
    echo "pipeline: steps at the sender $(most steps_out), at the receiver $(most steps_in)"
done
goes "straight" ./devices pipeline
is "straight: steps" "$(most steps_out) $(most steps_in)" "0 0"
goes "staged" -x STRICT_HMEM= ./devices staged
is "staged: reads of device memory" "$(count device_reads)" 0
goes "never" --mca btl_ofi_hmem never ./devices staged
run -n 2 --mca btl_ofi_hmem auto --display fabric ./devices staged
has "auto" err 'fabric: device memory goes through the host: this provider moves bytes by the processor$'
run -n 2 -x STRICT_HMEM= --display fabric ./devices staged
has "not offered" err 'fabric: device memory goes through the host: the provider does not offer it \(FI_HMEM\)'

# programs of test/mpi with their whole heap in device memory (../device/messages.sh)
if [ -n "$SAN" ]; then
    echo "LEFT OUT: the heap as device memory; a sanitizer has a malloc of its own, which nobody may replace"
    finish
fi
"$MPICC" -w -shared -fPIC "$TERN_BUILDDIR/lib/generated/interpose.c" -o interpose.so -ldl || exit 1
cat >wrapped <<EOF
#!/bin/sh
exec "$MPIRUN" -x FAKE_CUDA_BUFFERS=\$MODE -x LD_PRELOAD="$FAKE_CUDA ${FAKE_CUDA%/*}/libfakeheap.so $PWD/interpose.so" "\$@"
EOF
chmod +x wrapped
programs=(coll_alltoall truncate_everywhere type_strided_rendezvous persistent_restart)
modes=(device) ranks=(--ranks 2 --ranks 3)
[ -z "${TERN_TEST_LONG:-}" ] || programs+=(random_traffic bidirectional_big) modes=(device mixed managed devices) ranks=()
for mode in "${modes[@]}"; do
    rm -f report
    MODE=$mode MPIRUN=$PWD/wrapped "$PYTHON3" -B "$TERN_SRCDIR/test/mpi/run" --build programs "${ranks[@]}" \
        "${programs[@]}" >runs 2>&1 || { cat runs; complain "$mode: some programs fail"; }
    echo "$mode: $(tail -n 1 runs), $(count device_reads) reads of device memory"
    [ "$(count device_reads)" -gt 0 ] || complain "$mode: no read of device memory"
done
finish
