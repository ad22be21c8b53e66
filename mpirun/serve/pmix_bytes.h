/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_PMIX_BYTES_H
#define TERN_MPIRUN_SERVE_PMIX_BYTES_H

/* PMIx's structures as bytes of a parcel. */

#include <pmix_server.h>

#include "mpirun/wire/frame.h"

/* Packs an array of PMIx's data type `type`. */
void tern_pmix_pack_array(struct tern_parcel *parcel, const void *items, size_t count,
                          pmix_data_type_t type);
/* Reads an array of items of `item_bytes` each; malloc'ed. Returns NULL, with *ret_count 0, if it
 * has no items. */
void *tern_pmix_read_array(struct tern_reader *reader, size_t item_bytes, pmix_data_type_t type,
                           size_t *ret_count);
void tern_pmix_free_infos(pmix_info_t *infos, size_t count);

void tern_pmix_pack_proc(struct tern_parcel *parcel, const pmix_proc_t *proc);
void tern_pmix_read_proc(struct tern_reader *reader, pmix_proc_t *proc);

/* Keys are ended by NULL; `keys` NULL stands for all of them. */
void tern_pmix_pack_keys(struct tern_parcel *parcel, char **keys);
/* Returns keys, malloc'ed, or NULL for all of them. */
char **tern_pmix_read_keys(struct tern_reader *reader);
void tern_pmix_free_keys(char **keys);

#endif
