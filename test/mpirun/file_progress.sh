#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `--mca io_progress 1`: lines that say how far a collective access to a file is, with exchange and without, blocking and
# not, from rank 0 alone. The test sets the pause between two lines to nothing. Without the parameter there is no line.
. "$(dirname "$0")/check.bash"
cat >strided.c <<'END'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
/* argv: the file, what is written at a time by each rank (bytes), "blocking" or "nonblocking" */
enum { BYTES = 1 << 21 };
int main(int argc, char **argv)
{
    int rank, size, length = atoi(argv[2]);
    char *data = calloc(1, BYTES);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Datatype block, mine;
    MPI_Type_contiguous(length, MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint)length * size, &mine);
    MPI_Type_commit(&mine);
    MPI_File file;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "65536");
    MPI_Info_set(info, "ind_wr_buffer_size", "65536");
    if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file))
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_File_set_view(file, (MPI_Offset)rank * length, MPI_BYTE, mine, "native", MPI_INFO_NULL);
    MPI_Datatype memory; /* not one run, so that it goes through a buffer */
    MPI_Type_vector(BYTES / 64, 32, 64, MPI_BYTE, &memory);
    MPI_Type_commit(&memory);
    for (int reads = 0; reads < 2; reads++) {
        MPI_Request request;
        if (strcmp(argv[3], "blocking") == 0 && reads)
            MPI_File_read_at_all(file, 0, data, 1, memory, MPI_STATUS_IGNORE);
        else if (strcmp(argv[3], "blocking") == 0)
            MPI_File_write_at_all(file, 0, data, 1, memory, MPI_STATUS_IGNORE);
        else {
            if (reads)
                MPI_File_iread_at_all(file, 0, data, 1, memory, &request);
            else
                MPI_File_iwrite_at_all(file, 0, data, 1, memory, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    MPI_Type_free(&memory);
    MPI_Type_free(&mine);
    MPI_Type_free(&block);
    MPI_Info_free(&info);
    MPI_File_close(&file);
    MPI_Finalize();
    free(data);
    return 0;
}
END
"$MPICC" -O1 -o strided strided.c || exit 1

bytes='[0-9.]+ (bytes|kB|MB|GB)'
for ranks in 1 3; do
    whole=$([ $ranks = 1 ] && echo '1\.0 MB' || echo '3\.1 MB')
    for length in 512 1048576; do
        for form in blocking nonblocking; do
            run -n $ranks --oversubscribe --mca io_progress 1 --mca io_progress_pause 0 ./strided data $length $form
            what="$ranks ranks, $length bytes, $form"
            is "$what" "$rc" 0
            for verb in writing reading; do
                has "$what" err "^tern: rank 0.*: $verb \"data\": $bytes of $whole, $bytes/s, [0-9]+ s left$"
                is "$what: the last line of $verb" "$(grep -cE ": $verb \"data\": done, $whole in [0-9.]+ s, $bytes/s$" err)" 1
            done
            hasnt "$what" err 'rank [1-9]'
            is "$what: standard output" "$(cat out)" ""
        done
    done
done
run -n 3 --oversubscribe ./strided data 512 blocking
is "nobody asked" "$(cat err)" ""
finish
