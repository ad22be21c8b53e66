/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DIMS_H
#define TERN_DIMS_H

/*
 * The most balanced way to write n >= 1 as a product of count >= 1 factors: with the smallest
 * difference between the largest and the smallest factor and, among those, the smallest largest
 * one, then the smallest second, ... Factors come in descending order. 0 or TERN_ERR_NO_MEM.
 */
int tern_dims_balance(int n, int count, int factors[]);

#endif
