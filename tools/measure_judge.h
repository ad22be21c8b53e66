/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MEASURE_JUDGE_H
#define TERN_MEASURE_JUDGE_H

/* Decides whether measured figures can be believed. Other programs on the cores only add to times.
 * But some figures are differences of times, so on a busy machine they can take any value: a board
 * without latency, or a rendezvous ten times too long. Such figures are impossible by themselves
 * (no core sees another's store within a nanosecond), contradict each other (memory is not faster
 * than a cache), or differ when measured again. These functions are pure. */

#include "lib/settings/figure_file.h"

/* Checks `count` figures of one measurement. Returns 0, or -1 with a sentence in `why` (of `room`
 * bytes) that names the figure, its value, and what was expected. */
int tern_judge_figures(const struct tern_figure *figures, int count, char *why, size_t room);

/* Checks whether two measurements of the same figures, in the same order, agree. Returns 0, or -1
 * with a sentence in `why`. */
int tern_judge_agreement(const struct tern_figure *figures, const struct tern_figure *again,
                         int count, char *why, size_t room);

#endif
