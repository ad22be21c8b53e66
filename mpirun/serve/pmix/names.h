/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_PMIX_NAMES_H
#define TERN_MPIRUN_SERVE_PMIX_NAMES_H

/* The names that ranks publish for others to look up (MPI_Publish_name): a table of keys, values
 * and publishers, which lasts as long as the job. All functions run on mpirun's loop. Their
 * arguments belong to PMIx and live until the answer; what is kept longer is copied. */

#include <pmix_server.h>
#include <stdbool.h>

/* Stores the published keys. Returns PMIX_SUCCESS, or PMIX_ERR_DUPLICATE_KEY if one of them is
 * already there; nothing is stored then. */
pmix_status_t tern_names_publish(const pmix_proc_t *publisher, const pmix_info_t infos[],
                                 size_t count);

/* Looks up the keys and calls `answer`: at once, or if the request says PMIX_WAIT, when all keys
 * have been published. If PMIX_TIMEOUT seconds pass before that, answers PMIX_ERR_TIMEOUT. */
void tern_names_lookup(char **keys, const pmix_info_t infos[], size_t count,
                       pmix_lookup_cbfunc_t answer, void *answer_data);

/* Removes keys of that publisher; `keys` NULL means all of them. Returns PMIX_SUCCESS. */
pmix_status_t tern_names_unpublish(const pmix_proc_t *publisher, char **keys);

#endif
