/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MEASURE_H
#define TERN_MEASURE_H

/* `mpi_info --measure`: measures the figures by which collectives are priced between ranks that it
 * starts (libexec, probe.c), prints them and stores them for this user and kind of host
 * (lib/util/measured.h). Takes some seconds, for they are measured until two measurements agree
 * (judge.h), five times at most. 0, or 1 with what is wrong said on standard error. */
int tern_measure(void);

#endif
