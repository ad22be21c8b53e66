/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_DEVICE_CHOICE_H
#define TERN_OFI_DEVICE_CHOICE_H

/* Whether network cards read and write the memory of GPUs themselves (FI_HMEM). */

#include "lib/btl/ofi/fabric/fabric.h"

/* What the path to a peer says of it. */
#define TERN_OFI_DEVICE_PATH "device memory: directly (FI_HMEM)"

/* Replaces the entries of the chosen devices by ones with FI_HMEM, if this process may have device
 * memory, the parameter btl_ofi_hmem permits it, and the provider offers it for all of them with
 * the same demands. Returns true if it has replaced them: then *ret_before has the former entries,
 * which the caller frees. Else *choice stays, and tern_ofi_devices_why_not says why. */
bool tern_ofi_choose_devices(struct tern_ofi_choice *choice, struct tern_ofi_choice *ret_before);
/* Frees the entries. */
void tern_ofi_choice_free(struct tern_ofi_choice *choice);

/* Returns why device memory goes through the host. */
const char *tern_ofi_devices_why_not(void);
/* Notes that the fabric could not be opened with FI_HMEM, and why. */
void tern_ofi_devices_failed(const char *why);

/* Notes that the provider does not register even device memory of ours: `error` of
 * tern_ofi_register_device. From now on, or if there was only no room (TERN_ERR_NO_MEM) after some
 * such calls, device memory goes through the host; says so once for the job. */
void tern_ofi_devices_refused(int error);
bool tern_ofi_devices_are_refused(void);

#endif
