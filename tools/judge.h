/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_JUDGE_H
#define TERN_JUDGE_H

/*
 * Whether measured figures can be believed. Other programs on the cores only add to times, but some
 * figures are differences of times, and so a busy machine shows anything: a board without latency,
 * or a rendezvous of ten times its length. Such figures are impossible by themselves (no core sees
 * another's store within a nanosecond), do not go together (memory is not faster than a cache), or
 * are others when they are measured again. Pure functions.
 */

#include "lib/util/measured.h"

/* What is wrong with `count` figures by themselves: 0, or -1 with a sentence in `why` that names
 * the figure, what was found, and what was expected. */
int tern_judge_figures(const struct tern_figure *figures, int count, char *why, size_t room);

/* Likewise whether two measurements of the same figures, in the same order, agree. */
int tern_judge_agreement(const struct tern_figure *figures, const struct tern_figure *again,
                         int count, char *why, size_t room);

#endif
