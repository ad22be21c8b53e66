/* SPDX-License-Identifier: BSD-3-Clause */

/* Put, get and accumulates (MPI-4.1 section 12.3). */

#include "lib/mpi/object/gate.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/datatype/op.h"
#include "lib/mpi/procedures.h"
#include "lib/mpi/request/request_object.h"
#include "lib/mpi/win/win.h"
#include "lib/util/base/error.h"

static int no_target(struct tern_request **ret_request)
{
    if (ret_request)
        *ret_request = &tern_request_empty;
    return 0;
}

static int put(const void *origin_addr, MPI_Count origin_count,
               struct tern_datatype *origin_datatype, int target_rank, MPI_Aint target_disp,
               MPI_Count target_count, struct tern_datatype *target_datatype, struct tern_win *win,
               struct tern_request **ret_request)
{
    if (TERN_UNLIKELY(target_rank == MPI_PROC_NULL))
        return no_target(ret_request);
    struct tern_rma_buffer origin = {origin_addr, origin_count, &origin_datatype->type};
    struct tern_rma_place place = {target_rank, target_disp, target_count, &target_datatype->type};
    return tern_window_put(&win->window, &origin, &place, ret_request);
}

int tern_mpi_put(const void *origin_addr, MPI_Count origin_count,
                 struct tern_datatype *origin_datatype, int target_rank, MPI_Aint target_disp,
                 MPI_Count target_count, struct tern_datatype *target_datatype,
                 struct tern_win *win)
{
    return put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
               target_datatype, win, NULL);
}

int tern_mpi_rput(const void *origin_addr, MPI_Count origin_count,
                  struct tern_datatype *origin_datatype, int target_rank, MPI_Aint target_disp,
                  MPI_Count target_count, struct tern_datatype *target_datatype,
                  struct tern_win *win, struct tern_request **ret_request)
{
    return put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
               target_datatype, win, ret_request);
}

static int get(void *origin_addr, MPI_Count origin_count, struct tern_datatype *origin_datatype,
               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
               struct tern_datatype *target_datatype, struct tern_win *win,
               struct tern_request **ret_request)
{
    if (TERN_UNLIKELY(target_rank == MPI_PROC_NULL))
        return no_target(ret_request);
    struct tern_rma_buffer result = {origin_addr, origin_count, &origin_datatype->type};
    struct tern_rma_place place = {target_rank, target_disp, target_count, &target_datatype->type};
    return tern_window_get(&win->window, &result, &place, ret_request);
}

int tern_mpi_get(void *origin_addr, MPI_Count origin_count, struct tern_datatype *origin_datatype,
                 int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                 struct tern_datatype *target_datatype, struct tern_win *win)
{
    return get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
               target_datatype, win, NULL);
}

int tern_mpi_rget(void *origin_addr, MPI_Count origin_count, struct tern_datatype *origin_datatype,
                  int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                  struct tern_datatype *target_datatype, struct tern_win *win,
                  struct tern_request **ret_request)
{
    return get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
               target_datatype, win, ret_request);
}

/* The datatype is the target's, which is there also with MPI_NO_OP. */
static int check_op(const struct tern_op *op, const struct tern_datatype *datatype)
{
    if (TERN_LIKELY(op->op != TERN_REDUCE_USER))
        return tern_check_full() ? tern_op_check_table(op, datatype) : 0;
    return tern_error(TERN_ERR_OP, "op is a function of the program; one-sided operations take "
                                   "predefined operations only");
}

static int accumulate(const void *origin_addr, MPI_Count origin_count,
                      struct tern_datatype *origin_datatype, int target_rank,
                      MPI_Aint target_disp, MPI_Count target_count,
                      struct tern_datatype *target_datatype, struct tern_op *op,
                      struct tern_win *win, struct tern_request **ret_request)
{
    int rc = check_op(op, target_datatype);
    if (rc || TERN_UNLIKELY(target_rank == MPI_PROC_NULL))
        return rc ? rc : no_target(ret_request);
    struct tern_rma_buffer origin = {origin_addr, origin_count, &origin_datatype->type};
    struct tern_rma_place place = {target_rank, target_disp, target_count, &target_datatype->type};
    return tern_window_fetch(&win->window, &origin, NULL, NULL, &place, op->op, ret_request);
}

int tern_mpi_accumulate(const void *origin_addr, MPI_Count origin_count,
                        struct tern_datatype *origin_datatype, int target_rank,
                        MPI_Aint target_disp, MPI_Count target_count,
                        struct tern_datatype *target_datatype, struct tern_op *op,
                        struct tern_win *win)
{
    return accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                      target_count, target_datatype, op, win, NULL);
}

int tern_mpi_raccumulate(const void *origin_addr, MPI_Count origin_count,
                         struct tern_datatype *origin_datatype, int target_rank,
                         MPI_Aint target_disp, MPI_Count target_count,
                         struct tern_datatype *target_datatype, struct tern_op *op,
                         struct tern_win *win, struct tern_request **ret_request)
{
    return accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                      target_count, target_datatype, op, win, ret_request);
}

/* The arguments of the origin mean nothing with MPI_NO_OP; its datatype may be missing then. */
static int get_accumulate(const void *origin_addr, MPI_Count origin_count,
                          struct tern_datatype *origin_datatype, void *result_addr,
                          MPI_Count result_count, struct tern_datatype *result_datatype,
                          int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                          struct tern_datatype *target_datatype, struct tern_op *op,
                          struct tern_win *win, struct tern_request **ret_request)
{
    int rc = check_op(op, target_datatype);
    if (rc || TERN_UNLIKELY(target_rank == MPI_PROC_NULL))
        return rc ? rc : no_target(ret_request);
    bool reads = op->op == TERN_REDUCE_NO_OP;
    struct tern_rma_buffer origin = {origin_addr, origin_count,
                                     reads ? NULL : &origin_datatype->type};
    struct tern_rma_buffer result = {result_addr, result_count, &result_datatype->type};
    struct tern_rma_place place = {target_rank, target_disp, target_count, &target_datatype->type};
    return tern_window_fetch(&win->window, reads ? NULL : &origin, NULL, &result, &place, op->op,
                             ret_request);
}

int tern_mpi_get_accumulate(const void *origin_addr, MPI_Count origin_count,
                            struct tern_datatype *origin_datatype, void *result_addr,
                            MPI_Count result_count, struct tern_datatype *result_datatype,
                            int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                            struct tern_datatype *target_datatype, struct tern_op *op,
                            struct tern_win *win)
{
    return get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count,
                          result_datatype, target_rank, target_disp, target_count, target_datatype,
                          op, win, NULL);
}

int tern_mpi_rget_accumulate(const void *origin_addr, MPI_Count origin_count,
                             struct tern_datatype *origin_datatype, void *result_addr,
                             MPI_Count result_count, struct tern_datatype *result_datatype,
                             int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                             struct tern_datatype *target_datatype, struct tern_op *op,
                             struct tern_win *win, struct tern_request **ret_request)
{
    return get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count,
                          result_datatype, target_rank, target_disp, target_count, target_datatype,
                          op, win, ret_request);
}

static int check_one_element(const struct tern_datatype *datatype)
{
    if (TERN_LIKELY(datatype->predefined))
        return 0;
    return tern_error(TERN_ERR_TYPE, "datatype is derived; expected a predefined one, because the "
                                     "call takes one element");
}

/* Answers wait for nobody but the target, so the result is there after the next flush at the
 * latest, as the standard says. */
int tern_mpi_fetch_and_op(const void *origin_addr, void *result_addr,
                          struct tern_datatype *datatype, int target_rank, MPI_Aint target_disp,
                          struct tern_op *op, struct tern_win *win)
{
    int rc = check_one_element(datatype);
    if (!rc)
        rc = check_op(op, datatype);
    if (rc || TERN_UNLIKELY(target_rank == MPI_PROC_NULL))
        return rc;
    return tern_window_fetch_one(&win->window, origin_addr, NULL, result_addr, &datatype->type,
                                 target_rank, target_disp, op->op);
}

/* The standard allows integers, logicals and bytes. */
static int check_comparable(const struct tern_datatype *datatype)
{
    enum tern_basic basic = datatype->type.basic;
    bool integer = basic >= TERN_BASIC_INT8 && basic <= TERN_BASIC_UNSIGNED_LONG;
    bool other = (basic >= TERN_BASIC_LOGICAL8 && basic <= TERN_BASIC_LOGICAL64) ||
                 basic == TERN_BASIC_BYTE || basic == TERN_BASIC_CHARACTER;
    if (TERN_LIKELY(datatype->predefined && (integer || other)))
        return 0;
    return tern_error(TERN_ERR_TYPE, "datatype is none that MPI_Compare_and_swap takes; expected a "
                                     "predefined integer, logical or byte");
}

int tern_mpi_compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
                              struct tern_datatype *datatype, int target_rank,
                              MPI_Aint target_disp, struct tern_win *win)
{
    int rc = check_comparable(datatype);
    if (rc || TERN_UNLIKELY(target_rank == MPI_PROC_NULL))
        return rc;
    return tern_window_fetch_one(&win->window, origin_addr, compare_addr, result_addr,
                                 &datatype->type, target_rank, target_disp, TERN_REDUCE_REPLACE);
}
