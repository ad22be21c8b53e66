/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DIMS_H
#define TERN_DIMS_H

/*
 * Writes n >= 1 as the most balanced product of count >= 1 factors, in descending order. Most
 * balanced means: the smallest difference between the largest and the smallest factor; among those,
 * the smallest largest factor; then the smallest second, and so on. Returns 0 or TERN_ERR_NO_MEM.
 */
int tern_dims_balance(int n, int count, int factors[]);

#endif
