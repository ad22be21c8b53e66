! SPDX-License-Identifier: BSD-3-Clause
!
! As heat.c: heat in a square plate whose upper edge is hot, by Jacobi's method on a grid of ranks. In Fortran the
! columns lie together in memory, so here a row is the vector type.
!
!     mpirun -n 4 ./heat_f [picture.pgm]
program heat
    use mpi_f08
    use iso_fortran_env, only: error_unit
    implicit none
    integer, parameter :: points = 240, steps = 400
    integer :: ranks, rank, dims(2), coords(2), first(2), behind(2), rows, columns, i
    integer :: up, down, left, right
    double precision, allocatable :: t(:, :), next(:, :)
    double precision :: heat_here, heat_all, change, largest, begin
    character(len=1000) :: path
    type(MPI_Comm) :: grid
    type(MPI_Datatype) :: row

    call MPI_Init()
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    dims = 0
    call MPI_Dims_create(ranks, 2, dims)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .true., grid)
    call MPI_Comm_rank(grid, rank)
    call MPI_Cart_coords(grid, rank, 2, coords)
    call MPI_Cart_shift(grid, 0, 1, up, down)
    call MPI_Cart_shift(grid, 1, 1, left, right)

    ! the points of this rank: the first ones, and behind the last ones; around them a border (halo) of one point
    first = points * coords / dims
    behind = points * (coords + 1) / dims
    rows = behind(1) - first(1)
    columns = behind(2) - first(2)
    allocate (t(0:rows + 1, 0:columns + 1), next(0:rows + 1, 0:columns + 1))
    t = 0
    if (coords(1) == 0) t(0, :) = 100
    next = t
    call MPI_Type_vector(columns, 1, rows + 2, MPI_DOUBLE_PRECISION, row)
    call MPI_Type_commit(row)

    begin = MPI_Wtime()
    do i = 1, steps
        call exchange_borders()
        next(1:rows, 1:columns) = (t(0:rows - 1, 1:columns) + t(2:rows + 1, 1:columns) &
                                   + t(1:rows, 0:columns - 1) + t(1:rows, 2:columns + 1)) / 4
        call swap()
    end do

    heat_here = sum(t(1:rows, 1:columns))
    change = maxval(abs(t(1:rows, 1:columns) - next(1:rows, 1:columns)))
    call MPI_Reduce(heat_here, heat_all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, grid)
    call MPI_Reduce(change, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, grid)
    if (rank == 0) then
        print '(a, i0, a, f8.6, a, f8.6, a)', 'After ', steps, ' steps the mean is ', heat_all / points / points, &
            ' degrees, and the last step changed ', largest, ' at most'
        write (error_unit, '(i0, a, i0, a, f8.3, a)') dims(1), ' x ', dims(2), ' ranks, ', &
            (MPI_Wtime() - begin) * 1d3 / steps, ' ms a step'
    end if
    if (command_argument_count() > 0) then
        call get_command_argument(1, path)
        call draw(trim(path))
    end if
    call MPI_Type_free(row)
    call MPI_Comm_free(grid)
    call MPI_Finalize()

contains

    ! At the edge of the plate the neighbour is MPI_PROC_NULL, and nothing is sent.
    subroutine exchange_borders()
        call MPI_Sendrecv(t(1, 1), 1, row, up, 0, t(rows + 1, 1), 1, row, down, 0, grid, MPI_STATUS_IGNORE)
        call MPI_Sendrecv(t(rows, 1), 1, row, down, 1, t(0, 1), 1, row, up, 1, grid, MPI_STATUS_IGNORE)
        call MPI_Sendrecv(t(1, 1), rows, MPI_DOUBLE_PRECISION, left, 2, &
                          t(1, columns + 1), rows, MPI_DOUBLE_PRECISION, right, 2, grid, MPI_STATUS_IGNORE)
        call MPI_Sendrecv(t(1, columns), rows, MPI_DOUBLE_PRECISION, right, 3, &
                          t(1, 0), rows, MPI_DOUBLE_PRECISION, left, 3, grid, MPI_STATUS_IGNORE)
    end subroutine

    subroutine swap()
        double precision, allocatable :: kept(:, :)
        call move_alloc(t, kept)
        call move_alloc(next, t)
        call move_alloc(kept, next)
    end subroutine

    ! All ranks write their blocks into one file. A picture has its rows one after the other, so the block is turned.
    subroutine draw(path)
        character(len=*), intent(in) :: path
        character(len=40) :: header
        character, allocatable :: grey(:, :)
        integer :: length, error
        type(MPI_Datatype) :: block
        type(MPI_File) :: file
        write (header, '(a, i0, a, i0, a)') 'P5 ', points, ' ', points, ' 255'//new_line('a')
        length = len_trim(header)
        allocate (grey(columns, rows))
        grey = transpose(char(int(t(1:rows, 1:columns) * 2.55d0)))
        call MPI_Type_create_subarray(2, [points, points], [columns, rows], [first(2), first(1)], MPI_ORDER_FORTRAN, &
                                      MPI_CHARACTER, block)
        call MPI_Type_commit(block)
        call MPI_File_open(grid, path, MPI_MODE_CREATE + MPI_MODE_WRONLY, MPI_INFO_NULL, file, error)
        if (error /= MPI_SUCCESS) call MPI_Abort(grid, 1)
        call MPI_File_set_size(file, 0_MPI_OFFSET_KIND)
        if (rank == 0) call MPI_File_write_at(file, 0_MPI_OFFSET_KIND, header, length, MPI_CHARACTER, MPI_STATUS_IGNORE)
        call MPI_File_set_view(file, int(length, MPI_OFFSET_KIND), MPI_CHARACTER, block, 'native', MPI_INFO_NULL)
        call MPI_File_write_all(file, grey, size(grey), MPI_CHARACTER, MPI_STATUS_IGNORE)
        call MPI_File_close(file)
        call MPI_Type_free(block)
    end subroutine
end program heat
