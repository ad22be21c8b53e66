#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two hosts that do not see each other's pages: each has mounted the same directory by a file system of its own (FUSE), as
# NFS clients do. Random accesses, whose pieces of all ranks meet within pages; then, first with O_DIRECT and then without:
# writes with borders of one byte, reads after MPI_File_sync, the size, and a counter that atomic mode keeps.
HOSTS=2
. "$(dirname "$0")/hosts.bash"
command -v bindfs >/dev/null || { echo "there is no bindfs; install the package bindfs"; exit 1; }
for program in mpi/file_random mpi/file_shared hosts/borders; do
    "$MPICC" -O1 -D_GNU_SOURCE -I"$here/../mpi" -o "${program#*/}" "$here/../$program.c" || { echo "cannot build $program"; exit 1; }
done
printf 'n1 slots=2\nn2 slots=2\n' >hosts
mkdir -p data mounted
for host in 1 2; do
    on $host bindfs -o attr_timeout=3600,entry_timeout=0 "$PWD/data" "$PWD/mounted" || {
        [ -w /dev/fuse ] || skip "this system has no /dev/fuse"
        echo "cannot mount by bindfs"
        exit 1
    }
done
for map in slot node; do
    run --hostfile hosts --map-by $map --wdir "$PWD/mounted" "$PWD/file_random" 25
    is "random accesses, by $map" "$rc" 0
done
run --hostfile hosts --map-by node --wdir "$PWD/mounted" "$PWD/file_shared" 10
is "the common pointer" "$rc" 0
for direct in auto never; do
    run --hostfile hosts --map-by node --mca io_direct $direct "$PWD/borders" "$PWD/mounted/borders" 20
    is "borders of one byte, io_direct $direct" "$rc" 0
done
is "what lies in the directory" "$(ls -A data)" ""
for host in 1 2; do on $host umount "$PWD/mounted"; done
finish
