/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes of one file by all ranks, in MB/s of all of them together. The size is the bytes
 * of a rank. Each pattern is written and read back once and compared before it is measured.
 *
 *   plain       pwrite and pread, without MPI: what segmented can reach at best
 *   segmented   collective: in each segment a block of every rank, in calls of `transfer` bytes
 *   strided     collective: elements of all ranks in turn, of 8, 512 and 16384 bytes
 *   nested      collective: cells of 40 bytes of a box of three dimensions, as BT-IO writes them
 *   tile        collective: tiles of a matrix of doubles
 *   hyperslab   collective: blocks of 3 x 2 doubles at equal distances, from memory with a border
 *   alone       every second 512 bytes of a rank's own part, by calls of one rank
 *   shared      records of `transfer` bytes at the common pointer, each rank when it wants
 *   ordered     the same, in the order of ranks
 *
 * Options beside those of bench.h: -d DIRECTORY of the file (default: this one), -B bytes of a
 * block, -t bytes of a transfer, -s segments; -m is what a rank has in the other patterns. */
#include "bench.h"

#include <fcntl.h>
#include <unistd.h>

static long block_bytes = 4 << 20, transfer_bytes = 1 << 20, segments = 1;
static char path[4096];

/* What is repeated. */
struct job {
    const char *name;
    int writes;
    long bytes;   /* of this rank, in a repetition */
    char *buffer;
    MPI_Datatype memory; /* what one call moves, where a view says which bytes these are */
    MPI_File file;
    int fd;
    void (*call)(struct job *job); /* one repetition */
};

static void stop_if(int error, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (!error)
        return;
    MPI_Error_string(error, text, &length);
    fprintf(stderr, "io: rank %d: %s: %s\n", rank, what, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- repetitions ---- */

static void call_plain(struct job *job)
{
    for (long s = 0, at = 0; s < segments; s++)
        for (long t = 0; t < block_bytes; t += transfer_bytes, at += transfer_bytes) {
            off_t offset = (s * size + rank) * block_bytes + t;
            ssize_t n = job->writes
                            ? pwrite(job->fd, job->buffer + at, (size_t) transfer_bytes, offset)
                            : pread(job->fd, job->buffer + at, (size_t) transfer_bytes, offset);
            stop_if(n == transfer_bytes ? MPI_SUCCESS : MPI_ERR_IO, "plain access");
        }
}

static void call_segmented(struct job *job)
{
    for (long s = 0, at = 0; s < segments; s++)
        for (long t = 0; t < block_bytes; t += transfer_bytes, at += transfer_bytes) {
            MPI_Offset offset = (s * size + rank) * block_bytes + t;
            int n = (int) transfer_bytes;
            char *here = job->buffer + at;
            stop_if(job->writes ? MPI_File_write_at_all(job->file, offset, here, n, MPI_BYTE,
                                                        MPI_STATUS_IGNORE)
                                : MPI_File_read_at_all(job->file, offset, here, n, MPI_BYTE,
                                                       MPI_STATUS_IGNORE),
                    job->name);
        }
}

static void call_viewed(struct job *job)
{
    stop_if(job->writes ? MPI_File_write_at_all(job->file, 0, job->buffer, 1, job->memory,
                                                MPI_STATUS_IGNORE)
                        : MPI_File_read_at_all(job->file, 0, job->buffer, 1, job->memory,
                                               MPI_STATUS_IGNORE),
            job->name);
}

static void call_alone(struct job *job)
{
    stop_if(job->writes
                ? MPI_File_write_at(job->file, 0, job->buffer, 1, job->memory, MPI_STATUS_IGNORE)
                : MPI_File_read_at(job->file, 0, job->buffer, 1, job->memory, MPI_STATUS_IGNORE),
            job->name);
}

/* Moves the data in transfers by one of the calls that use the common pointer. */
static void call_by_pointer(struct job *job,
                            int (*move)(MPI_File, void *, int, MPI_Datatype, MPI_Status *))
{
    stop_if(MPI_File_seek_shared(job->file, 0, MPI_SEEK_SET), "seek");
    for (long at = 0; at < job->bytes; at += transfer_bytes)
        stop_if(move(job->file, job->buffer + at, (int) transfer_bytes, MPI_BYTE,
                     MPI_STATUS_IGNORE),
                job->name);
}

/* MPI's writing calls take a pointer to const, its reading calls do not. */
static int write_shared(MPI_File file, void *from, int count, MPI_Datatype type, MPI_Status *status)
{
    return MPI_File_write_shared(file, from, count, type, status);
}

static int write_ordered(MPI_File file, void *from, int count, MPI_Datatype type,
                         MPI_Status *status)
{
    return MPI_File_write_ordered(file, from, count, type, status);
}

static void call_shared(struct job *job)
{
    call_by_pointer(job, job->writes ? write_shared : MPI_File_read_shared);
}

static void call_ordered(struct job *job)
{
    call_by_pointer(job, job->writes ? write_ordered : MPI_File_read_ordered);
}

/* ---- views ---- */

static MPI_Datatype bytes_type(long bytes)
{
    MPI_Datatype type;
    MPI_Type_contiguous((int) bytes, MPI_BYTE, &type);
    return type;
}

/* Makes the filetype `part` with the place where it begins. */
static MPI_Datatype placed(MPI_Datatype part, long begin)
{
    MPI_Datatype type;
    int one = 1;
    MPI_Aint at = begin;
    MPI_Type_create_hindexed(1, &one, &at, part, &type);
    MPI_Type_free(&part);
    return type;
}

/* Elements of `each` bytes, every size-th one. */
static MPI_Datatype make_strided(long *bytes, long each)
{
    MPI_Datatype type, element = bytes_type(each);
    long count = *bytes / each;
    MPI_Type_create_hvector((int) count, 1, each * size, element, &type);
    MPI_Type_free(&element);
    *bytes = count * each;
    return placed(type, rank * each);
}

static MPI_Datatype make_strided_8(long *bytes, MPI_Datatype *memory)
{
    (void) memory;
    return make_strided(bytes, 8);
}

static MPI_Datatype make_strided_512(long *bytes, MPI_Datatype *memory)
{
    (void) memory;
    return make_strided(bytes, 512);
}

static MPI_Datatype make_strided_16384(long *bytes, MPI_Datatype *memory)
{
    (void) memory;
    return make_strided(bytes, 16384);
}

/* Divides the ranks among rows and columns. */
static void make_grid(int grid[2], int place[2])
{
    grid[0] = grid[1] = 0;
    MPI_Dims_create(size, 2, grid);
    place[0] = rank / grid[1];
    place[1] = rank % grid[1];
}

/* A box of cells of five doubles: each rank has a column of it, as long as the box. */
static MPI_Datatype make_nested(long *bytes, MPI_Datatype *memory)
{
    (void) memory;
    enum { EDGE = 16, CELL = 40 };
    int grid[2], place[2], deep = (int) (*bytes / (EDGE * EDGE * CELL));
    make_grid(grid, place);
    int sizes[] = { deep, EDGE * grid[0], EDGE * grid[1] }, taken[] = { deep, EDGE, EDGE };
    int starts[] = { 0, EDGE * place[0], EDGE * place[1] };
    MPI_Datatype type, cell = bytes_type(CELL);
    MPI_Type_create_subarray(3, sizes, taken, starts, MPI_ORDER_C, cell, &type);
    MPI_Type_free(&cell);
    *bytes = (long) deep * EDGE * EDGE * CELL;
    return type;
}

/* Tiles of a matrix of doubles. */
static MPI_Datatype make_tile(long *bytes, MPI_Datatype *memory)
{
    (void) memory;
    enum { WIDE = 256 };
    int grid[2], place[2], high = (int) (*bytes / (WIDE * (long) sizeof(double)));
    make_grid(grid, place);
    int sizes[] = { high * grid[0], WIDE * grid[1] }, taken[] = { high, WIDE };
    int starts[] = { high * place[0], WIDE * place[1] };
    MPI_Datatype type;
    MPI_Type_create_subarray(2, sizes, taken, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    *bytes = (long) high * WIDE * (long) sizeof(double);
    return type;
}

/* Blocks of 3 rows and 2 columns, dealt out in turn along the columns; the memory is a matrix with
 * a border of one double. The types are nested vectors, as HDF5 makes them. */
static MPI_Datatype make_hyperslab(long *bytes, MPI_Datatype *memory)
{
    enum { ROWS = 3, COLUMNS = 2, BLOCKS = 128 };
    const long each = sizeof(double), row = (long) BLOCKS * COLUMNS * size * each;
    int high = (int) (*bytes / (ROWS * COLUMNS * BLOCKS * each)); /* blocks one above the other */
    MPI_Datatype block, line, rows, type;
    MPI_Type_contiguous(COLUMNS, MPI_DOUBLE, &block);
    MPI_Type_create_hvector(BLOCKS, 1, COLUMNS * each * size, block, &line);
    MPI_Type_create_hvector(ROWS, 1, row, line, &rows);
    MPI_Type_create_hvector(high, 1, ROWS * row, rows, &type);
    MPI_Type_free(&block);
    MPI_Type_free(&line);
    MPI_Type_free(&rows);
    int taken[] = { ROWS * high, COLUMNS * BLOCKS }, starts[] = { 1, 1 };
    int sizes[] = { taken[0] + 2, taken[1] + 2 };
    MPI_Type_free(memory);
    MPI_Type_create_subarray(2, sizes, taken, starts, MPI_ORDER_C, MPI_DOUBLE, memory);
    *bytes = (long) taken[0] * taken[1] * each;
    return placed(type, rank * COLUMNS * each);
}

/* Every second 512 bytes of what is this rank's alone. */
static MPI_Datatype make_alone(long *bytes, MPI_Datatype *memory)
{
    (void) memory;
    enum { EACH = 512 };
    MPI_Datatype type, element = bytes_type(EACH);
    MPI_Type_create_hvector((int) (*bytes / EACH), 1, 2 * EACH, element, &type);
    MPI_Type_free(&element);
    *bytes -= *bytes % EACH;
    return placed(type, 2 * *bytes * rank);
}

/* ---- patterns ---- */

static const struct pattern {
    const char *name;
    void (*call)(struct job *job);
    /* Makes the filetype of this rank. Gets what a rank should have, sets what it has, and the type
     * of the memory if that is not one run. NULL: no view. */
    MPI_Datatype (*make)(long *bytes, MPI_Datatype *memory);
    int any_order; /* what is read need not be what this rank has written */
} patterns[] = {
    { "plain", call_plain, NULL, 0 },
    { "segmented", call_segmented, NULL, 0 },
    { "strided8", call_viewed, make_strided_8, 0 },
    { "strided512", call_viewed, make_strided_512, 0 },
    { "strided16384", call_viewed, make_strided_16384, 0 },
    { "nested", call_viewed, make_nested, 0 },
    { "tile", call_viewed, make_tile, 0 },
    { "hyperslab", call_viewed, make_hyperslab, 0 },
    { "alone", call_alone, make_alone, 0 },
    { "shared", call_shared, NULL, 1 },
    { "ordered", call_ordered, NULL, 0 },
};

static double run(int repetitions, void *state)
{
    struct job *job = state;
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++)
        job->call(job);
    return MPI_Wtime() - begin;
}

static void fill(struct job *job, long length)
{
    for (long i = 0; i < length; i++)
        job->buffer[i] = (char) (i * 7 + i / 509 + 31 * rank);
}

/* Writes, reads back, and compares. */
static void check(struct job *job, const struct pattern *pattern, long length)
{
    fill(job, length);
    job->writes = 1;
    run(1, job);
    MPI_File_sync(job->file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(job->file);
    char *written = malloc((size_t) length), *packed = malloc(2 * (size_t) job->bytes);
    if (!written || !packed)
        stop_if(MPI_ERR_NO_MEM, "check");
    memcpy(written, job->buffer, (size_t) length);
    memset(job->buffer, 0, (size_t) length);
    job->writes = 0;
    run(1, job);
    int at = 0, end = 0;
    MPI_Pack(written, 1, job->memory, packed, (int) job->bytes, &at, MPI_COMM_SELF);
    MPI_Pack(job->buffer, 1, job->memory, packed + job->bytes, (int) job->bytes, &end,
             MPI_COMM_SELF);
    if (!pattern->any_order && memcmp(packed, packed + job->bytes, (size_t) job->bytes)) {
        fprintf(stderr, "io: rank %d: %s: what was read is not what was written\n", rank,
                pattern->name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    memcpy(job->buffer, written, (size_t) length);
    free(written);
    free(packed);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void measure(const struct bench *b, const struct pattern *pattern)
{
    struct job job = { .name = pattern->name, .call = pattern->call, .bytes = b->most_bytes };
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    char name[64];
    job.memory = MPI_DATATYPE_NULL;
    stop_if(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &job.file), path);
    job.fd = open(path, O_RDWR);
    stop_if(job.fd < 0 ? MPI_ERR_IO : MPI_SUCCESS, path);
    if (pattern->make) {
        job.memory = bytes_type(1);
        MPI_Datatype filetype = pattern->make(&job.bytes, &job.memory);
        MPI_Type_commit(&filetype);
        stop_if(MPI_File_set_view(job.file, 0, MPI_BYTE, filetype, "native", MPI_INFO_NULL),
                "view");
        MPI_Type_free(&filetype);
    } else {
        job.bytes = segments * block_bytes;
    }
    int one_run = 1;
    if (job.memory != MPI_DATATYPE_NULL) {
        MPI_Type_size(job.memory, &one_run);
        if (one_run == 1)
            MPI_Type_free(&job.memory);
    }
    if (one_run == 1)
        job.memory = bytes_type(job.bytes);
    MPI_Type_commit(&job.memory);
    MPI_Aint lower, extent;
    MPI_Type_get_extent(job.memory, &lower, &extent);
    job.buffer = bench_buffer((size_t) extent);
    check(&job, pattern, extent);
    for (job.writes = 1; job.writes >= 0; job.writes--) {
        double seconds = bench_median(b, run, &job);
        snprintf(name, sizeof name, "%s_%s", job.writes ? "write" : "read", pattern->name);
        bench_print(name, job.bytes, (double) job.bytes * size / seconds / 1e6, "MB/s");
    }
    close(job.fd);
    stop_if(MPI_File_close(&job.file), "close");
    MPI_Type_free(&job.memory);
    free(job.buffer);
    if (rank == 0)
        unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct bench b = bench_start(&argc, &argv, 4 << 20);
    const char *directory = ".";
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "-d") == 0)
            directory = argv[i + 1];
        else if (strcmp(argv[i], "-B") == 0)
            block_bytes = atol(argv[i + 1]);
        else if (strcmp(argv[i], "-t") == 0)
            transfer_bytes = atol(argv[i + 1]);
        else if (strcmp(argv[i], "-s") == 0)
            segments = atol(argv[i + 1]);
    }
    if (transfer_bytes < 1 || block_bytes < 1 || segments < 1 || block_bytes % transfer_bytes ||
        transfer_bytes > INT_MAX || segments * block_bytes > INT_MAX ||
        b.most_bytes < 16384 || b.most_bytes > INT_MAX) {
        if (rank == 0)
            fprintf(stderr, "io: -B is %ld, -t %ld, -s %ld, -m %ld; a block is a multiple of a "
                            "transfer, all are at least 1, -m is at least 16384, and a rank has "
                            "less than 2 GiB\n",
                    block_bytes, transfer_bytes, segments, b.most_bytes);
        MPI_Finalize();
        return 2;
    }
    int id = (int) getpid();
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/bench-io.%d", directory, id);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (bench_listed(b.operations, patterns[i].name))
            measure(&b, &patterns[i]);
    MPI_Finalize();
    return 0;
}
