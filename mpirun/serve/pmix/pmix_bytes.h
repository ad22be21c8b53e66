/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_PMIX_PMIX_BYTES_H
#define TERN_MPIRUN_SERVE_PMIX_PMIX_BYTES_H

/* Packs PMIx's structures into a parcel, and reads them back. */

#include <pmix_server.h>

#include "mpirun/wire/frame.h"

/* Packs an array of PMIx's data type `type`. */
void tern_pmix_pack_array(struct tern_parcel *parcel, const void *items, size_t count,
                          pmix_data_type_t type);
/* Reads an array of items of `item_bytes` each. The caller frees the result and its items. Returns
 * NULL, with *ret_count 0, if the array is empty or cannot be read. */
void *tern_pmix_read_array(struct tern_reader *reader, size_t item_bytes, pmix_data_type_t type,
                           size_t *ret_count);
/* Frees an array that tern_pmix_read_array made of PMIX_INFO. */
void tern_pmix_free_infos(pmix_info_t *infos, size_t count);

/* Pack and read a process's name: its namespace and rank. */
void tern_pmix_pack_proc(struct tern_parcel *parcel, const pmix_proc_t *proc);
void tern_pmix_read_proc(struct tern_reader *reader, pmix_proc_t *proc);

/* Packs keys; a NULL follows the last. `keys` NULL stands for all keys. */
void tern_pmix_pack_keys(struct tern_parcel *parcel, char **keys);
/* Reads keys. Returns a list to free with tern_pmix_free_keys, or NULL, which means all keys. */
char **tern_pmix_read_keys(struct tern_reader *reader);
/* Frees keys that tern_pmix_read_keys made. `keys` may be NULL. */
void tern_pmix_free_keys(char **keys);

#endif
