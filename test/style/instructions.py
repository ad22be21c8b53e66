#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads two files of callgrind, of FEW and MANY calls of an MPI procedure, and counts what one call runs in LIBRARY:
`instructions.py LIBRARY MOST FEW FILE MANY FILE`. Returns 1 if that is more than MOST instructions, or nothing."""
import re
import sys

import send_path


def main():
    library, most, few, few_file, many, many_file = sys.argv[1:]
    before, _, _ = send_path.read(few_file)
    after, objects, _ = send_path.read(many_file)
    spent = sum(after[at] - before[at] for at in after
                if library in objects[at[0]] and re.sub(r"[.'].*", '', at[0]) not in send_path.WAKING)
    each = round(spent / (int(many) - int(few)))
    print(f'{each} instructions of a call in {library}')
    if not 0 < each <= int(most):
        print(f'expected 1 to {most}: callgrind_annotate {many_file} says where they are')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
