/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; env: OMPI_MCA_btl=tcp,self; exit: nonzero; output: rank [01] of this job is process [0-9]+ already */
/* Without shared memory it is the launcher that tells two programs in the place of one rank. */
#include "rank_is_there_once.c"
