/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_RANKFILE_H
#define TERN_MPIRUN_PLAN_RANKFILE_H

/* Rankfiles: a line "rank N=HOST slot=SLOTS" says where one rank runs. HOST may be +nX, the host at
 * place X (from 0) of those that the job may use. SLOTS are described in slots.h. Without "slot="
 * the rank is bound as --bind-to says. */

#include "mpirun/plan/host_list.h"
#include "mpirun/plan/map.h"

struct tern_rank_line {
    char *host;  /* NULL: no line is about this rank */
    char *slots; /* NULL: not said */
    int line;    /* of the file */
};

struct tern_rankfile {
    const char *path; /* the caller's */
    struct tern_rank_line *ranks;
    int count; /* 1 + the highest rank named */
};

/* TERN_ERR_ARG, naming file and line, when it is unreadable or not as above, or says twice where a
 * rank runs. With `physical` all its numbers are the operating system's, as if written after p. The
 * second takes the file's contents. */
int tern_rankfile_read(const char *path, bool physical, struct tern_rankfile *ret_file);
int tern_rankfile_parse(const char *path, const char *text, bool physical,
                        struct tern_rankfile *ret_file);
void tern_rankfile_free(struct tern_rankfile *file);

/* The hosts that it names, with as many slots as lines; this machine where all are +nX. */
void tern_rankfile_hosts(const struct tern_rankfile *file, struct tern_host_list *list);

/* Each rank's place among the hosts of `list`, which come from `where`; *ret_fixed, of file->count,
 * is to be freed and refers to the file. TERN_ERR_ARG for hosts that are not in it. */
int tern_rankfile_place(const struct tern_rankfile *file, const struct tern_host_list *list,
                        const char *where, struct tern_fixed_place **ret_fixed);

#endif
