/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPI_Dims_create. "As close to each other as possible" is taken literally: the smallest difference
 * between the largest and the smallest factor (after Traeff and Luebbe, "Specification Guideline
 * Violations by MPI_Dims_create", EuroMPI 2015).
 *
 * All factors are divisors of n, and an int has at most 1600 of them. The search tries the divisors
 * from the root upwards as the largest factor, and fills in the other factors in descending order.
 * It leaves a branch as soon as the branch cannot beat the best difference: the smallest factor
 * must exceed largest - best. Good solutions lie near the root and are found first, so nearly all
 * other branches are cut off.
 */

#include "lib/mpi/topo/dims.h"

#include "lib/mpi/procedures.h"
#include "lib/util/base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DIVISORS_MAX = 1600 }; /* 2095133040 = 2^4 * 3^4 * 5 * 7 * 11 * 13 * 17 * 19 has that many */

struct search {
    int divisors[DIVISORS_MAX]; /* in ascending order */
    int divisor_count;
    int count; /* number of factors wanted */
    int best;  /* difference of the best solution so far */
    int *factors, *best_factors;
};

/* Returns base^exponent, or a number above `limit` if the power exceeds it. */
static int64_t power(int64_t base, int exponent, int64_t limit)
{
    int64_t result = 1;
    while (exponent-- > 0 && result <= limit && base > 1)
        result *= base;
    return result;
}

static void find_divisors(struct search *search, int n)
{
    int low = 0, high = DIVISORS_MAX;
    for (int d = 1; (int64_t)d * d <= n; d++) {
        if (n % d)
            continue;
        search->divisors[low++] = d;
        if (d != n / d)
            search->divisors[--high] = n / d;
    }
    memmove(search->divisors + low, search->divisors + high,
            (size_t)(DIVISORS_MAX - high) * sizeof *search->divisors);
    search->divisor_count = low + DIVISORS_MAX - high;
}

/* Returns the index of the smallest divisor d with d^exponent >= rest. */
static int first_above_root(const struct search *search, int rest, int exponent)
{
    int low = 0, high = search->divisor_count - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (power(search->divisors[middle], exponent, rest) >= rest)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Chooses factor number `at` and the later ones. Their product is `rest`; none is above the factor
 * before it. */
static void choose(struct search *search, int at, int rest)
{
    int left = search->count - at;
    int largest = search->factors[0], previous = search->factors[at - 1];
    if (left == 1) {
        if (rest <= previous && largest - rest < search->best) {
            search->best = largest - rest;
            search->factors[at] = rest;
            memcpy(search->best_factors, search->factors,
                   (size_t)search->count * sizeof *search->factors);
        }
        return;
    }
    for (int i = first_above_root(search, rest, left); i < search->divisor_count; i++) {
        int factor = search->divisors[i];
        if (factor > previous)
            return;
        if (rest % factor)
            continue;
        /* Each later factor must be at least largest - best + 1. A larger `factor` leaves even less
         * for them. */
        int least = largest - search->best + 1;
        if (least > 1 && power(least, left - 1, rest / factor) > rest / factor)
            return;
        search->factors[at] = factor;
        choose(search, at + 1, rest / factor);
    }
}

static void search_all(struct search *search, int n)
{
    search->best = INT_MAX;
    for (int i = first_above_root(search, n, search->count); i < search->divisor_count; i++) {
        int largest = search->divisors[i];
        /* The smallest factor is at most the root, so larger divisors give nothing better. */
        int64_t least = (int64_t)largest - search->best + 1;
        if (least > 1 && power(least, search->count, n) > n)
            return;
        search->factors[0] = largest;
        if (search->count > 1)
            choose(search, 1, n / largest);
    }
}

int tern_dims_balance(int n, int count, int factors[])
{
    if (count == 1) {
        factors[0] = n;
        return 0;
    }
    struct search *search = malloc(sizeof *search);
    int *trial = malloc((size_t)count * sizeof *trial);
    if (!search || !trial) {
        free(search);
        free(trial);
        return tern_error(TERN_ERR_NO_MEM, "no memory for %d dimensions", count);
    }
    search->count = count;
    search->factors = trial;
    search->best_factors = factors;
    find_divisors(search, n);
    search_all(search, n);
    free(trial);
    free(search);
    return 0;
}

/* Computes the product of the given entries and the number of free ones. */
static int check_dims(int nnodes, int ndims, const int dims[], int64_t *ret_product, int *ret_free)
{
    int64_t product = 1;
    int free_count = 0;
    if (nnodes < 1)
        return tern_error(TERN_ERR_DIMS, "nnodes is %d; expected 1 or more", nnodes);
    if (ndims < 0)
        return tern_error(TERN_ERR_DIMS, "ndims is %d; expected 0 or more", ndims);
    for (int d = 0; d < ndims; d++) {
        if (dims[d] < 0)
            return tern_error(
                TERN_ERR_DIMS,
                "dims[%d] is %d; expected a number of processes, or 0: then MPI_Dims_create "
                "chooses", d,
                dims[d]);
        if (dims[d] == 0)
            free_count++;
        else if (product <= nnodes)
            product *= dims[d];
    }
    if (nnodes % product)
        return tern_error(
            TERN_ERR_DIMS,
            "nnodes is %d, which is not a multiple of %lld, the product of the given dims", nnodes,
            (long long)product);
    if (!free_count && product != nnodes)
        return tern_error(TERN_ERR_DIMS,
                          "nnodes is %d, but all dims are given and their product is %lld", nnodes,
                          (long long)product);
    *ret_product = product;
    *ret_free = free_count;
    return 0;
}

int tern_mpi_dims_create(int nnodes, int ndims, int dims[])
{
    int64_t product = 1;
    int free_count = 0;
    int rc = check_dims(nnodes, ndims, dims, &product, &free_count);
    if (rc || free_count == 0)
        return rc;
    int *factors = malloc((size_t)free_count * sizeof *factors);
    if (!factors)
        return tern_error(TERN_ERR_NO_MEM, "no memory for %d dimensions", free_count);
    rc = tern_dims_balance(nnodes / (int)product, free_count, factors);
    for (int d = 0, f = 0; !rc && d < ndims; d++)
        if (dims[d] == 0)
            dims[d] = factors[f++];
    free(factors);
    return rc;
}
