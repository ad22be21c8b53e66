/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_NAMES_H
#define TERN_MPIRUN_SERVE_NAMES_H

/* What ranks publish for others to look up (MPI_Publish_name): a table of keys, values and
 * publishers, as long as the job. Called on mpirun's loop; arguments are PMIx's, live until the
 * answer, and are copied where kept. */

#include <pmix_server.h>
#include <stdbool.h>

/* PMIX_SUCCESS, or PMIX_ERR_DUPLICATE_KEY and nothing is stored. */
pmix_status_t tern_names_publish(const pmix_proc_t *publisher, const pmix_info_t infos[],
                                 size_t count);

/* Answers at once, or, where the request says PMIX_WAIT, when all keys have been published. */
void tern_names_lookup(char **keys, const pmix_info_t infos[], size_t count,
                       pmix_lookup_cbfunc_t answer, void *answer_data);

/* Forgets keys of that publisher; NULL: all of them. */
pmix_status_t tern_names_unpublish(const pmix_proc_t *publisher, char **keys);

#endif
