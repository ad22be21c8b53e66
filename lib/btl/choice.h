/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BTL_CHOICE_H
#define TERN_BTL_CHOICE_H

/* Which byte movers the parameter `btl` permits. */

#include <stdbool.h>

/* Reads the parameter. A list that was written for the networks of another MPI library, and leaves
 * out what this job needs, permits all: it names movers that do not exist here, or only some to
 * leave out, or the parameter pml puts another library in charge. Rank 0 then prints a warning. A
 * list of our own movers holds as it is. Call it when the ranks of the job are known. */
void tern_btl_choose(void);
/* Returns true if some rank of the job can be reached only by a network: it is on another node, or
 * the parameter leaves out shm. */
bool tern_btl_network_needed(void);
/* Returns true if the mover ofi is worth a try: the user has named a provider, or this host has
 * a device for which libfabric has one. Loads nothing. */
bool tern_btl_ofi_possible(void);
/* Returns true if the byte mover of that name may be used. */
bool tern_btl_permitted(const char *name);
/* Returns true if the parameter asks for this byte mover by its name. */
bool tern_btl_named(const char *name);

#endif
