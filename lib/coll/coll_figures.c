/* SPDX-License-Identifier: BSD-3-Clause */

/* The figures by which algorithms of collectives are priced (docs/collectives.md), and messages
 * within a node choose their way (lib/btl/shm/lines.h). `mpi_info --model` prints them. */

#include "lib/settings/figure_table.h"

enum {
    LARGEST = 1000000000, /* of a time: a second, or a millisecond per byte */
    CORES = 1 << 20,
};
#define LARGEST_CACHE (1ll << 40)

const struct tern_figure_row tern_figure_rows[] = {
    {"coll_node_latency", 120, "ns", 0, LARGEST, true,
     "Time that a short message takes between two ranks of a node, without the overhead on both "
     "sides."},
    {"coll_node_overhead", 30, "ns", 0, LARGEST, true,
     "Time that a message to a rank of the node keeps its sender, or its receiver, busy."},
    {"coll_node_gap", 35, "ps/byte", 0, LARGEST, true,
     "Time that each byte of a message within a node keeps its sender, or its receiver, busy."},
    {"coll_node_rendezvous", 300, "ns", 0, LARGEST, true,
     "Additional time of a message within a node that is announced first."},
    {"coll_package_latency", 250, "ns", 0, LARGEST, true,
     "Like coll_node_latency, which is for cores with a common cache, between cores of a "
     "package without one."},
    {"coll_package_gap", 45, "ps/byte", 0, LARGEST, true,
     "Like coll_node_gap, between cores of a package without a common cache."},
    {"coll_machine_latency", 450, "ns", 0, LARGEST, true,
     "Like coll_node_latency, between cores of two packages."},
    {"coll_machine_gap", 60, "ps/byte", 0, LARGEST, true,
     "Like coll_node_gap, between cores of two packages."},
    {"coll_memory_gap", 60, "ps/byte", 0, LARGEST, true,
     "Like coll_node_gap, for bytes that do not fit in the core's own cache."},
    {"coll_uncached_gap", 120, "ps/byte", 0, LARGEST, true,
     "Like coll_node_gap, for bytes that are in no cache."},
    {"coll_cache_bytes", 1 << 20, "bytes", 0, LARGEST_CACHE, true,
     "Size of a core's own cache."},
    {"coll_last_cache_bytes", 32 << 20, "bytes", 0, LARGEST_CACHE, true,
     "Size of a cache that several cores share; 0: there is none."},
    {"coll_cores_per_cache", 0, "", 0, CORES, true,
     "Number of cores that share a cache; 0: all cores of a package."},
    {"coll_cores_per_package", 0, "", 0, CORES, true,
     "Number of cores of a package; 0: all cores of the node."},
    {"coll_network_latency", 4000, "ns", 0, LARGEST, false,
     "Like coll_node_latency, between nodes."},
    {"coll_network_overhead", 600, "ns", 0, LARGEST, false,
     "Like coll_node_overhead, between nodes."},
    {"coll_network_gap", 400, "ps/byte", 0, LARGEST, false,
     "Like coll_node_gap, between nodes, through one network card."},
    {"coll_network_rendezvous", 8000, "ns", 0, LARGEST, false,
     "Like coll_node_rendezvous, between nodes."},
    {"coll_call", 40, "ns", 0, LARGEST, true,
     "Time of a collective call without its messages."},
    {"coll_board_latency", 100, "ns", 0, LARGEST, true,
     "Time until another rank sees a post on the board of its node."},
    {"coll_board_overhead", 20, "ns", 0, LARGEST, true,
     "Time that a rank takes to write a post on the board, or to read one."},
    {"coll_board_gap", 65, "ps/byte", 0, LARGEST, true,
     "Time that each byte of a post keeps its writer, or its reader, busy, between cores that "
     "share a cache."},
    {"coll_reduce_gap", 25, "ps/byte", 0, LARGEST, true,
     "Time that a core takes to combine one byte with another in a reduction."},
    {"coll_copy_gap", 25, "ps/byte", 0, LARGEST, true,
     "Time that a core takes to copy a byte."},
    {"coll_switch", 1300, "ns", 0, LARGEST, true,
     "Time that a core takes to switch from one rank to another, if two ranks share it."},
    {"coll_switch_crowded", 2300, "ns", 0, LARGEST, true,
     "Like coll_switch, if sixteen ranks share the core and find its caches cold."},
    {"coll_cold", 60, "ns", 0, LARGEST, true,
     "Additional time that a message keeps its sender, or its receiver, busy if sixteen ranks "
     "share a core."},
    {"shm_again_gap", 250, "ps/byte", 0, LARGEST, true,
     "Additional time of each byte that a core writes where another core has read since."},
    {"shm_take_gap", 65, "ps/byte", 0, LARGEST, true,
     "Time of each byte that a core copies from where another core has written."},
    {"shm_turns_gap", 65, "ps/byte", 0, LARGEST, true,
     "Like shm_take_gap, if eight pages are copied at a time, a little of each in turn."},
    {"shm_prepared", 1024, "bytes", 0, 4096, true,
     "Length up to which a rank that waits asks for the lines of its next message."},
    {"coll_device_step", 10000, "ns", 0, LARGEST, false,
     "Time of a copy or a kernel on a device, whatever its length."},
    {"coll_device_gap", 7, "ps/byte", 0, LARGEST, false,
     "Time of each byte of a copy between two devices of a node: 7 with NVLink, 40 by one PCIe "
     "switch (4.0), 60 and more through the processor."},
    {"coll_device_copy_gap", 1, "ps/byte", 0, LARGEST, false,
     "Time of each byte of a copy within a device."},
    {"coll_device_pinned_gap", 20, "ps/byte", 0, LARGEST, false,
     "Time of each byte of a copy between a device and pinned memory of the host."},
    {"coll_cores", 0, "", 0, CORES, false,
     "Number of cores of a node; 0: as many as this node has."},
    {0},
};
