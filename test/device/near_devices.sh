#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Collectives on device buffers go in the order of the bus and of NVLink: slow ways between GPUs carry a ring's bytes once in
# each direction. The driver without a device counts the bytes between each two of its devices; a library that the
# program is linked with (fake_bus.c) says where these are.
set -u
. "$TERN_SRCDIR/test/mpirun/check.bash"
export OMPI_MCA_rmaps_base_oversubscribe=1
export FAKE_CUDA=$TERN_BUILDDIR/test/device/.libs/libcuda.so.1
[ -e "$FAKE_CUDA" ] || { echo "no $FAKE_CUDA: make check builds it"; exit 1; }
bus=libnvidia-ml.so.1 # the program is linked with it, so it is found when the library looks for that name
"$MPICC" -O1 -g -w -shared -fPIC -Wl,-soname,$bus -o $bus "$TERN_SRCDIR/test/device/fake_bus.c" -ldl || exit 1
"$MPICC" -O1 -g -w -I"$TERN_SRCDIR/test/mpi" -o slow_ways "$TERN_SRCDIR/test/device/slow_ways.c" -Wl,--no-as-needed ./$bus \
    -Wl,-rpath,"$PWD" -ldl || exit 1

# Records where devices are: a line for each, its folder below /sys/devices and its NUMA node. The devices' own folders are added.
record() { # NAME
    local device=0 way node address
    while read -r way node; do
        address=$(printf '0000:%02x:00.0' $((0x1a + device)))
        device=$((device + 1))
        mkdir -p "$1/sys/devices/$way/$address" "$1/sys/bus/pci/devices"
        echo "$node" >"$1/sys/devices/$way/$address/numa_node"
        ln -s "../../../devices/$way/$address" "$1/sys/bus/pci/devices/$address"
    done
}
record switches <<'END'
pci0000:15/0000:15:01.0/0000:16:00.0 0
pci0000:15/0000:15:01.0/0000:16:00.0 0
pci0000:97/0000:97:01.0/0000:98:00.0 1
pci0000:97/0000:97:01.0/0000:98:00.0 1
END
record one_switch <<'END'
pci0000:15/0000:15:01.0/0000:16:00.0 0
pci0000:15/0000:15:01.0/0000:16:00.0 0
pci0000:15/0000:15:01.0/0000:16:00.0 0
pci0000:15/0000:15:01.0/0000:16:00.0 0
END
record bridges <<'END'
pci0000:15 0
pci0000:15 0
pci0000:97 0
pci0000:97 0
pci0000:c5 1
pci0000:c5 1
pci0000:e7 1
pci0000:e7 1
END
mkdir nothing

crosses() { # WHAT RANKS MACHINE DEVICES SIDES near|sums|any MPIRUN'S ARGUMENTS...
    local what=$1 ranks=$2 machine=$3 devices=$4 sides=$5 expected=$6
    shift 6
    run -n "$ranks" -x CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 -x FAKE_SYS="$PWD/$machine" "$@" \
        ./slow_ways "$devices" "$sides" "$expected"
    is "$what" "$rc $(cat err)" "0 "
}
rings=(--mca coll_allreduce_algorithm ring --mca coll_allgather_algorithm ring --mca coll_bcast_algorithm chain
    --mca coll_reduce_algorithm chain)
crosses "two switches" 4 switches 0213 0011 sums
crosses "two switches, rings" 4 switches 0213 0011 near "${rings[@]}"
crosses "two ranks on each GPU" 4 switches 0202 0011 near "${rings[@]}"
crosses "pairs joined by NVLink, one switch" 4 one_switch 0123 0101 near -x FAKE_NVLINK=02,13 "${rings[@]}"
crosses "pairs joined by NVLink across switches" 4 switches 0123 0101 near -x FAKE_NVLINK=02,13 "${rings[@]}"
crosses "all joined by NVLink" 4 switches 0213 0011 any -x FAKE_NVLINK=all
crosses "nobody knows where the devices are" 4 nothing 0213 0011 any
crosses "four host bridges, NUMA nodes" 8 bridges 04152637 00001111 near "${rings[@]}"
crosses "several nodes" 8 bridges 04152637 00001111 any --mca coll_ranks_per_node 4
finish
