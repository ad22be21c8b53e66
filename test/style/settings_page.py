#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the map of settings in docs/from-open-mpi.md with the rows of the settings, which `mpirun --help rows` prints: it
comes in on standard input. Each part of the page stands between <!-- rows: NAME --> and <!-- end of rows -->. `settings_page.py TOP`
prints what differs and returns 1 if anything does; `settings_page.py TOP --write` writes the parts."""
import difflib
import os
import sys
import textwrap

PAGE = 'docs/from-open-mpi.md'


def read(top, name):
    with open(os.path.join(top, name), encoding='utf-8') as file:
        return file.read()


def quoted(names):
    return [f'`{name}`' for name in names]


def table(left, right, rows):
    return [f'| {left} | {right} |', '| --- | --- |'] + [f'| {", ".join(names)} | {text} |' for names, text in rows]


def parts(rows):
    """Returns the lines of each part. A row is names, effect, words that follow, topics, parameters, text."""
    def options(wanted):
        return [(quoted(names.split(', ')), text) for names, effect, _, _, _, text in rows if effect == wanted and names]
    silent = ', '.join(name for names, _ in options('none') for name in names) + '.'
    return {
        'options without effect': textwrap.wrap(silent, 118, break_on_hyphens=False),
        'options with a warning': table('without effect, with one warning', 'why, or what to do instead', options('warned')),
        'options that are refused': table('refused', 'why, or what to do instead', options('refused')),
        "other launchers' options": table('MPICH, Intel MPI', 'in Tern, and in Open MPI', options('foreign')),
        'parameters of options': table('parameter', 'the same as the option',
                                       [(quoted(says.split()), quoted(names.split(', '))[0]) for names, _, _, _, says, _ in rows
                                        if names and says]),
        'parameters with a warning': table('without effect, with one warning', 'what to do instead',
                                           [(quoted(says.split()), text) for names, effect, _, _, says, text in rows
                                            if not names and effect == 'warned']),
    }


def written(top, rows):
    """Returns the page with its parts as the rows have them."""
    made = parts(rows)
    page = read(top, PAGE)
    for name, lines in made.items():
        begin, end = f'<!-- rows: {name} -->\n', '<!-- end of rows -->'
        if begin not in page:
            raise SystemExit(f'{PAGE}: there is no {begin.strip()}')
        at = page.index(begin) + len(begin)
        page = page[:at] + '\n' + '\n'.join(lines) + '\n\n' + page[page.index(end, at):]
    return page


def main():
    top = sys.argv[1]
    page = written(top, [line.rstrip('\n').split('\t') for line in sys.stdin])
    if sys.argv[2:] == ['--write']:
        with open(os.path.join(top, PAGE), 'w', encoding='utf-8') as file:
            file.write(page)
        return 0
    differences = list(difflib.unified_diff(read(top, PAGE).split('\n'), page.split('\n'), PAGE, 'the rows', lineterm='', n=0))
    print(*differences, sep='\n', end='\n' if differences else '')
    return 1 if differences else 0


if __name__ == '__main__':
    sys.exit(main())
