/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_RTE_JOBS_H
#define TERN_RTE_JOBS_H

/*
 * The jobs that this process knows, and their processes.
 *
 * A process is known by (job, rank). The number of a job is this process's own: 0 is its own job,
 * the others are numbered as they are met. So a number never travels. Between processes a job is
 * named by its id, which is the same everywhere.
 *
 * Processes of other jobs become known by introductions, which the jobs exchange when they connect
 * (lib/mpi/dynamic). An introduction contains a key of its process. When two processes connect
 * later, both keys together prove that the two were introduced to each other. Introductions
 * therefore travel only on connections that are proven and, between jobs, encrypted.
 *
 * Nothing here is ever freed: a job that was met may be met again. Any thread may call.
 */

#include "lib/util/net/hmac.h"
#include "lib/util/net/launcher.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name of a job that is the same in all processes. All bytes count. */
struct tern_job_id {
    unsigned char bytes[16];
};

/* What a process tells processes of other jobs about itself. */
struct tern_introduction {
    uint32_t size; /* bytes of this struct and its card, a multiple of 8 */
    uint32_t rank; /* in its job */
    struct tern_job_id job;
    char job_name[64], host[64];      /* for people */
    uint32_t job_number; /* that mpirun has given the job, for people; 0: none */
    uint32_t unused;
    unsigned char key[TERN_SECRET_BYTES];
    char card[];   /* a struct tern_card, then up to 7 bytes of 0 */
};

/* Returns the id of a job by its number, below UINT32_MAX. */
struct tern_job_id tern_job_id_of(uint32_t job);
/* Returns the number of a job, and gives it one if it has none. UINT32_MAX if there is no
 * memory. */
uint32_t tern_job_number(const struct tern_job_id *id);
/* Finds the number of a job. Returns false if this process has not met the job. */
bool tern_job_find(const struct tern_job_id *id, uint32_t *ret_job);

/* Makes this process's introduction with its card of `length` bytes. The caller frees it. Returns
 * NULL with TERN_ERR_NO_MEM or TERN_ERR_OTHER and text on failure. */
struct tern_introduction *tern_introduction_make(const struct tern_card *card,
                                                 size_t length);
/* Reads a sequence of introductions and keeps those of other jobs. Returns 0, TERN_ERR_NO_MEM, or
 * TERN_ERR_OTHER with text if the bytes are no introductions. */
int tern_introductions_take(const void *bytes, size_t length);

/* Returns the introduction of a process of another job; NULL: the two were not introduced. */
const struct tern_introduction *tern_introduction_of(uint32_t job, uint32_t rank);
/* Returns how to reach a process, and sets *ret_length to the bytes of the card. */
const struct tern_card *tern_introduction_card(const struct tern_introduction *introduction,
                                               size_t *ret_length);

/* Computes the secret of a connection with a process of another job. `we_call`: this process has
 * made the connection. Returns false if the two were not introduced. */
bool tern_job_pair_secret(uint32_t job, uint32_t rank, bool we_call,
                          unsigned char ret_secret[TERN_SECRET_BYTES]);

/* Returns true if this process comes before the other one, in an order in which both agree. */
bool tern_process_comes_first(uint32_t job, uint32_t rank);
/* Returns true if the process is on this host, as far as this is known. */
bool tern_process_is_here(uint32_t job, uint32_t rank);
/* Writes the name of the process's host, or "?". */
void tern_process_host(uint32_t job, uint32_t rank, char *name, size_t room);
/* Returns the number that mpirun has given the job of a process: 1 if a user has started the job.
 * Returns 0 if the number is not known. */
uint32_t tern_process_job_number(uint32_t job, uint32_t rank);
/* Writes the process as people know it: "rank 3", or "rank 3 of job NAME". Returns `text`. */
enum { TERN_PROCESS_TEXT = 96 };
const char *tern_process_text(uint32_t job, uint32_t rank, char text[TERN_PROCESS_TEXT]);

#endif
