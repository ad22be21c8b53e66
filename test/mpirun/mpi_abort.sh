#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI_Abort ends the whole job whatever the communicator, mpirun's exit status is the low byte of the code but never 0,
# and one line says who called it with which code.
. "$(dirname "$0")/check.bash"
"$MPICC" -o abort_with "$here/abort_with.c" || { echo "cannot build abort_with"; exit 1; }

while read -r code status; do
    run -q -np 3 --oversubscribe ./abort_with "$code" world
    is "status of MPI_Abort($code)" "$rc" "$status"
    has "code $code is said" err "MPI_Abort was called on MPI_COMM_WORLD with error code $code\$"
    limit ./abort_with "$code" world >out 2>err
    is "status without a launcher of MPI_Abort($code)" $? "$status"
    has "code $code is said without a launcher" err "with error code $code\$"
done <<END
1 1
42 42
255 255
0 1
256 1
-1 255
1000 232
END
for comm in self dup half; do
    run -q -np 4 --oversubscribe ./abort_with 9 $comm
    is "MPI_Abort on $comm" "$rc" 9
done
eventually "nothing is left" tmp_is_empty
finish
