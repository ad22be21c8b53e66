/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_RANK_WHERE_H
#define TERN_MPIRUN_SERVE_RANK_WHERE_H

/* Where a rank is: waiting in MPI, and for what; or outside, and what its process does there. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/util/net/launcher.h"
#include "mpirun/wire/frame.h"

/* Where one rank is. */
struct tern_where {
    int32_t rank;
    int32_t pid;  /* of the process that was looked at */
    char state;   /* as in /proc/PID/stat: 'R', 'S', 'D', 'T' ...; 'X': there is no process */
    bool is_ours; /* its program has this library's MPI; else nothing is known of what it does in
                     MPI */
    bool waits;   /* in MPI, as `record` says; else the process is outside MPI, or busy in it */
    int32_t cpu_permille; /* processor time in thousandths of one processor */
    uint32_t waited_s;    /* how long it has waited */
    uint32_t unheard_s;   /* how long record.unheard_bytes have not been acknowledged */
    struct tern_wait_record record;
    /* of the first thread, if it is outside MPI: "in spin at hang.c:12 (hang)", "in read of
     * descriptor 4"; "" if unknown */
    char place[200];
};

/* Appends one rank's place, and reads it. */
void tern_where_pack(const struct tern_where *where, struct tern_parcel *parcel);
void tern_where_unpack(struct tern_reader *reader, struct tern_where *ret_where);

#endif
