/* SPDX-License-Identifier: BSD-3-Clause */

/* Strings, lengths of arrays and memory for the Fortran entry points. */

#include "lib/fortran/glue.h"

#include <stdio.h>

/* Sets up the tables of handles before main, so that no entry point needs to check that they
 * exist. */
__attribute__((constructor)) static void set_up_tables(void)
{
    for (int magic = TERN_MAGIC_COMM; magic <= TERN_MAGIC_SESSION; magic++)
        if (!tern_fortran_handle(magic, 0)) { /* index 0 is the null handle of every kind */
            fprintf(stderr, "MPI: no memory for the tables of Fortran's handles\n");
            abort();
        }
}

void tern_glue_no_memory(int64_t count)
{
    fprintf(stderr, "MPI: no memory for %lld arguments of a Fortran call\n", (long long)count);
    PMPI_Abort(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
    abort();
}

void *tern_glue_alloc(int64_t count, size_t bytes)
{
    void *memory = malloc(count > 0 ? (size_t)count * bytes : 1);
    if (!memory)
        tern_glue_no_memory(count);
    return memory;
}

/* Some compilers pass lengths as 32 bits; the rest of the register is undefined then. */
static size_t true_length(size_t length)
{
    return (uint32_t)length;
}

/* Returns the length without trailing blanks. */
static size_t trimmed(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == ' ')
        length--;
    return length;
}

char *tern_glue_string(const char *text, size_t length, bool strip)
{
    length = trimmed(text, true_length(length));
    while (strip && length > 0 && *text == ' ') {
        text++;
        length--;
    }
    char *string = tern_glue_alloc(length + 1, 1);
    memcpy(string, text, length);
    string[length] = '\0';
    return string;
}

char *tern_glue_string_room(int64_t length)
{
    char *string = tern_glue_alloc((length > 0 ? length : 0) + 2, 1);
    string[0] = '\0';
    return string;
}

void tern_glue_set_string(char *text, size_t length, const char *string)
{
    size_t room = true_length(length), used = strlen(string);

    if (used > room)
        used = room;
    memcpy(text, string, used);
    memset(text + used, ' ', room - used);
}

char **tern_glue_strings(const char *text, size_t length, size_t stride, int64_t count)
{
    length = true_length(length);
    stride = true_length(stride);
    if (count < 0)
        for (count = 0; trimmed(text + count * stride, length) > 0;)
            count++;
    char **strings = tern_glue_alloc(count + 1, sizeof *strings);
    for (int64_t i = 0; i < count; i++)
        strings[i] = tern_glue_string(text + i * stride, length, true);
    strings[count] = NULL;
    return strings;
}

void tern_glue_free_strings(char **strings)
{
    if (strings == MPI_ARGV_NULL)
        return;
    for (char **string = strings; *string; string++)
        free(*string);
    free(strings);
}

char **tern_glue_argv(const char *text, size_t length)
{
    if (text == &mpi_fortran_argv_null_)
        return MPI_ARGV_NULL;
    return tern_glue_strings(text, length, length, -1);
}

/* Fortran's array is (count, *): argument j of command i is at index i + j * count. */
char ***tern_glue_argvs(const char *text, size_t length, int count)
{
    if (text == &mpi_fortran_argvs_null_)
        return MPI_ARGVS_NULL;
    length = true_length(length);
    char ***argvs = tern_glue_alloc(count, sizeof *argvs);
    for (int i = 0; i < count; i++)
        argvs[i] = tern_glue_strings(text + i * length, length, count * length, -1);
    return argvs;
}

void tern_glue_free_argvs(char ***argvs, int count)
{
    if (argvs == MPI_ARGVS_NULL)
        return;
    for (int i = 0; i < count; i++)
        tern_glue_free_strings(argvs[i]);
    free(argvs);
}

/* Returns true if the communicator is valid. If not, there are no ranks here and no error handler
 * is called: the MPI call itself reports the error. */
static bool may_be_asked(MPI_Comm comm)
{
    const struct tern_handle *handle = (const struct tern_handle *)comm;
    int running = 0, ended = 0;

    PMPI_Initialized(&running);
    PMPI_Finalized(&ended);
    return handle && handle->magic == TERN_MAGIC_COMM && handle->state && running && !ended;
}

int tern_glue_peers(MPI_Comm comm)
{
    int inter = 0, peers = 0;

    if (!may_be_asked(comm))
        return 0;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        PMPI_Comm_remote_size(comm, &peers);
    else
        PMPI_Comm_size(comm, &peers);
    return peers;
}

static void count_neighbors(MPI_Comm comm, int *sources, int *destinations)
{
    int kind = MPI_UNDEFINED, rank, weighted;

    *sources = *destinations = 0;
    if (!may_be_asked(comm))
        return;
    PMPI_Topo_test(comm, &kind);
    if (kind == MPI_CART) {
        PMPI_Cartdim_get(comm, sources);
        *sources = *destinations = 2 * *sources;
    } else if (kind == MPI_GRAPH) {
        PMPI_Comm_rank(comm, &rank);
        PMPI_Graph_neighbors_count(comm, rank, sources);
        *destinations = *sources;
    } else if (kind == MPI_DIST_GRAPH)
        PMPI_Dist_graph_neighbors_count(comm, sources, destinations, &weighted);
}

int tern_glue_sources(MPI_Comm comm)
{
    int sources, destinations;
    count_neighbors(comm, &sources, &destinations);
    return sources;
}

int tern_glue_destinations(MPI_Comm comm)
{
    int sources, destinations;
    count_neighbors(comm, &sources, &destinations);
    return destinations;
}

int tern_glue_dimensions(MPI_Comm comm)
{
    int kind = MPI_UNDEFINED, dimensions = 0;

    if (may_be_asked(comm))
        PMPI_Topo_test(comm, &kind);
    if (kind == MPI_CART)
        PMPI_Cartdim_get(comm, &dimensions);
    return dimensions;
}
