/* SPDX-License-Identifier: BSD-3-Clause */
/* A notice is for the program that has the same number as the sender's program, and waits until
 * that program is in MPI. A rank gets its notices one by one: the next one when it reports that it
 * has received the last. So its socket only needs room for one notice, and none is lost there. */
#include "mpirun/serve/unreached.h"

#include <stdlib.h>
#include <string.h>

#include "mpirun/serve/addresses.h"

struct notice {
    struct notice *next;
    int from, program;
    size_t size;
    struct tern_card card; /* the first `size` bytes of it are used */
};

/* The notices for a rank of this host. */
struct listener {
    struct notice *first;
    bool listening; /* the first notice has been delivered, and not been acknowledged yet */
};

static struct {
    const struct tern_job *job;
    bool is_agent;
    void (*send)(const struct tern_frame *frame);
    bool (*deliver)(int to, int from, const struct tern_card *notice, size_t size);
    struct listener *of; /* by rank */
} unreached;

void tern_unreached_open(const struct tern_job *job, bool is_agent,
                         void (*send)(const struct tern_frame *frame),
                         bool (*deliver)(int to, int from, const struct tern_card *notice,
                                         size_t size))
{
    unreached.job = job;
    unreached.is_agent = is_agent;
    unreached.send = send;
    unreached.deliver = deliver;
    unreached.of = tern_must_alloc(job->map->size * sizeof *unreached.of);
}

static void drop_first(struct listener *listener)
{
    struct notice *first = listener->first;
    listener->first = first->next;
    listener->listening = false;
    free(first);
}

static bool is_rank(int rank)
{
    return rank >= 0 && rank < unreached.job->map->size;
}

static int host_of(int rank)
{
    return unreached.job->map->places[rank].host;
}

static void deliver_next(int rank)
{
    struct listener *listener = &unreached.of[rank];
    int program = tern_cards_program(rank);
    while (listener->first && listener->first->program < program)
        drop_first(listener);
    struct notice *first = listener->first;
    if (first && first->program == program && !listener->listening)
        listener->listening = unreached.deliver(rank, first->from, &first->card, first->size);
}

void tern_unreached_heard(int rank)
{
    if (unreached.of[rank].listening)
        drop_first(&unreached.of[rank]);
    deliver_next(rank);
}

/* A notice that was delivered before the rank left MPI may not have been read, so deliver it
 * again. */
void tern_unreached_present(int rank)
{
    unreached.of[rank].listening = false;
    deliver_next(rank);
}

static void take(int from, int to, int program, const void *bytes, size_t size)
{
    struct notice *notice = tern_must_alloc(sizeof *notice), **last = &unreached.of[to].first;
    *notice = (struct notice){ .from = from, .program = program, .size = size };
    memcpy(&notice->card, bytes, size);
    while (*last)
        last = &(*last)->next;
    *last = notice;
    deliver_next(to);
}

/* Delivers a notice to the rank, or sends it on towards the rank's host. */
static void route(int from, int to, int program, const void *bytes, size_t size)
{
    if (!is_rank(from) || !is_rank(to) || size > sizeof(struct tern_card))
        return;
    if (host_of(to) == unreached.job->here) {
        take(from, to, program, bytes, size);
        return;
    }
    unreached.send(
        &(struct tern_frame){.kind = TERN_FRAME_UNREACHED,
                             .host = unreached.is_agent ? unreached.job->here : host_of(to),
                             .rank = to,
                             .value = from,
                             .id = (uint64_t)program,
                             .data = bytes,
                             .size = (uint32_t)size});
}

void tern_unreached_report(int from, int to, const struct tern_card *notice, size_t size)
{
    route(from, to, tern_cards_program(from), notice, size);
}

bool tern_unreached_received(const struct tern_frame *frame)
{
    if (!unreached.job || frame->kind != TERN_FRAME_UNREACHED)
        return false;
    bool astray = unreached.is_agent &&
                  (!is_rank(frame->rank) || host_of(frame->rank) != unreached.job->here);
    if (!astray)
        route(frame->value, frame->rank, (int)frame->id, frame->data, frame->size);
    return true;
}
