/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The performance variables: a fixed list, and some for each collective and byte mover.
 *
 * They are read without locks: a callback of an event reads them while its thread holds a lane, and
 * must not wait for another lane. The values are counters that the lanes add to, so a value may
 * lack the additions of the last moments.
 */

#include "lib/mpi/tool/tool_pvar.h"

#include "lib/btl/btl.h"
#include "lib/node/pieces.h"
#include "lib/node/segment.h"
#include "lib/coll/plan/plan.h"
#include "lib/mpi/object/comm.h"
#include "lib/mpi/object/running.h"
#include "lib/mpi/win/win.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml.h"
#include "lib/settings/param.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- how they are read ---- */

static uint64_t counter_at(const void *base, size_t offset)
{
    return __atomic_load_n((const uint64_t *)((const char *)base + offset), __ATOMIC_RELAXED);
}

/* Reads the sum of a counter over all lanes. */
static void read_lanes(const struct tern_variable *variable, const struct tern_comm *comm,
                       uint64_t *ret_values)
{
    (void)comm;
    *ret_values = 0;
    for (uint32_t i = 0; i < tern_lane_count; i++)
        *ret_values += counter_at(&tern_lanes[i], variable->offset);
}

static void read_lanes_ticks(const struct tern_variable *variable, const struct tern_comm *comm,
                             uint64_t *ret_values)
{
    read_lanes(variable, comm, ret_values);
    *ret_values = tern_lane_ns_of(*ret_values);
}

/* Reads the highest mark of all lanes. Restarting sets each mark to its current level. */
static void read_mark(const struct tern_variable *variable, const struct tern_comm *comm,
                      uint64_t *ret_values)
{
    (void)comm;
    *ret_values = 0;
    for (uint32_t i = 0; i < tern_lane_count; i++) {
        uint64_t mark = counter_at(&tern_lanes[i], variable->offset);
        if (mark > *ret_values)
            *ret_values = mark;
    }
}

static void restart_mark(const struct tern_variable *variable)
{
    for (uint32_t i = 0; i < tern_lane_count; i++)
        __atomic_store_n((uint64_t *)((char *)&tern_lanes[i] + variable->offset),
                         counter_at(&tern_lanes[i], variable->level_offset), __ATOMIC_RELAXED);
}

static void read_eager(const struct tern_variable *variable, const struct tern_comm *comm,
                       uint64_t *ret_values)
{
    (void)variable, (void)comm;
    uint64_t announced = 0;
    *ret_values = 0;
    for (uint32_t i = 0; i < tern_lane_count; i++)
        announced += counter_at(&tern_lanes[i].counters.rendezvous_messages, 0);
    for (const struct tern_peer *peer = tern_peer_newest(); peer; peer = peer->all_next)
        *ret_values += counter_at(&peer->traffic.sent_messages, 0);
    *ret_values -= announced < *ret_values ? announced : *ret_values;
}

/* Reads the sum of a counter of struct tern_traffic over all peers, or over the peers of a byte
 * mover. */
static void read_traffic(const struct tern_variable *variable, const struct tern_comm *comm,
                         uint64_t *ret_values)
{
    (void)comm;
    bool received = variable->offset >= offsetof(struct tern_traffic, received_messages);
    *ret_values = 0;
    for (const struct tern_peer *peer = tern_peer_newest(); peer; peer = peer->all_next) {
        const struct tern_btl *came_by = __atomic_load_n(&peer->came_by, __ATOMIC_RELAXED),
                              *btl = __atomic_load_n(&peer->btl, __ATOMIC_RELAXED);
        btl = received && came_by ? came_by : btl;
        if (!variable->of || variable->of == btl)
            *ret_values += counter_at(&peer->traffic, variable->offset);
    }
}

/* Reads that counter for each rank of a communicator: the sum over the peers in all lanes that are
 * this process. */
static void read_ranks(const struct tern_variable *variable, const struct tern_comm *comm,
                       uint64_t *ret_values)
{
    for (int rank = 0; comm && rank < comm->p2p.size; rank++) {
        struct tern_process process = tern_peers_process(comm->p2p.peers, rank);
        ret_values[rank] = 0;
        for (const struct tern_peer *peer = tern_peer_newest(); peer; peer = peer->all_next)
            if (tern_peer_is(peer, process))
                ret_values[rank] += counter_at(&peer->traffic, variable->offset);
    }
}

/* Reads a counter of a communicator's point-to-point context. */
static void read_context(const struct tern_variable *variable, const struct tern_comm *comm,
                         uint64_t *ret_values)
{
    *ret_values = comm ? counter_at(&comm->p2p, variable->offset) : 0;
}

static void read_world(const struct tern_variable *variable, const struct tern_comm *comm,
                       uint64_t *ret_values)
{
    (void)variable, (void)comm;
    *ret_values = (uint64_t)tern_world;
}

static void read_users(const struct tern_variable *variable, const struct tern_comm *comm,
                       uint64_t *ret_values)
{
    (void)variable, (void)comm;
    *ret_values = (uint64_t)tern_library_users;
}

static void read_private_windows(const struct tern_variable *variable, const struct tern_comm *comm,
                                 uint64_t *ret_values)
{
    (void)variable, (void)comm;
    *ret_values = __atomic_load_n(&tern_win_private_count, __ATOMIC_RELAXED);
}

static void read_segment_size(const struct tern_variable *variable, const struct tern_comm *comm,
                              uint64_t *ret_values)
{
    (void)variable, (void)comm;
    *ret_values = tern_segment.base ? tern_segment.room : 0;
}

static void read_segment_used(const struct tern_variable *variable, const struct tern_comm *comm,
                              uint64_t *ret_values)
{
    (void)variable, (void)comm;
    *ret_values = tern_segment_used();
}

static void read_segment_part(const struct tern_variable *variable, const struct tern_comm *comm,
                              uint64_t *ret_values)
{
    (void)variable, (void)comm;
    *ret_values = tern_segment.base ? (uint64_t)((double)tern_segment_used() * 1e6 /
                                          (double)tern_segment.room)
                                : 0;
}

/* ---- the list ---- */

#define COUNTER .class = MPI_T_PVAR_CLASS_COUNTER
#define SUM .class = MPI_T_PVAR_CLASS_AGGREGATE
#define LEVEL .class = MPI_T_PVAR_CLASS_LEVEL
#define OF_LANES(member) .read = read_lanes, .offset = offsetof(struct tern_lane, member)
#define OF_TRAFFIC(member) .read = read_traffic, .offset = offsetof(struct tern_traffic, member)
#define OF_RANKS(member)                                                                           \
    .read = read_ranks, .offset = offsetof(struct tern_traffic, member),                           \
    .bind = MPI_T_BIND_MPI_COMM, .per_rank = true
#define OF_CONTEXT(member)                                                                         \
    .read = read_context, .offset = offsetof(struct tern_context, member),                         \
    .bind = MPI_T_BIND_MPI_COMM
#define MARK(member, level)                                                                        \
    .class = MPI_T_PVAR_CLASS_HIGHWATERMARK, .read = read_mark, .restart = restart_mark,           \
    .offset = offsetof(struct tern_lane, member),                                                  \
    .level_offset = offsetof(struct tern_lane, level)

static const struct tern_variable fixed[] = {
    {"mpi_state", "mpi", "State of the World Model, from before MPI_Init to after MPI_Finalize.",
     .class = MPI_T_PVAR_CLASS_STATE, .kind = TERN_VARIABLE_STATE, .items = &tern_tool_states,
     .read = read_world},
    {"mpi_users", "mpi", "Number of sessions; the World Model counts as one between MPI_Init and "
                         "MPI_Finalize.", LEVEL,
     .read = read_users},

    {"pml_messages_sent", "pml", "Messages sent, including those of collectives.", COUNTER,
     OF_TRAFFIC(sent_messages)},
    {"pml_bytes_sent", "pml", "Bytes of the messages sent.", SUM, OF_TRAFFIC(sent_bytes)},
    {"pml_messages_received", "pml", "Messages that were matched with a receive.", COUNTER,
     OF_TRAFFIC(received_messages)},
    {"pml_bytes_received", "pml", "Bytes of the messages that were matched with a receive.", SUM,
     OF_TRAFFIC(received_bytes)},
    {"pml_peer_messages_sent", "pml",
     "Messages sent to each process of a communicator, on all communicators together.", COUNTER,
     OF_RANKS(sent_messages)},
    {"pml_peer_bytes_sent", "pml",
     "Bytes sent to each process of a communicator, on all communicators together.", SUM,
     OF_RANKS(sent_bytes)},
    {"pml_peer_messages_received", "pml",
     "Messages received from each process of a communicator, on all communicators "
     "together.", COUNTER,
     OF_RANKS(received_messages)},
    {"pml_peer_bytes_received", "pml",
     "Bytes received from each process of a communicator, on all communicators together.", SUM,
     OF_RANKS(received_bytes)},
    {"pml_peer_path", "pml",
     "The path to each process of a communicator, as a text of 128 bytes each: \"shm, one copy\", "
     "\"tcp eth2 10.2.0.31 -> 10.2.0.8\"; empty before the first message.",
     .class = MPI_T_PVAR_CLASS_GENERIC, .kind = TERN_VARIABLE_PATHS, .bind = MPI_T_BIND_MPI_COMM,
     .per_rank = true},
    {"pml_eager_sent", "pml", "Messages sent eagerly: the data travel with the "
                              "announcement.", COUNTER,
     .read = read_eager},
    {"pml_rendezvous_sent", "pml", "Messages sent by rendezvous: announced first, the data "
                                   "later.", COUNTER,
     OF_LANES(counters.rendezvous_messages)},
    {"pml_bytes_pulled", "pml",
     "Bytes of received messages that were copied directly from the sender's memory.", SUM,
     OF_LANES(counters.pulled_bytes)},

    {"rma_direct_copies", "rma",
     "Puts and gets that the network copied straight to or from the memory of the target.", COUNTER,
     OF_LANES(counters.direct_copies)},

    {"rma_system_copies", "rma",
     "Calls of the system that copied to or from the memory of another rank of the node, for "
     "operations on windows.", COUNTER,
     OF_LANES(counters.system_copies)},
    {"rma_private_windows", "rma",
     "Windows of MPI_Win_allocate whose memory here is this rank's own, because the node's shared "
     "memory had none: other ranks of the node reach it by copies of the system.", COUNTER,
     .read = read_private_windows},

    {"pml_posted_length", "pml", "Posted receives that have no message yet.", LEVEL,
     OF_LANES(posted.items)},
    {"pml_posted_longest", "pml", "Largest number of receives posted at the same time in one lane.",
     MARK(counters.posted_longest, posted.items)},
    {"pml_unexpected_length", "pml", "Unexpected messages: arrived, and no receive is posted "
                                     "yet.", LEVEL,
     OF_LANES(unexpected.items)},
    {"pml_unexpected_longest", "pml", "Largest number of unexpected messages at the same time in "
                                      "one lane.",
     MARK(counters.unexpected_longest, unexpected.items)},
    {"pml_unexpected_messages", "pml", "Messages that arrived before their receive was "
                                       "posted.", COUNTER,
     OF_LANES(counters.unexpected_messages)},
    {"pml_comm_posted_length", "pml", "Posted receives on a communicator that have no message yet.",
     LEVEL, OF_CONTEXT(posted_length)},
    {"pml_comm_unexpected_length", "pml",
     "Unexpected messages on a communicator: arrived, and no receive is posted yet.", LEVEL,
     OF_CONTEXT(unexpected_length)},

    {"pml_time_blocked", "pml", "Seconds that threads have waited in MPI with nothing to do.",
     .class = MPI_T_PVAR_CLASS_TIMER, .kind = TERN_VARIABLE_SECONDS, .read = read_lanes_ticks,
     .offset = offsetof(struct tern_lane, counters.blocked_ticks)},
    {"pml_sleeps", "pml", "How often a waiting thread went to sleep.", COUNTER,
     OF_LANES(counters.sleeps)},
    {"pml_locks_contended", "pml", "How often a thread had to wait for a lock of the message path.",
     COUNTER, OF_LANES(counters.contended_locks)},

    {"btl_shm_memory_size", "btl_shm", "Bytes of address space of the node's shared memory.",
     .class = MPI_T_PVAR_CLASS_SIZE, .read = read_segment_size},
    {"btl_shm_memory_used", "btl_shm",
     "Bytes of the node's shared memory that the ranks use.", LEVEL,
     .read = read_segment_used},
    {"btl_shm_memory_part", "btl_shm",
     "Part of the node's shared memory that the ranks use, from 0 to 1.",
     .class = MPI_T_PVAR_CLASS_PERCENTAGE, .kind = TERN_VARIABLE_PART, .read = read_segment_part},
};

static const struct traffic_word {
    const char *word, *help;
    int class;
    size_t offset;
} traffic_words[] = {
    {"messages_sent", "Messages sent", MPI_T_PVAR_CLASS_COUNTER,
     offsetof(struct tern_traffic, sent_messages)},
    {"bytes_sent", "Bytes of messages sent", MPI_T_PVAR_CLASS_AGGREGATE,
     offsetof(struct tern_traffic, sent_bytes)},
    {"messages_received", "Messages received", MPI_T_PVAR_CLASS_COUNTER,
     offsetof(struct tern_traffic, received_messages)},
    {"bytes_received", "Bytes of messages received", MPI_T_PVAR_CLASS_AGGREGATE,
     offsetof(struct tern_traffic, received_bytes)},
};

enum {
    FIXED = sizeof fixed / sizeof *fixed,
    TRAFFIC_WORDS = sizeof traffic_words / sizeof *traffic_words,
    MADE_MAX = TERN_COLLECTIVES + TERN_BTLS_MAX * TRAFFIC_WORDS,
    TEXT_ROOM = 96,
};

static struct tern_variable variables[FIXED + MADE_MAX];
static int variable_count;
/* Names and help texts of the variables that are made at run time. */
static struct texts {
    char name[TEXT_ROOM], help[TEXT_ROOM];
} texts[MADE_MAX];

static struct texts *add_made(struct tern_variable variable)
{
    struct texts *text = &texts[variable_count - FIXED];
    variable.name = text->name;
    variable.help = text->help;
    variables[variable_count++] = variable;
    return text;
}

static void add_collective(enum tern_collective collective)
{
    const char *name = tern_plan_collective_name(collective);
    struct texts *text =
        add_made((struct tern_variable){.room = "coll",
                                        COUNTER,
                                        .read = read_lanes,
                                        .offset = offsetof(struct tern_lane, counters.collectives) +
                                                  (size_t)collective * sizeof(uint64_t)});
    snprintf(text->name, TEXT_ROOM, "coll_%s_started", name);
    snprintf(text->help, TEXT_ROOM,
             "How often MPI_%c%s was started, in all its forms: blocking, nonblocking, persistent.",
             toupper((unsigned char)name[0]), name + 1);
}

/* Returns the room of a byte mover's variables: btl_shm for btl_shm_..., if there is such a
 * room. */
static const char *room_of_btl(const struct tern_btl *btl)
{
    char name[64];
    snprintf(name, sizeof name, "btl_%s", btl->name);
    for (const struct tern_param_room *const *room = tern_param_rooms; *room; room++)
        if (strcmp((*room)->name, name) == 0)
            return (*room)->name;
    return "btl";
}

static void add_traffic(const struct tern_btl *btl, const struct traffic_word *word)
{
    struct texts *text = add_made((struct tern_variable){.room = room_of_btl(btl),
                                                         .class = word->class,
                                                         .read = read_traffic,
                                                         .offset = word->offset,
                                                         .of = btl});
    snprintf(text->name, TEXT_ROOM, "btl_%s_%s", btl->name, word->word);
    snprintf(text->help, TEXT_ROOM, "%s by the byte mover %s.", word->help, btl->name);
}

static void make_variables(void)
{
    memcpy(variables, fixed, sizeof fixed);
    variable_count = FIXED;
    for (int i = 0; i < TERN_COLLECTIVES; i++)
        add_collective((enum tern_collective)i);
    for (int i = 0; tern_btls[i]; i++)
        for (int word = 0; word < TRAFFIC_WORDS; word++)
            add_traffic(tern_btls[i], &traffic_words[word]);
}

struct tern_variable *tern_tool_variable(int index)
{
    if (variable_count == 0)
        make_variables();
    return index >= 0 && index < variable_count ? &variables[index] : NULL;
}
