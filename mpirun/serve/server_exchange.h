/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_SERVER_EXCHANGE_H
#define TERN_MPIRUN_SERVE_SERVER_EXCHANGE_H

/* What the PMIx servers of a job's hosts have to tell each other: fences, what ranks have put,
 * names that are published, events. Requests of a host go up to mpirun, which knows who else must
 * be asked; answers come down. A job of one host answers itself. Called on the loop; whatever is
 * given must live until the answer. */

#include <pmix_server.h>

#include "mpirun/plan/job_facts.h"
#include "mpirun/wire/frame.h"

/* `send` takes what goes up (on an agent) or down (in mpirun). */
void tern_exchange_open(const struct tern_job *job, bool is_agent,
                        void (*send)(const struct tern_frame *frame));
/* Forgets all requests; none of them is answered. */
void tern_exchange_close(void);

/* All ranks of this host among `procs` have come; `data` is malloc'ed and owned from now on. */
void tern_exchange_fence(const pmix_proc_t *procs, size_t proc_count, char *data, size_t size,
                         pmix_modex_cbfunc_t answer, void *answer_data);
void tern_exchange_modex(int rank, pmix_modex_cbfunc_t answer, void *answer_data);
void tern_exchange_publish(const pmix_proc_t *proc, const pmix_info_t infos[], size_t info_count,
                           pmix_op_cbfunc_t answer, void *answer_data);
void tern_exchange_lookup(char **keys, const pmix_info_t infos[], size_t info_count,
                          pmix_lookup_cbfunc_t answer, void *answer_data);
void tern_exchange_unpublish(const pmix_proc_t *proc, char **keys, pmix_op_cbfunc_t answer,
                             void *answer_data);
/* To the ranks of all other hosts. */
void tern_exchange_event(pmix_status_t code, const pmix_proc_t *source, pmix_data_range_t range,
                         const pmix_info_t infos[], size_t info_count);

/* Takes a frame that came over a link; false: it is about something else. */
bool tern_exchange_received(const struct tern_frame *frame);

#endif
