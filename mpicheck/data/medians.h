/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_MEDIANS_H
#define TERN_MPICHECK_MEDIANS_H

/* Robust statistics: a few wrong values do not move them. */

/* Returns the median and changes the order of the values; 0 if there are none. */
double tern_mc_median(double *values, int count);

/* What explains the values of pairs: log(value of from -> to) = all + sends[from] +
 * receives[to] + rest. */
struct tern_mc_fit {
    double all;
    double *sends, *receives; /* by host; 0: as most hosts */
    double spread;            /* median of the absolute rests of all pairs */
    int pairs;                /* number of pairs that have a value */
};

/* Fits by median polish (J. W. Tukey, Exploratory Data Analysis, 1977, chapter 11). Pairs with the
 * value 0 are left out. Exits if there is no memory. */
void tern_mc_fit_make(const float *values, int hosts, struct tern_mc_fit *ret_fit);
void tern_mc_fit_free(struct tern_mc_fit *fit);

/* Returns the value of a pair that its two hosts explain. */
double tern_mc_fit_value(const struct tern_mc_fit *fit, int from, int to);

/* Returns the rest of a pair: the logarithm of its value that the two hosts do not explain. */
double tern_mc_fit_rest(const struct tern_mc_fit *fit, int from, int to, double value);

#endif
