/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3; long: 1 6; args: 30; long-args: 1000; limit: 600; env: OMPI_MCA_io_overlap=always */
/* file_random.c with aggregators that write one buffer while they receive the next, and read the next
 * while they send one. */
#include "file_random.c"
