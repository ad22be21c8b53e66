/* SPDX-License-Identifier: BSD-3-Clause */

/* collsim: predicts the time of every algorithm of a collective on a cluster, by the model of
 * lib/coll/price/price.h. Starts no process. In each row, the cheapest algorithm that fits has a
 * star: the library would use that one. */
#include "lib/coll/run/coll.h"
#include "lib/coll/plan/plan.h"
#include "lib/coll/price/topology.h"
#include "lib/util/base/error.h"
#include "lib/settings/figures.h"
#include "lib/settings/param.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "collsim OP SIZE BYTES [--model FILE] [--ranks-per-node N] [--segment BYTES] [--element BYTES]\n"
    "        [--devices] [--csv]\n"
    "Predicted time in microseconds of every algorithm of a collective on 2, 4, 8 ... SIZE ranks.\n"
    "\n"
    "  OP       barrier, bcast, gather, scatter, allgather, allgatherv, alltoall, reduce, allreduce,\n"
    "           reduce_scatter, reduce_scatter_block, scan or exscan\n"
    "  SIZE     the largest number of ranks, 2 to 1048576; all powers of two up to it are shown\n"
    "  BYTES    of the vector; of a block for gather, scatter, allgather, alltoall, reduce_scatter;\n"
    "           with k, m or g: times 1024, 1024^2, 1024^3\n"
    "  --model  a file such as `mpi_info --model` prints; default: the figures of this user's jobs\n"
    "  --ranks-per-node  default: all ranks are on one node\n"
    "  --segment  what pipelines hand on at a time\n"
    "  --element  of a reduction, which is never cut (default 8); a length that is none of its multiples is of bytes\n"
    "  --devices  all buffers are in device memory, as is agreed on from 1 MiB on\n"
    "  --csv    commas instead of columns\n";

static _Noreturn void fail(const char *what, const char *word)
{
    fprintf(stderr, "collsim: %s%s%s\n", what, word ? ": " : "", word ? word : "");
    exit(2);
}

static void must(int error)
{
    if (error)
        fail(tern_error_text(error), NULL);
}

static int64_t number(const char *text, const char *what, int64_t least, int64_t most)
{
    static const char units[] = "kmg";
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    const char *unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
    if (end == text || (*end && (!unit || end[1])) || errno || value < 0)
        fail(what, text);
    for (long i = 0; unit && i <= unit - units; i++)
        if (__builtin_mul_overflow(value, 1024LL, &value))
            fail(what, text);
    if (value < least || value > most)
        fail(what, text);
    return value;
}

/* --- the table --- */

static const struct tern_algorithm *algorithms_of(const char *op, enum tern_collective *ret_op)
{
    for (int i = 0; i < TERN_COLLECTIVES; i++) {
        const struct tern_algorithm *table = tern_plan_algorithms((enum tern_collective)i, false);
        if (strcmp(op, tern_plan_collective_name((enum tern_collective)i)))
            continue;
        for (const struct tern_algorithm *row = table; row->name; row++)
            if (row->stages) {
                *ret_op = (enum tern_collective)i;
                return table;
            }
        fail("the algorithms of this collective have no prices, for no rank knows all lengths", op);
    }
    fail("not a collective", op);
}

static void print_row(const struct tern_algorithm *table, const struct tern_model *model,
                      struct tern_shape shape, const struct tern_plan_args *args, bool csv)
{
    double lowest = 0;
    const struct tern_algorithm *best = NULL;
    for (const struct tern_algorithm *row = table; row->name; row++) {
        double price = tern_plan_price_ns(row, model, &shape);
        if ((!row->fits || row->fits(args)) && (!best || price < lowest)) {
            best = row;
            lowest = price;
        }
    }
    printf(csv ? "%lld" : "%8lld", (long long)shape.size);
    for (const struct tern_algorithm *row = table; row->name; row++) {
        double us = tern_plan_price_ns(row, model, &shape) / 1000;
        int width = (int)strlen(row->name) > 11 ? (int)strlen(row->name) : 11;
        bool fits = !row->fits || row->fits(args);
        if (csv && fits)
            printf(",%.3f", us);
        else if (csv)
            putchar(',');
        else if (!fits)
            printf(" %*s ", width, "-");
        else
            printf(" %*.*f%c", width, us < 100 ? 2 : 0, us, row == best ? '*' : ' ');
    }
    putchar('\n');
}

/* Returns a topology whose nodes have consecutive ranks. */
static struct tern_topology *make_topology(int64_t size, int64_t ranks_per_node)
{
    int32_t *ids = malloc((size_t)size * sizeof *ids);
    struct tern_topology *topology = NULL;
    for (int64_t r = 0; ids && r < size; r++)
        ids[r] = (int32_t)(r / ranks_per_node);
    if (ids)
        topology = tern_topology_make((int32_t)size, ids);
    if (!topology)
        fail("no memory", NULL);
    free(ids);
    return topology;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"model", required_argument, NULL, 'm'},
                                            {"ranks-per-node", required_argument, NULL, 'n'},
                                            {"segment", required_argument, NULL, 's'},
                                            {"element", required_argument, NULL, 'e'},
                                            {"devices", no_argument, NULL, 'd'},
                                            {"csv", no_argument, NULL, 'c'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    int64_t ranks_per_node = 1 << 20;
    bool csv = false, devices = false;
    int64_t element = 8;
    struct tern_shape shape = {.segment_bytes = tern_param_int("coll_segment_bytes")};
    for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;)
        switch (option) {
        case 'm': must(tern_param_write("coll_model_file", optarg)); break;
        case 'n': ranks_per_node = number(optarg, "--ranks-per-node", 1, 1 << 20); break;
        case 's': shape.segment_bytes = number(optarg, "--segment", 1, INT64_MAX / 4); break;
        case 'e': element = number(optarg, "--element", 1, 1 << 20); break;
        case 'd': devices = true; break;
        case 'c': csv = true; break;
        case 'h': fputs(usage, stdout); return 0;
        default: fputs(usage, stderr); return 2;
        }
    if (argc - optind != 3) {
        fputs(usage, stderr);
        return 2;
    }
    enum tern_collective op;
    const struct tern_algorithm *table = algorithms_of(argv[optind], &op);
    int64_t size = number(argv[optind + 1], "SIZE is not a number from 2 to 1048576", 2, 1 << 20);
    shape.bytes = number(argv[optind + 2], "BYTES is not a number of bytes", 0, (int64_t)1 << 40);
    shape.unit = op >= TERN_REDUCE && shape.bytes % element == 0 ? element : 1;
    must(tern_param_check_all());
    must(tern_figures_read());
    struct tern_model model = tern_model_of_parameters(ranks_per_node);
    if (devices)
        model = tern_model_of_devices(&model, NULL);
    printf(csv ? "ranks" : "%8s", "ranks");
    for (const struct tern_algorithm *row = table; row->name; row++)
        printf(csv ? ",%s" : " %11s ", row->name);
    putchar('\n');
    shape.model = &model;
    for (shape.size = 2; shape.size <= size; shape.size *= 2) {
        struct tern_topology *topology = make_topology(shape.size, model.ranks_per_node);
        shape.nodes = topology->nodes;
        shape.node_size = topology->largest;
        int32_t sheet = devices ? 0 : tern_coll_sheet_for(topology->largest); /* no board */
        shape.sheet = shape.nodes == 1 ? sheet : 0;
        shape.node_sheet = shape.nodes == 1 ? 0 : sheet;
        struct tern_plan_args args = {.collective = (uint8_t)op,
                                      .commutative = true,
                                      .send_bytes = true,
                                      .recv_bytes = true,
                                      .sheet = sheet,
                                      .node_sheet = sheet,
                                      .size = (int32_t)shape.size,
                                      .recv_count = shape.bytes / shape.unit,
                                      .send_count = shape.bytes / shape.unit,
                                      .send_size = shape.unit,
                                      .recv_size = shape.unit,
                                      .segment_bytes = shape.segment_bytes,
                                      .topology = topology,
                                      .model = &model};
        print_row(table, &model, shape, &args, csv);
        tern_topology_free(topology);
    }
    return 0;
}
