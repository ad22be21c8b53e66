/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/mpi/comm/introduce.h"

#include "lib/btl/btl.h"
#include "lib/pml/context.h"
#include "lib/rte/jobs.h"
#include "lib/util/base/error.h"

#include <stdlib.h>
#include <string.h>

enum { INTRODUCTIONS_MOST = 1 << 30 };

/* Makes this process's introduction. From now on its ids of contexts differ from those of other
 * jobs. */
static int make(struct tern_introduction **ret)
{
    int rc = tern_btl_meet(ret);
    struct tern_job_id job = tern_job_id_of(0);
    return rc ? rc : tern_context_mark_ids(job.bytes, sizeof job.bytes);
}

/* Gathers the sizes, then the introductions, each with the room of the longest. */
static int gather(struct tern_comm *comm, const struct tern_introduction *own, int failed,
                  struct tern_introductions *ret)
{
    int count = comm->group->size;
    int64_t mine = failed ? (int64_t)failed : (int64_t)own->size, longest = 0;
    int64_t *sizes = malloc((size_t)count * sizeof *sizes);
    if (!sizes)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the sizes of %d introductions", count);
    int rc = tern_comm_allgather_bytes(comm, &mine, sizes, sizeof mine);
    for (int i = 0; i < count && !rc; i++) {
        longest = sizes[i] > longest ? sizes[i] : longest;
        if (sizes[i] < 0 && !failed)
            rc = tern_error((int)sizes[i], "rank %d of comm cannot be reached by other jobs", i);
    }
    rc = failed ? failed : rc;
    char *padded = rc ? NULL : calloc(1, (size_t)longest);
    char *all = rc ? NULL : malloc((size_t)count * (size_t)longest);
    if (!rc && (!padded || !all))
        rc = tern_error(TERN_ERR_NO_MEM, "no memory for %d introductions", count);
    if (!rc) {
        memcpy(padded, own, own->size);
        rc = tern_comm_allgather_bytes(comm, padded, all, longest);
    }
    for (int i = 0; i < count && !rc; i++) { /* close the gaps */
        memmove(all + ret->length, all + (int64_t)i * longest, (size_t)sizes[i]);
        ret->length += (size_t)sizes[i];
    }
    free(padded);
    free(sizes);
    if (rc)
        free(all);
    else
        ret->bytes = all;
    return rc;
}

int tern_introductions_gather(struct tern_comm *comm, struct tern_introductions *ret)
{
    struct tern_introduction *own = NULL;
    *ret = (struct tern_introductions){0};
    int failed = make(&own), rc = gather(comm, own, failed, ret);
    free(own);
    return rc;
}

int tern_introductions_exchange(struct tern_comm *comm, int other, int tag,
                                const struct tern_introductions *mine,
                                struct tern_introductions *ret)
{
    uint64_t length = mine->length, theirs;
    *ret = (struct tern_introductions){0};
    int rc = tern_comm_sendrecv(comm, tag, &length, sizeof length, other, &theirs, sizeof theirs,
                                other);
    if (rc)
        return rc;
    if (!length || !theirs || theirs > INTRODUCTIONS_MOST)
        return tern_error(TERN_ERR_OTHER, "the other group cannot introduce its processes");
    ret->bytes = malloc(theirs);
    if (!ret->bytes)
        return tern_error(TERN_ERR_NO_MEM, "no memory for introductions of %lu bytes",
                          (unsigned long)theirs);
    ret->length = theirs;
    return tern_comm_sendrecv(comm, tag, mine->bytes, (int64_t)length, other, ret->bytes,
                              (int64_t)theirs, other);
}

int tern_introductions_spread(struct tern_comm *comm, int root, int rc,
                              struct tern_introductions *theirs)
{
    int64_t length = rc ? rc : (int64_t)theirs->length;
    int bcast_rc = tern_comm_bcast_bytes(comm, &length, sizeof length, root);
    if (bcast_rc || rc)
        return rc ? rc : bcast_rc;
    if (length < 0)
        return tern_error((int)length, "rank %d of comm could not introduce the groups to each "
                                       "other", root);
    if (!theirs->bytes && !(theirs->bytes = malloc((size_t)length + 1)))
        return tern_error(TERN_ERR_NO_MEM, "no memory for introductions of %ld bytes",
                          (long)length);
    theirs->length = (size_t)length;
    rc = tern_comm_bcast_bytes(comm, theirs->bytes, length, root);
    return rc ? rc : tern_introductions_take(theirs->bytes, theirs->length);
}
