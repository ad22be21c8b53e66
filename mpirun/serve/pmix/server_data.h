/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_PMIX_SERVER_DATA_H
#define TERN_MPIRUN_SERVE_PMIX_SERVER_DATA_H

/* What the PMIx server tells ranks about the job, and small functions that fill PMIx's structures.
 * Strings and arrays are not copied: they must live as long as the list. */

#include <pmix_server.h>

#include "mpirun/plan/job/job_facts.h"

/* A growing list; zeroed, it is empty. */
struct tern_infos {
    pmix_info_t *items;
    size_t count, room;
};

/* Each appends an entry with this key and value. */
void tern_infos_string(struct tern_infos *list, const char *key, const char *value);
/* as PMIX_UINT32 */
void tern_infos_number(struct tern_infos *list, const char *key, uint32_t value);
void tern_infos_flag(struct tern_infos *list, const char *key, bool value);
void tern_infos_pointer(struct tern_infos *list, const char *key, pmix_data_type_t type,
                        void *value);

/* Fills in everything that PMIx_server_register_nspace needs. Returns 0 or TERN_ERR_OTHER. */
int tern_server_describe_job(const struct tern_job *job, struct tern_infos *ret_infos);

#endif
