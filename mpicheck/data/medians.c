/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpicheck/data/medians.h"

#include <math.h>
#include <stdlib.h>

#include "mpicheck/data/fold.h"

enum { ROUNDS_MOST = 8 };
static const double settled = 1e-4; /* a change of the logarithm that no longer matters */

/* Moves the value with index `k` of the sorted values to its place, and the smaller ones before
 * it (quickselect). */
static double select_value(double *values, int count, int k)
{
    int low = 0, high = count - 1;
    while (low < high) {
        double pivot = values[low + (high - low) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i <= j) {
                double kept = values[i];
                values[i++] = values[j];
                values[j--] = kept;
            }
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            break;
    }
    return values[k];
}

double tern_mc_median(double *values, int count)
{
    if (count <= 0)
        return 0;
    double upper = select_value(values, count, count / 2);
    if (count % 2)
        return upper;
    double lower = values[0];
    for (int i = 1; i < count / 2; i++)
        lower = values[i] > lower ? values[i] : lower;
    return (lower + upper) / 2;
}

/* Moves the medians of the rows (or columns) of the rests into the hosts' terms. Returns the
 * largest change. */
static double polish(float *rests, int hosts, int step, int stride, double *terms, double *values)
{
    double largest = 0;
    for (int i = 0; i < hosts; i++) {
        float *row = rests + (size_t)i * (size_t)stride;
        int count = 0;
        for (int k = 0; k < hosts; k++)
            if (!isnan(row[(size_t)k * (size_t)step]))
                values[count++] = (double)row[(size_t)k * (size_t)step];
        if (count == 0) {
            terms[i] = NAN; /* this host does not count */
            continue;
        }
        double median = tern_mc_median(values, count);
        for (int k = 0; k < hosts; k++)
            row[(size_t)k * (size_t)step] -= (float)median;
        terms[i] += median;
        largest = fabs(median) > largest ? fabs(median) : largest;
    }
    return largest;
}

/* Moves the median of the hosts' terms into the term of all. */
static void centre(double *terms, int hosts, double *all, double *values)
{
    int count = 0;
    for (int i = 0; i < hosts; i++)
        if (!isnan(terms[i]))
            values[count++] = terms[i];
    double median = tern_mc_median(values, count);
    for (int i = 0; i < hosts; i++)
        terms[i] -= median;
    *all += median;
}

static double spread_of(const float *rests, int hosts)
{
    size_t pairs = (size_t)hosts * (size_t)hosts;
    double *values = tern_mc_alloc((long)pairs, sizeof *values);
    int count = 0;
    for (size_t i = 0; i < pairs; i++)
        if (!isnan(rests[i]))
            values[count++] = fabs((double)rests[i]);
    double spread = tern_mc_median(values, count);
    free(values);
    return spread;
}

void tern_mc_fit_make(const float *measured, int hosts, struct tern_mc_fit *ret_fit)
{
    size_t pairs = (size_t)hosts * (size_t)hosts;
    float *rests = tern_mc_alloc((long)pairs, sizeof *rests);
    double *values = tern_mc_alloc(hosts, sizeof *values);
    *ret_fit = (struct tern_mc_fit){.sends = tern_mc_alloc(hosts, sizeof(double)),
                                    .receives = tern_mc_alloc(hosts, sizeof(double))};
    for (size_t i = 0; i < pairs; i++) {
        rests[i] = measured[i] > 0 ? logf(measured[i]) : NAN;
        ret_fit->pairs += measured[i] > 0;
    }
    for (int round = 0; round < ROUNDS_MOST; round++) {
        double rows = polish(rests, hosts, 1, hosts, ret_fit->sends, values);
        centre(ret_fit->sends, hosts, &ret_fit->all, values);
        double columns = polish(rests, hosts, hosts, 1, ret_fit->receives, values);
        centre(ret_fit->receives, hosts, &ret_fit->all, values);
        if (rows < settled && columns < settled)
            break;
    }
    for (int i = 0; i < hosts; i++) {
        ret_fit->sends[i] = isnan(ret_fit->sends[i]) ? 0 : ret_fit->sends[i];
        ret_fit->receives[i] = isnan(ret_fit->receives[i]) ? 0 : ret_fit->receives[i];
    }
    ret_fit->spread = spread_of(rests, hosts);
    free(rests);
    free(values);
}

void tern_mc_fit_free(struct tern_mc_fit *fit)
{
    free(fit->sends);
    free(fit->receives);
}

double tern_mc_fit_value(const struct tern_mc_fit *fit, int from, int to)
{
    return exp(fit->all + fit->sends[from] + fit->receives[to]);
}

double tern_mc_fit_rest(const struct tern_mc_fit *fit, int from, int to, double value)
{
    return log(value) - fit->all - fit->sends[from] - fit->receives[to];
}
