/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BEST_H
#define BEST_H

#include <mpi.h>

/* Microseconds of a statement: the least of ROUNDS rounds, in each of which it is done `times` times. The program sets ROUNDS. */
#define BEST(times, statement)                                                                                                \
    ({                                                                                                                         \
        double best_ = 1e30;                                                                                                   \
        for (int round_ = 0; round_ < ROUNDS; round_++) {                                                                      \
            double begin_ = MPI_Wtime();                                                                                       \
            for (int i_ = 0; i_ < (times); i_++) {                                                                             \
                statement;                                                                                                     \
            }                                                                                                                  \
            double each_ = (MPI_Wtime() - begin_) / (times);                                                                   \
            best_ = each_ < best_ ? each_ : best_;                                                                             \
        }                                                                                                                      \
        best_ * 1e6;                                                                                                           \
    })

#endif
