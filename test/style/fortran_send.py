#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads two files of callgrind, of FEW and MANY calls of mpi_send_, and counts what one call runs in the Fortran library:
`fortran_send.py MOST FEW FILE MANY FILE`. Returns 1 if that is more than MOST instructions, or nothing."""
import sys

import send_path


def main():
    most, few, few_file, many, many_file = sys.argv[1:]
    before, _, _ = send_path.read(few_file)
    after, objects, _ = send_path.read(many_file)
    spent = sum(after[at] - before[at] for at in after if 'libmpi_mpifh.so' in objects[at[0]])
    each = round(spent / (int(many) - int(few)))
    print(f'mpi_send_: {each} instructions more than MPI_Send')
    if not 0 < each <= int(most):
        print(f'expected 1 to {most}: see `message` in api/fortran.py, and what the compiler makes of tern_f_mpi_send_short')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
