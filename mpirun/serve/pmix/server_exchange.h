/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_PMIX_SERVER_EXCHANGE_H
#define TERN_MPIRUN_SERVE_PMIX_SERVER_EXCHANGE_H

/* What the PMIx servers of a job's hosts exchange: fences, data that ranks have put, published
 * names, events. An agent sends its host's requests to mpirun, which asks the hosts concerned and
 * sends the answers back. In a job of one host, mpirun answers by itself. All functions run on the
 * loop. Arguments must live until the answer. */

#include <pmix_server.h>

#include "mpirun/plan/job/job_facts.h"
#include "mpirun/wire/frame.h"

/* Prepares for the job. `send` sends a frame to mpirun (on an agent) or to the frame's host (in
 * mpirun). */
void tern_exchange_open(const struct tern_job *job, bool is_agent,
                        void (*send)(const struct tern_frame *frame));
/* Forgets all requests without answering them. */
void tern_exchange_close(void);

/* Call it when all ranks of this host among `procs` have arrived at the fence. `data` was allocated
 * by malloc and is owned from now on. */
void tern_exchange_fence(const pmix_proc_t *procs, size_t proc_count, char *data, size_t size,
                         pmix_modex_cbfunc_t answer, void *answer_data);
/* Call it when all ranks of this host have arrived. Calls `met` when those of all hosts have; only
 * then call it again. */
void tern_exchange_meet(void (*met)(void));
/* Asks for the data that `rank` has put. */
void tern_exchange_modex(int rank, pmix_modex_cbfunc_t answer, void *answer_data);
/* Publish, look up or remove names, as names.h says, for ranks of all hosts. */
void tern_exchange_publish(const pmix_proc_t *proc, const pmix_info_t infos[], size_t info_count,
                           pmix_op_cbfunc_t answer, void *answer_data);
void tern_exchange_lookup(char **keys, const pmix_info_t infos[], size_t info_count,
                          pmix_lookup_cbfunc_t answer, void *answer_data);
void tern_exchange_unpublish(const pmix_proc_t *proc, char **keys, pmix_op_cbfunc_t answer,
                             void *answer_data);
/* Sends an event to the ranks of all other hosts. */
void tern_exchange_event(pmix_status_t code, const pmix_proc_t *source, pmix_data_range_t range,
                         const pmix_info_t infos[], size_t info_count);

/* Handles a frame that arrived over a link. Returns false if the frame is of another kind. */
bool tern_exchange_received(const struct tern_frame *frame);

#endif
