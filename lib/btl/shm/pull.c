/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/shm/pull.h"

#include "lib/btl/path.h"
#include "lib/btl/peer.h"
#include "lib/btl/shm/endpoint.h"
#include "lib/btl/shm/lines.h"
#include "lib/node/doorbell.h"
#include "lib/settings/figures.h"
#include "lib/util/base/atomic.h"
#include "lib/util/base/error.h"
#include "lib/settings/param.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

enum { STREAM_MIN = 16 * 1024 }; /* shorter messages are not worth the dialogue */

/* After this many bytes the receiver looks whether the sender has entered MPI meanwhile. */
enum { PULL_PIECE = 256 * 1024 };

/* Where a store to a line that another core has read waits for that core, a sender whose buffer was
 * pulled pays when it writes there again. There a receiver pulls only if the sender stays away
 * (docs/notes/2026-11-27-readers-of-a-line.md). */
static uint64_t piece_ticks; /* what a piece takes by the rings if it is in no cache */
static size_t paid_most;     /* bytes that the sender's cache still holds when it writes again */

static enum { COPY_AUTO, COPY_ALWAYS, COPY_NEVER } single_copy; /* in the order of the choices */

void tern_shm_pull_init(void)
{
    single_copy = tern_param_choice("btl_shm_single_copy");
    piece_ticks = tern_ticks_of_us(PULL_PIECE * tern_figure("coll_uncached_gap") / 1000000);
    paid_most = tern_figure("coll_cache_bytes") / 2;
}

/* Returns true if this process can read the peer's memory. If not, single copies for this pair end
 * without a word. */
static bool probe_pull(struct tern_peer *peer, struct tern_shm_endpoint *endpoint)
{
    bool works = single_copy != COPY_NEVER && tern_segment_can_read(endpoint->block);
    endpoint->pull = works ? PULL_WORKS : PULL_REFUSED;
    if (peer->btl && strcmp(peer->btl->name, "shm") == 0)
        tern_path_set(&peer->path, works ? "shm, one copy" : "shm, two copies");
    return works;
}

/* Limits of one system call, well under IOV_MAX and 2 GiB. */
enum { RUNS = 64, RUN_MIN = 512, PULL_BYTES = 1 << 30 };

/* Returns true if the sender waits in MPI. If both ends wait in MPI the ring is faster: one end
 * copies in while the other copies out, whereas the system call looks up and pins every page. A
 * sender that computes or is descheduled cannot take part. */
static bool sender_is_there(const struct tern_shm_endpoint *endpoint)
{
    if (endpoint->in && __atomic_load_n(&endpoint->in->small, __ATOMIC_RELAXED))
        /* through a small ring the bytes come in many parts, and each costs a turn of both ends */
        return false;
    if (tern_doorbell_fade_contention())
        /* other programs want the processors: the sender will not stay there for long */
        return false;
    uint64_t at = __atomic_load_n(&endpoint->block->waiting_at, __ATOMIC_RELAXED);
    /* A rank that copies notes the time after each piece. Where it copies each piece twice, in and
     * out, both ways, that takes four times as long. Signed, because the sender's clock may be a
     * little ahead. */
    uint64_t ago = tern_lines_owner_pays() ? piece_ticks : piece_ticks / 4;
    return (int64_t)(tern_ticks() - at) < (int64_t)ago;
}

/* Waits for the sender to enter MPI, for about as long as it would pay later, if this rank waits in
 * MPI itself and has its processor alone. Returns true if the sender has come. */
static bool sender_comes(const struct tern_transfer *transfer,
                         const struct tern_shm_endpoint *endpoint)
{
    if (!tern_lines_owner_pays() || !transfer->waits || tern_doorbell_stays() ||
        __atomic_load_n(&tern_doorbell_contended, __ATOMIC_RELAXED))
        return false;
    size_t paid = transfer->length < paid_most ? transfer->length : paid_most;
    uint64_t begin = tern_ticks(), now = begin,
             patience = tern_ticks_of_us(tern_lines_paid_us(paid));
    for (; now - begin < patience; now = tern_ticks()) {
        tern_doorbell_note_busy(now); /* the sender may be about to look, for a message of ours */
        if (sender_is_there(endpoint))
            return true;
        tern_cpu_relax();
    }
    return false;
}

/* Returns how often in a row the peer has sent what this transfer begins to copy. Messages that are
 * under way at the same time and lie in the same memory have the same bytes: then its owner pays
 * once for all of them. */
static unsigned count_again(const struct tern_transfer *transfer)
{
    struct tern_shm_endpoint *endpoint = transfer->peer->bulk_endpoint;
    uint64_t end = transfer->address + transfer->length; /* the beginning has come, or has not */
    if (endpoint->sent_end != end)
        endpoint->sent_again = 0;
    else if (endpoint->sent_again < UINT8_MAX)
        endpoint->sent_again++;
    endpoint->sent_end = end;
    return endpoint->sent_again;
}

/* Returns true if both ranks should pull, whether the sender waits in MPI or not, because each has
 * announced messages to the other. Streams would let each core copy all bytes twice. For one
 * message each way that costs less than the system call's work for every page, up to VERY_LONG
 * bytes. */
static bool both_should_pull(const struct tern_transfer *transfer)
{
    /* 512 KiB, of which the first 16 may have come with the announcement */
    enum { WINDOW = 2, VERY_LONG = 496 * 1024, AGAIN = 8 };
    uint32_t offered = transfer->peer->offered;
    if (tern_lines_owner_pays())
        return offered >= WINDOW && count_again(transfer) >= AGAIN;
    return offered >= WINDOW || (offered && transfer->length >= VERY_LONG);
}

/* Returns true if the destination has many short runs. Then unpacking from the ring costs less than
 * a system call for every few runs. */
static bool scattered(const struct tern_cursor *to, size_t length)
{
    struct tern_cursor copy = *to;
    struct iovec runs[RUNS];
    size_t bytes;
    int count = tern_cursor_runs(&copy, runs, RUNS, length, &bytes);
    return bytes < length && bytes < (size_t)count * RUN_MIN;
}

/* Copies `bytes` bytes at the transfer's address to `count` runs, which it changes. */
static int copy_runs(struct tern_transfer *transfer, const struct tern_shm_endpoint *endpoint,
                     struct iovec *runs, int count, size_t bytes)
{
    while (bytes) {
        struct iovec remote = {(void *)(uintptr_t)transfer->address, bytes};
        ssize_t n = process_vm_readv(endpoint->block->pid, runs, count, &remote, 1, 0);
        if (n <= 0)
            return tern_error(TERN_ERR_OTHER,
                              "cannot read %zu bytes at %#lx of pid %d on this node: %s", bytes,
                              (long)transfer->address, endpoint->block->pid,
                              n ? strerror(errno) : "nothing there");
        transfer->address += n;
        transfer->length -= n;
        bytes -= n;
        for (; count && (size_t)n >= runs->iov_len; runs++, count--)
            n -= runs->iov_len;
        if (n) {
            runs->iov_base = (char *)runs->iov_base + n;
            runs->iov_len -= n;
        }
    }
    return 0;
}

static int pull(struct tern_transfer *transfer)
{
    struct tern_shm_endpoint *endpoint = transfer->peer->bulk_endpoint;
    if (endpoint->pull != PULL_WORKS &&
        (endpoint->pull == PULL_REFUSED || !probe_pull(transfer->peer, endpoint)))
        return TERN_ERR_UNSUPPORTED;
    if (scattered(&transfer->cursor, transfer->length))
        return TERN_ERR_UNSUPPORTED;
    tern_lines_count(endpoint->block);
    size_t piece = single_copy == COPY_AUTO ? PULL_PIECE : PULL_BYTES;
    bool streams = single_copy == COPY_AUTO && !both_should_pull(transfer);
    int rc = 0;
    if (streams && transfer->length >= STREAM_MIN && sender_comes(transfer, endpoint))
        return TERN_ERR_UNSUPPORTED;
    while (transfer->length && !rc) {
        struct iovec runs[RUNS];
        size_t bytes;
        if (streams && transfer->length >= STREAM_MIN && sender_is_there(endpoint))
            return TERN_ERR_UNSUPPORTED;
        int count = tern_cursor_runs(&transfer->cursor, runs, RUNS,
                                     transfer->length < piece ? transfer->length : piece, &bytes);
        rc = copy_runs(transfer, endpoint, runs, count, bytes);
    }
    return rc;
}

int tern_shm_pull(struct tern_transfer *transfer)
{
    transfer->done(transfer, pull(transfer));
    return 0;
}
