/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_SERVER_DATA_H
#define TERN_MPIRUN_SERVE_SERVER_DATA_H

/* What the PMIx server tells about the job, and small functions to fill PMIx's structures. Strings
 * and arrays given are not copied and must live as long as the list. */

#include <pmix_server.h>

#include "mpirun/plan/job_facts.h"

struct tern_infos {
    pmix_info_t *items;
    size_t count, room;
};

void tern_infos_string(struct tern_infos *list, const char *key, const char *value);
void tern_infos_number(struct tern_infos *list, const char *key, uint32_t value); /* uint32_t */
void tern_infos_flag(struct tern_infos *list, const char *key, bool value);
void tern_infos_pointer(struct tern_infos *list, const char *key, pmix_data_type_t type,
                        void *value);

/* Everything PMIx_server_register_nspace wants to know. 0 or TERN_ERR_OTHER. */
int tern_server_describe_job(const struct tern_job *job, struct tern_infos *ret_infos);

#endif
