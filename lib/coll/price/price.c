/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The model is LogGP (Alexandrov et al. 1995) with two kinds of links. Ranks are assumed to be on
 * the nodes in blocks. If messages go to ranks at distance d, then min(d, ranks per node) ranks of
 * a node send to another node at the same time and share its network cards. Within a node both ends
 * of a message are copies, so it matters which ranks do one end and which do both at the same time.
 * If there are more ranks than cores, the ranks take turns, and every turn costs a switch.
 *
 * All times and sizes of a machine are figures. The numbers here are shares of a round, of a switch
 * or of a cache, and how many pages the library's rings have. Some do not follow from what ranks
 * do: these were fitted to every algorithm on 2 to 64 ranks of two cores
 * (docs/notes/2026-11-23-predicted-prices.md; bench/collsim_check compares again).
 */
#include "lib/coll/price/price.h"

#include "lib/settings/figures.h"
#include "lib/settings/param.h"

#include <pthread.h>
#include <unistd.h>

static double most(double a, double b)
{
    return a > b ? a : b;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* Returns the logarithm to base 2, linear between the powers of two. */
static double log_2(double x)
{
    double doublings = 0;
    for (; x >= 2; x /= 2)
        doublings++;
    return doublings + x - 1;
}

void tern_stages_add(struct tern_stages *stages, struct tern_stage stage)
{
    if (stage.repeat > 0 && stage.senders > 0 && stages->count < TERN_STAGES_MAX)
        stages->stage[stages->count++] = stage;
}

/* From this size on the C library mostly gets memory from the kernel for each allocation, and the
 * kernel clears the memory; from 32 MiB on always (M_MMAP_THRESHOLD of mallopt(3), which adapts). A
 * property of the C library, not of the machine. */
enum { FRESH_BYTES = 16 << 20 };

void tern_stages_add_temporaries(struct tern_stages *stages, int64_t ranks, int64_t bytes)
{
    if (bytes >= FRESH_BYTES)
        tern_stages_add(stages,
                        (struct tern_stage){.repeat = 1, .senders = ranks, .copied = bytes});
}

struct tern_stage tern_stage_of_parts(struct tern_stage stage, int64_t bytes, int64_t unit,
                                      int64_t parts)
{
    int64_t units = tern_units(bytes, unit);
    if (units >= parts)
        return stage;
    int64_t senders = (int64_t)((double)stage.senders * (double)units / (double)parts);
    stage.senders = senders > 1 ? senders : 1;
    stage.bytes = unit > 1 ? unit : 1;
    if (stage.reduced)
        stage.reduced = stage.bytes;
    return stage;
}

/* The state of the node during a stage. */
struct ground {
    double latency_ns, gap_ns; /* of a message */
    double slowness;           /* factor for copying and reducing: 1 within the cache */
    double board_gap_ns;       /* of a post's byte, for its writer and for each reader */
    /* additional time for each byte that is in no cache of the node, each time the byte is
     * touched */
    double fetch_ns;
    double page_ns;            /* time for a whole page of such bytes */
    /* bytes of rings that fit into the caches and the TLB; 0: no limit */
    double ring_room;
    double cores;
    double round_ns; /* time until every rank of a core has had its turn; 0: each rank has a core */
    /* how much longer each end of a message takes after the turns of other ranks */
    double cold_ns;
    /* how much longer a post takes that all ranks read: the posts of up to sixteen ranks stay in a
     * core's cache */
    double cold_board_ns;
};

static double busy(const struct tern_wire *link, const struct tern_stage *stage, double sharing)
{
    return (double)stage->messages *
           (link->overhead_ns + (double)stage->bytes * link->gap_ns * sharing);
}

/*
 * Returns how many rounds over all ranks of a core a message waits, if ranks share cores.
 *
 * A waiting rank polls in every turn, whether or not a message has arrived, so a core runs all its
 * ranks in turn all the time. A single awaited rank is half a round away on average; the last of
 * many is a whole round away. If every rank sends and receives, the turns of other ranks come
 * before and after its own: the more ranks share a core, the less the cores are in step, up to half
 * a round more. In a ring, a message is often passed on within one round of a core. An announced
 * message also waits for an answer; so do several messages in a row if their operands share a few
 * temporaries.
 */
static double rounds_waited(const struct tern_stage *stage, double active, double both_ways,
                            double shared, bool announced)
{
    if (!stage->messages)
        return 0;
    double more = (both_ways - 1) / 2 * most(0, 1 - 2 / shared),
           in_turn = stage->relay ? 2.0 / 3 : 1;
    double asked =
        announced && !stage->flows ? most(1, stage->reduced ? (double)stage->messages / 4 : 1) : 0;
    return in_turn * ((active - 1) / active + more) + asked;
}

/* Returns the time of cache misses in the rings. A rank has a ring to each rank that it has sent to
 * (lib/btl/shm/shm.c). Messages advance through a ring. If all rings together do not fit into the
 * caches, each end of a message touches pages that were not used for long: the header's and those
 * of the payload. Of an announced message only the first pages count, because the others are
 * fetched meanwhile. */
static double ring_misses(const struct tern_model *model, const struct ground *ground,
                          const struct tern_stage *stage, double senders, double per_node)
{
    enum { SHORT_RING_PAGES = 8, LONG_RING_PAGES = 64 }; /* ring_sizes of lib/btl/shm/shm.c */
    double page = (double)model->page_bytes,
           bytes = least((double)stage->bytes, (double)model->eager_bytes);
    double rings = (stage->relay ? 1 : stage->repeat) * (double)stage->messages * senders;
    double all = least(rings, per_node * (per_node - 1)) * page *
                 (bytes > 1.5 * page ? LONG_RING_PAGES : SHORT_RING_PAGES);
    if (stage->board || ground->ring_room <= 0 || all <= ground->ring_room)
        return 0;
    return (1 - ground->ring_room / all) * (1 + bytes / page) * ground->page_ns;
}

/* Returns the time of a post's byte at either end. If ranks share cores, the first reader of a core
 * fetches the line, and the others find it there. */
static double post_gap(const struct tern_model *model, const struct ground *ground,
                       double per_node)
{
    double far = least(1, (ground->cores - 1) / most(1, per_node - 1));
    double near_ns = ground->slowness * model->copy_gap_ns;
    return near_ns + far * most(0, ground->board_gap_ns - near_ns);
}

/*
 * Returns the time of a round within the node. A message is copied in by its sender and out by its
 * receiver. Short messages are copied in and out one after the other; announced ones at the same
 * time, piece by piece. A rank that sends and receives does both. If there are more ranks than
 * cores, what counts is the work of all ranks, and the time until each rank gets its turn.
 */
static double node_price(const struct tern_model *model, const struct ground *ground,
                         const struct tern_stage *stage, double per_node, bool crowded)
{
    double messages = (double)stage->messages;
    double senders = least((double)stage->senders, per_node);
    double active = least(senders * (messages + 1), per_node);
    double overhead = stage->board ? model->board_overhead_ns : model->node.overhead_ns;
    overhead += stage->board && !stage->apart ? ground->cold_board_ns : ground->cold_ns;
    overhead += ring_misses(model, ground, stage, senders, per_node);
    double end =
        overhead + (stage->board ? 0 : (double)stage->bytes * (ground->gap_ns + ground->fetch_ns));
    double copy_gap = stage->board ? post_gap(model, ground, per_node)
                                   : ground->slowness * model->copy_gap_ns;
    double fetch = 2 * ground->fetch_ns; /* once for the source, once for the target */
    double work = (double)stage->reduced * (ground->slowness * model->reduce_gap_ns + fetch) +
                  (double)stage->copied * (copy_gap + fetch);
    bool announced = stage->bytes > model->eager_bytes;
    double one_way = announced ? messages * end + overhead : (messages + 1) * end;
    double both_ways = most(1, least(2, 2 * senders / active));
    double path = one_way + (both_ways - 1) * (2 * messages * end - one_way) + work;
    double latency = ground->latency_ns + (announced ? model->node.rendezvous_ns : 0);
    if (!messages || stage->flows)
        latency = 0;
    if (!crowded)
        return (stage->board && messages ? model->board_latency_ns : latency) + path;
    /* if one rank posts or takes everything, the other ranks together have as much to do */
    double workers = stage->board && senders < 2 ? 2 : senders;
    double all = (2 * senders * messages * end + workers * work) / ground->cores;
    /* a pipeline is never full if a rank that passes on waits for its turn: measured, half as long
     * again */
    double halting = stage->flows ? 1.5 : 1;
    return halting * (rounds_waited(stage, active, both_ways, per_node / ground->cores, announced) *
                          ground->round_ns +
                      most(path, all));
}

static double stage_price(const struct tern_model *model, const struct ground *ground, double size,
                          const struct tern_stage *stage)
{
    double per_node = least((double)model->ranks_per_node, size);
    double senders = least((double)stage->senders, per_node);
    double turns = most(1, least(2 * senders, per_node) / ground->cores);
    double node = node_price(model, ground, stage, per_node, per_node > ground->cores);
    bool crosses = size > per_node && stage->distance > 0;
    if (!crosses)
        return stage->repeat * node;
    double work = (double)stage->reduced * model->reduce_gap_ns +
                  (double)stage->copied * model->copy_gap_ns;
    double sharing =
        most(1, least((double)stage->distance, senders) / (double)model->nics_per_node);
    double network_busy = turns * (busy(&model->network, stage, sharing) + work);
    double latency = model->network.latency_ns +
                     (stage->bytes > model->eager_bytes ? model->network.rendezvous_ns : 0);
    double network = (stage->flows ? 0 : latency) + network_busy;
    if (!stage->relay)
        return stage->repeat * most(node, network);
    /* a message that goes round crosses the network once per node; the slowest link sets the
     * pace */
    double mean = node + (network - node) / per_node;
    return stage->repeat * most(mean, network_busy);
}

/* Returns the bytes that a rank moves in total. What does not fit into its part of a core's cache
 * comes from memory. */
static double bytes_of(const struct tern_stages *stages, int first, double size)
{
    double sum = 0;
    for (int i = first; i < stages->count && stages->stage[i].phase == stages->stage[first].phase;
         i++) {
        const struct tern_stage *stage = &stages->stage[i];
        double both_ways = most(1, least(2, 2 * (double)stage->senders / size));
        sum += stage->repeat * (both_ways * (double)stage->messages * (double)stage->bytes +
                                (double)stage->copied);
    }
    return sum;
}

/* Returns the state of the node for stage `first` and the later stages of its phase. */
static struct ground ground_of(const struct tern_model *model, double size,
                               const struct tern_stages *stages, int first)
{
    double per_node = least((double)model->ranks_per_node, size);
    double cores = least(per_node, (double)model->cores_per_node);
    struct tern_far pair = {model->node.latency_ns, model->node.gap_ns};
    if (cores > (double)model->cores_per_package)
        pair = model->machine;
    else if (cores > (double)model->cores_per_cache)
        pair = model->package;
    double each = bytes_of(stages, first, size), bytes = each * per_node / cores;
    double shared = most(2, per_node / cores), doublings = log_2(shared / 2);
    double turn =
        model->switch_ns + doublings / 3 * most(0, model->switch_crowded_ns - model->switch_ns);
    /* the other half holds the data that are copied through */
    double room = (double)model->cache_bytes / 2;
    double missing = bytes > room ? 1 - room / bytes : 0;
    /* fraction of the cores that share one last cache */
    double sharing = least(1, (double)model->cores_per_cache / cores);
    double all = each * per_node * sharing, last_room = (double)model->last_cache_bytes / 2;
    double lost = last_room > 0 && all > last_room ? 1 - last_room / all : 0;
    double farther = most(0, model->memory_gap_ns - pair.gap_ns),
           uncached = most(0, model->uncached_gap_ns - pair.gap_ns);
    double gap = pair.gap_ns + missing * farther;
    return (struct ground){
        .latency_ns = pair.latency_ns,
        .gap_ns = gap,
        .slowness = pair.gap_ns > 0 ? gap / pair.gap_ns : 1,
        .board_gap_ns = model->node.gap_ns > 0 ? gap / model->node.gap_ns * model->board_gap_ns
                                               : model->board_gap_ns,
        .fetch_ns =
            lost * most(0, model->uncached_gap_ns - most(pair.gap_ns, model->memory_gap_ns)),
        .page_ns = (double)model->page_bytes * uncached,
        .ring_room = last_room / sharing,
        .cores = cores,
        .round_ns =
            per_node > cores ? per_node / cores * turn * least(1, (6.5 + doublings) / 10) : 0,
        .cold_ns = per_node > cores ? (1 + doublings) / 4 * model->cold_ns : 0,
        .cold_board_ns = most(0, doublings - 2) / 2 * model->cold_ns,
    };
}

struct tern_model tern_model_of_level(const struct tern_model *model, enum tern_level level,
                                      int64_t lanes, int64_t unit_bytes)
{
    struct tern_model view = *model;
    double unit = (double)unit_bytes;
    view.verbose = false;
    if (level == TERN_LEVEL_NODE)
        view.ranks_per_node = INT64_MAX;
    if (level == TERN_LEVEL_LEADERS) {
        view.ranks_per_node = 1;
        unit *= most(1, (double)lanes / (double)model->nics_per_node);
    }
    view.network.gap_ns *= unit;
    double *const gaps[] = {&view.node.gap_ns,   &view.package.gap_ns,  &view.machine.gap_ns,
                            &view.memory_gap_ns, &view.uncached_gap_ns, &view.reduce_gap_ns,
                            &view.copy_gap_ns,   &view.board_gap_ns};
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
        *gaps[i] *= (double)unit_bytes;
    if (unit_bytes > 1) {
        view.eager_bytes /= unit_bytes;
        view.cache_bytes /= unit_bytes;
        view.last_cache_bytes /= unit_bytes;
        view.page_bytes = view.page_bytes > unit_bytes ? view.page_bytes / unit_bytes : 1;
    }
    return view;
}

double tern_price_ns(const struct tern_model *model, const struct tern_shape *shape,
                     const struct tern_stages *stages)
{
    double size = (double)(shape->size + shape->other_size);
    struct ground ground = {0};
    double sum = model->call_ns;
    for (int i = 0; i < stages->count; i++) {
        const struct tern_stage *stage = &stages->stage[i];
        if (!i || stage->phase != stage[-1].phase)
            ground = ground_of(model, size, stages, i);
        if (stage->level == TERN_LEVEL_ALL || stage->level == TERN_LEVEL_GROUP) {
            sum += stage_price(model, &ground, size, stage);
            continue;
        }
        struct tern_model view =
            tern_model_of_level(model, (enum tern_level)stage->level, stage->lanes, 1);
        int64_t some = stage->level == TERN_LEVEL_NODE ? shape->node_size : shape->nodes;
        sum += stage_price(&view, &ground, (double)some, stage);
    }
    return sum;
}

static double in_thousandths(const char *name)
{
    return (double)tern_figure(name) / 1000;
}

static struct tern_model read_model(void)
{
    struct tern_model model = {
        .node = {(double)tern_figure("coll_node_latency"),
                 (double)tern_figure("coll_node_overhead"), in_thousandths("coll_node_gap"),
                 (double)tern_figure("coll_node_rendezvous")},
        .network = {(double)tern_figure("coll_network_latency"),
                    (double)tern_figure("coll_network_overhead"),
                    in_thousandths("coll_network_gap"),
                    (double)tern_figure("coll_network_rendezvous")},
        .package = {(double)tern_figure("coll_package_latency"),
                    in_thousandths("coll_package_gap")},
        .machine = {(double)tern_figure("coll_machine_latency"),
                    in_thousandths("coll_machine_gap")},
        .memory_gap_ns = in_thousandths("coll_memory_gap"),
        .uncached_gap_ns = in_thousandths("coll_uncached_gap"),
        .reduce_gap_ns = in_thousandths("coll_reduce_gap"),
        .copy_gap_ns = in_thousandths("coll_copy_gap"),
        .switch_ns = (double)tern_figure("coll_switch"),
        .switch_crowded_ns = (double)tern_figure("coll_switch_crowded"),
        .cold_ns = (double)tern_figure("coll_cold"),
        .call_ns = (double)tern_figure("coll_call"),
        .board_latency_ns = (double)tern_figure("coll_board_latency"),
        .board_overhead_ns = (double)tern_figure("coll_board_overhead"),
        .board_gap_ns = in_thousandths("coll_board_gap"),
        .cache_bytes = tern_figure("coll_cache_bytes"),
        .last_cache_bytes = tern_figure("coll_last_cache_bytes"),
        .page_bytes = 4096,
        .cores_per_cache = tern_figure("coll_cores_per_cache"),
        .cores_per_package = tern_figure("coll_cores_per_package"),
        .cores_per_node = tern_figure("coll_cores"),
        .nics_per_node = tern_param_int("coll_nics"),
        .eager_bytes = 16 << 10, /* of most byte movers */
        .verbose = tern_param_int("coll_verbose") > 0,
    };
    /* all processors of the node, not only those that this process may use: all ranks must agree */
    if (model.cores_per_node < 1)
        model.cores_per_node = sysconf(_SC_NPROCESSORS_ONLN);
    if (model.cores_per_package < 1)
        model.cores_per_package = model.cores_per_node;
    if (model.cores_per_cache < 1)
        model.cores_per_cache = model.cores_per_package;
    return model;
}

/* Returns the model of the figures and parameters. These are some thirty, and each new communicator
 * asks for them. So they are kept until a tool changes a parameter. */
struct tern_model tern_model_of_parameters(int64_t ranks_per_node)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static struct tern_model kept;
    static unsigned asked; /* 1 + the number of changes then */
    pthread_mutex_lock(&mutex);
    unsigned now = tern_param_changes() + 1;
    if (asked != now)
        kept = read_model();
    asked = now;
    struct tern_model model = kept;
    pthread_mutex_unlock(&mutex);
    model.ranks_per_node = ranks_per_node;
    return model;
}

/* Returns the time of each byte between two GPUs: the figure by NVLink, and at least a bus's. */
static double reach_gap(double link_gap_ns, uint8_t reach)
{
    static const char *const bus[TERN_GPU_REACHES] = {[TERN_GPU_SWITCH] = "coll_device_switch_gap",
                                                      [TERN_GPU_ROOT] = "coll_device_root_gap",
                                                      [TERN_GPU_NODE] = "coll_device_root_gap",
                                                      [TERN_GPU_FAR] = "coll_device_far_gap"};
    return bus[reach] ? most(link_gap_ns, in_thousandths(bus[reach])) : link_gap_ns;
}

struct tern_model tern_model_of_devices(const struct tern_model *model,
                                        const struct tern_device_order *order)
{
    double step_ns = (double)tern_figure("coll_device_step"),
           latency_ns = (double)tern_figure("coll_device_latency"),
           figure_ns = in_thousandths("coll_device_gap"),
           link_gap_ns = order ? reach_gap(figure_ns, order->near) : figure_ns,
           copy_gap_ns = in_thousandths("coll_device_copy_gap"),
           pinned_gap_ns = in_thousandths("coll_device_pinned_gap");
    struct tern_model devices = *model;
    devices.node = (struct tern_wire){latency_ns, step_ns, link_gap_ns, 0};
    devices.package = devices.machine = (struct tern_far){latency_ns, link_gap_ns};
    devices.memory_gap_ns = devices.uncached_gap_ns = devices.board_gap_ns = link_gap_ns;
    devices.network.overhead_ns += step_ns;
    /* by the host */
    devices.network.gap_ns =
        model->network.gap_ns > pinned_gap_ns ? model->network.gap_ns : pinned_gap_ns;
    if (order && order->group < order->size) {
        devices.network = devices.node;
        devices.network.gap_ns = reach_gap(figure_ns, order->far);
        devices.ranks_per_node = order->group;
        devices.nics_per_node = 1;
    }
    devices.reduce_gap_ns = 3 * copy_gap_ns / 2;
    devices.copy_gap_ns = copy_gap_ns;
    devices.last_cache_bytes = 0;
    return devices;
}
