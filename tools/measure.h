/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MEASURE_H
#define TERN_MEASURE_H

/* `mpi_info --measure`: measures the figures from which the prices of collectives are computed.
 * Starts ranks for that (libexec, measure_probe.c), prints the figures, and stores them for this
 * user and kind of host (lib/settings/figure_file.h). Takes some seconds: it measures until two
 * measurements agree (measure_judge.h), at most five times. Returns 0, or 1 after a message on
 * standard error. */
int tern_measure(void);

#endif
