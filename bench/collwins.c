/* SPDX-License-Identifier: BSD-3-Clause */

/* collwins: prices all algorithms of a collective on a grid of machines, ranks and lengths, by the
 * model of lib/coll/price/price.h, and says where each of them is the cheapest. With --without it
 * says what a call would lose if some algorithms did not exist. Starts no process. */
#include "lib/coll/run/coll.h"
#include "lib/coll/plan/plan.h"
#include "lib/coll/price/topology.h"
#include "lib/settings/figures.h"
#include "lib/settings/param.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "collwins OP [--without NAME,NAME...] [--model FILE]\n"
    "Walks a grid of 2 to 4096 ranks, 1 byte to 1 GiB, nodes of 1 to 4096 ranks and 1 to 4096 cores, three\n"
    "networks, one and four cards, host and device memory, with boards and without; also as a phase of a\n"
    "composed plan: the ranks of a node, and leaders. Leaves out what no machine has: more than 64 ranks a\n"
    "core, more than 16 ranks with devices a node. Prints for each algorithm at how many points it costs\n"
    "least, and its largest lead over the second; then what calls lose without the algorithms NAME.\n"
    "\n"
    "  OP         as for collsim\n"
    "  --without  compare the cheapest of all with the cheapest of all others\n"
    "  --model    a file such as `mpi_info --model` prints; default: the figures of this user's jobs\n";

enum {
    MOST_ALGORITHMS = 32,
    RANKS_A_CORE = 64, /* the most */
    DEVICE_RANKS = 16, /* on a node, the most */
};

static const struct tern_algorithm *table;
static enum tern_collective op;
static bool left_out[MOST_ALGORITHMS];

/* What points of the grid that differ only in their length have in common. */
struct ground {
    struct tern_model model;
    struct tern_topology *topology; /* NULL: a phase of a composed plan */
    int32_t sheet;                  /* of a node's board; 0: there is none */
    int64_t size;
    int64_t unit_bytes; /* what one byte of the phase is in the whole plan */
    bool on_device, ordered;
    char text[200];
};

/* What was found. */
static struct tally {
    long wins;
    double lead; /* the largest price of the second, in prices of this one */
    char at[320];
} tallies[MOST_ALGORITHMS], loss; /* loss.wins: points that lose more than 2 % */
static long points;

static _Noreturn void fail(const char *what, const char *word)
{
    fprintf(stderr, "collwins: %s: %s\n", what, word);
    exit(2);
}

static void find_table(const char *name)
{
    for (int i = 0; i < TERN_COLLECTIVES; i++)
        if (!strcmp(name, tern_plan_collective_name((enum tern_collective)i))) {
            op = (enum tern_collective)i;
            table = tern_plan_algorithms(op, false);
            return;
        }
    fail("not a collective", name);
}

static void leave_out(const char *names)
{
    char copy[400];
    snprintf(copy, sizeof copy, "%s", names);
    for (char *word = strtok(copy, ","); word; word = strtok(NULL, ",")) {
        int i = 0;
        while (table[i].name && strcmp(table[i].name, word))
            i++;
        if (!table[i].name)
            fail("no algorithm of this collective", word);
        left_out[i] = true;
    }
}

static bool reduces(void)
{
    return op >= TERN_REDUCE && op <= TERN_EXSCAN;
}

/* --- one point --- */

static void note(struct tally *tally, double lead, const struct ground *ground, int64_t bytes,
                 const char *first, const char *second)
{
    if (lead <= tally->lead)
        return;
    tally->lead = lead;
    snprintf(tally->at, sizeof tally->at, "%lld bytes, %s: %s before %s", (long long)bytes,
             ground->text, first, second);
}

static void compare(const struct ground *ground, const struct tern_shape *shape,
                    const struct tern_plan_args *args)
{
    int best = -1, second = -1, kept = -1;
    double price[MOST_ALGORITHMS];
    for (int i = 0; table[i].name; i++) {
        if (!table[i].stages || (table[i].fits && !table[i].fits(args)))
            continue;
        price[i] = tern_plan_price_ns(&table[i], &ground->model, shape);
        if (best < 0 || price[i] < price[best]) {
            second = best;
            best = i;
        } else if (second < 0 || price[i] < price[second]) {
            second = i;
        }
        if (!left_out[i] && (kept < 0 || price[i] < price[kept]))
            kept = i;
    }
    if (best < 0)
        return;
    points++;
    tallies[best].wins++;
    if (second >= 0)
        note(&tallies[best], price[second] / price[best], ground, shape->bytes, table[best].name,
             table[second].name);
    if (kept >= 0 && kept != best) {
        loss.wins += price[kept] > 1.02 * price[best];
        note(&loss, price[kept] / price[best], ground, shape->bytes, table[best].name,
             table[kept].name);
    }
}

/* --- the grid --- */

static void price_length(const struct ground *ground, int64_t bytes, int64_t unit)
{
    bool several = ground->topology && ground->topology->nodes > 1;
    int64_t segment = tern_param_int("coll_segment_bytes") / ground->unit_bytes;
    struct tern_shape shape = {.size = ground->size,
                               .bytes = bytes,
                               .segment_bytes = segment,
                               .unit = unit,
                               .nodes = several ? ground->topology->nodes : 1,
                               .node_size =
                                   several ? ground->topology->largest : ground->size,
                               .sheet = several ? 0 : ground->sheet,
                               .node_sheet = several ? ground->sheet : 0,
                               .ordered = ground->ordered,
                               .model = &ground->model};
    struct tern_plan_args args = {.collective = (uint8_t)op,
                                  .commutative = !ground->ordered,
                                  .send_bytes = true,
                                  .recv_bytes = true,
                                  .on_device = ground->on_device,
                                  .inner = !ground->topology,
                                  .sheet = ground->sheet,
                                  .node_sheet = ground->sheet,
                                  .size = (int32_t)ground->size,
                                  .recv_count = bytes / unit,
                                  .send_count = bytes / unit,
                                  .send_size = unit,
                                  .recv_size = unit,
                                  .segment_bytes = segment,
                                  .topology = several ? ground->topology : NULL,
                                  .model = &ground->model};
    compare(ground, &shape, &args);
}

/* Walks through the lengths: two for each power of two. */
static void walk_lengths(const struct ground *ground)
{
    /* bytes that a rank gets: no more than 1 GiB */
    const int64_t most = ((int64_t)1 << 30) / ground->unit_bytes;
    bool blocks = op >= TERN_GATHER && op <= TERN_ALLTOALLW;
    int64_t unit = reduces() ? 8 : 1;
    if (op == TERN_BARRIER) {
        price_length(ground, 0, 1);
        return;
    }
    for (int64_t power = unit; power * (blocks ? ground->size : 1) <= most; power *= 2) {
        price_length(ground, power, unit);
        if (3 * power * (blocks ? ground->size : 1) <= most)
            price_length(ground, 3 * power, unit);
    }
}

/* Walks with a board and without, and with operations that do not commute. */
static void walk_boards(struct ground *ground, int32_t sheet, const char *text)
{
    for (int way = 0; way < (reduces() ? 4 : 2); way++) {
        ground->sheet = way % 2 ? 0 : sheet;
        ground->ordered = way / 2;
        snprintf(ground->text, sizeof ground->text, "%s%s%s", text,
                 ground->sheet ? "" : ", no board", ground->ordered ? ", ordered" : "");
        if (sheet || way % 2)
            walk_lengths(ground);
    }
}

static struct tern_topology *make_topology(int64_t size, int64_t ranks_per_node)
{
    int32_t *ids = malloc((size_t)size * sizeof *ids);
    for (int64_t r = 0; ids && r < size; r++)
        ids[r] = (int32_t)(r / ranks_per_node);
    struct tern_topology *topology = ids ? tern_topology_make((int32_t)size, ids) : NULL;
    free(ids);
    if (!topology)
        fail("no memory", "topology");
    return topology;
}

/* Walks through the placements of `size` ranks on nodes. */
static void walk_nodes(const struct tern_model *machine, const char *text, int64_t size)
{
    static const int64_t per_node[] = {1, 2, 3, 4, 6, 8, 16, 24, 64, 128, 4096};
    char line[160];
    for (size_t i = 0; i < sizeof per_node / sizeof *per_node; i++) {
        int64_t largest = per_node[i] < size ? per_node[i] : size;
        if ((per_node[i] >= size && per_node[i] < 4096) ||
            largest > RANKS_A_CORE * machine->cores_per_node)
            continue;
        struct ground ground = {.model = *machine, .size = size, .unit_bytes = 1};
        ground.model.ranks_per_node = per_node[i];
        ground.topology = make_topology(size, per_node[i]);
        snprintf(line, sizeof line, "%lld ranks, %lld a node, %s", (long long)size,
                 (long long)largest, text);
        walk_boards(&ground, largest > 1 ? tern_coll_sheet_for((int32_t)largest) : 0, line);
        if (largest <= DEVICE_RANKS && op != TERN_BARRIER) {
            struct tern_model host = ground.model;
            ground.model = tern_model_of_devices(&host, NULL);
            ground.on_device = true;
            snprintf(line, sizeof line, "%lld ranks, %lld a node, devices, %s", (long long)size,
                     (long long)largest, text);
            walk_boards(&ground, 0, line);
        }
        tern_topology_free(ground.topology);
    }
}

/* Walks through the phases of composed plans. */
static void walk_phases(const struct tern_model *machine, const char *text, int64_t size)
{
    struct ground phase = {.size = size, .unit_bytes = 1};
    char line[160];
    for (; phase.unit_bytes <= (reduces() ? 1 : 8); phase.unit_bytes *= 8) {
        const char *of = phase.unit_bytes > 1 ? " of elements" : "";
        phase.model = tern_model_of_level(machine, TERN_LEVEL_NODE, 1, phase.unit_bytes);
        snprintf(line, sizeof line, "%lld ranks, phase%s in nodes, %s", (long long)size, of, text);
        if (size <= RANKS_A_CORE * machine->cores_per_node)
            walk_boards(&phase, (int32_t)(tern_coll_sheet_for((int32_t)size) / phase.unit_bytes),
                        line);
        for (int64_t lanes = 1; lanes <= 16; lanes *= 4) {
            phase.model = tern_model_of_level(machine, TERN_LEVEL_LEADERS, lanes, phase.unit_bytes);
            snprintf(line, sizeof line, "%lld ranks, phase%s of %lld leaders, %s", (long long)size,
                     of, (long long)lanes, text);
            walk_boards(&phase, 0, line);
        }
    }
}

static void walk_machine(int64_t cores, const char *network, struct tern_wire wire, int64_t cards)
{
    static const int64_t sizes[] = {2,   3,   4,   5,   6,   7,   8,    11,   12,   16,  17,
                                    24,  27,  31,  32,  48,  64,  96,   100,  128,  192, 256,
                                    384, 500, 512, 768, 1000, 1024, 1536, 2048, 3000, 4096};
    struct tern_model machine = tern_model_of_parameters(1);
    char text[80];
    machine.cores_per_node = cores;
    /* with one card two packages and caches of 8 cores, with four one package and one cache */
    machine.cores_per_package = cards == 1 && cores > 32 ? cores / 2 : cores;
    machine.cores_per_cache = cards == 1 && cores > 8 ? 8 : cores;
    machine.network = wire;
    machine.nics_per_node = cards;
    snprintf(text, sizeof text, "%lld cores, %s network, %lld card%s", (long long)cores, network,
             (long long)cards, cards > 1 ? "s" : "");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        walk_nodes(&machine, text, sizes[i]);
        walk_phases(&machine, text, sizes[i]);
    }
}

static void walk(void)
{
    static const int64_t cores[] = {1, 2, 4, 16, 64, 256, 4096};
    static const struct {
        const char *name;
        struct tern_wire wire;
    } networks[] = {{"usual", {4000, 600, 0.4, 8000}},
                    {"slow", {25000, 3000, 1.0, 30000}},
                    {"fast", {1000, 250, 0.08, 2500}}};
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
        for (size_t j = 0; j < sizeof networks / sizeof *networks; j++)
            for (int64_t cards = 1; cards <= 4; cards += 3)
                walk_machine(cores[i], networks[j].name, networks[j].wire, cards);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"without", required_argument, NULL, 'w'},
                                            {"model", required_argument, NULL, 'm'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    const char *without = NULL, *model = "";
    for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;)
        switch (option) {
        case 'w': without = optarg; break;
        case 'm': model = optarg; break;
        case 'h': fputs(usage, stdout); return 0;
        default: fputs(usage, stderr); return 2;
        }
    if (argc - optind != 1) {
        fputs(usage, stderr);
        return 2;
    }
    find_table(argv[optind]);
    if (without)
        leave_out(without);
    if (tern_param_write("coll_model_file", model) || tern_figures_read())
        fail("cannot read the model", model);
    walk();
    printf("%ld points\n", points);
    for (int i = 0; table[i].name; i++)
        printf("%-22s%9ld  lead %.3f  %s\n", table[i].name, tallies[i].wins, tallies[i].lead,
               tallies[i].at);
    if (without)
        printf("without %s: %ld points lose more than 2 %%, at most %.3f: %s\n", without, loss.wins,
               loss.lead, loss.at);
    return 0;
}
