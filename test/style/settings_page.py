#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the map of settings in docs/from-open-mpi.md with the rows of the settings: mpirun/plan/words/option_table.c and
lib/settings/open_mpi.c. Each part of the page stands between <!-- rows: NAME --> and <!-- end of rows -->. `settings_page.py TOP` prints what differs
and returns 1 if anything does, or an option is missing in man/mpirun.1; `settings_page.py TOP --write` writes the parts."""
import difflib
import os
import re
import sys
import textwrap

PAGE = 'docs/from-open-mpi.md'


def read(top, name):
    with open(os.path.join(top, name), encoding='utf-8') as file:
        return file.read()


def rows_of(text):
    """Returns the rows of a C table: those that begin with a brace behind four blanks."""
    return re.findall(r'^    \{ ?(.*?) ?\},\n(?=\s*(?:\{|/\*|\};))', text, re.S | re.M)


def text_of(row):
    """Returns the string that ends a row or a macro's argument list, joined."""
    return ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', row))


def options(top):
    """Yields (names, effect, text, parameters) for each row of the option table."""
    table = read(top, 'mpirun/plan/words/option_table.c')
    for row in rows_of(table[table.index('tern_option_table[] = {'):table.index('const int tern_option_count')]):
        names = re.match(r'"([^"]*)"', row).group(1).split()
        effect = re.search(r'\b(IGNORED|WARNED|REFUSED|FOREIGN)\(\d(.*)\)', row, re.S)
        says = re.search(r'SAYS\((.*?)\)', row, re.S)
        yield (names, effect.group(1) if effect else 'USED', text_of(effect.group(2)) if effect else '',
               re.findall(r'\w+', ' '.join(re.findall(r'"([^"]*)"', says.group(1)))) if says else [])


def missed(top):
    """Yields (names, text) for each row of Open MPI's parameters that get a warning."""
    for row in rows_of(read(top, 'lib/settings/open_mpi.c')):
        name = re.match(r'"(\w+)", MISSED', row)
        if name:
            also = re.search(r'\.also = ([^.]*?),\s*\.', row, re.S)
            yield [name.group(1)] + (text_of(also.group(1)).split() if also else []), text_of(row[row.index('.instead'):])


def dashes(name):
    return f'`{"--" if len(name) > 1 else "-"}{name}`'


def table(left, right, rows):
    return [f'| {left} | {right} |', '| --- | --- |'] + [f'| {", ".join(names)} | {text} |' for names, text in rows]


def parts(top):
    all_options = list(options(top))

    def with_effect(wanted):
        return [(names, text) for names, effect, text, _ in all_options if effect == wanted]
    silent = ', '.join(dashes(name) for names, _ in with_effect('IGNORED') for name in names) + '.'
    return {
        'options without effect': textwrap.wrap(silent, 118, break_on_hyphens=False),
        'options with a warning': table('without effect, with one warning', 'why, or what to do instead',
                                        [(map(dashes, names), text) for names, text in with_effect('WARNED')]),
        'options that are refused': table('refused', 'why, or what to do instead',
                                          [(map(dashes, names), text) for names, text in with_effect('REFUSED')]),
        "other launchers' options": table('MPICH, Intel MPI', 'in Tern, and in Open MPI',
                                          [([f'`-{name}`' for name in names], text) for names, text in with_effect('FOREIGN')]),
        'parameters of options': table('parameter', 'the same as the option',
                                       [([f'`{name}`' for name in says], dashes(names[0])) for names, _, _, says in all_options
                                        if names and says]),
        'parameters with a warning': table('without effect, with one warning', 'what to do instead',
                                           [([f'`{name}`' for name in names], text) for names, text in missed(top)]),
    }


def written(top):
    """Returns the page with its parts as the rows have them."""
    made = parts(top)
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
    page = written(top)
    if sys.argv[2:] == ['--write']:
        with open(os.path.join(top, PAGE), 'w', encoding='utf-8') as file:
            file.write(page)
        return 0
    differences = list(difflib.unified_diff(read(top, PAGE).split('\n'), page.split('\n'), PAGE, 'the rows', lineterm='', n=0))
    print(*differences, sep='\n', end='\n' if differences else '')
    manual = read(top, 'man/mpirun.1').replace('\\-', '-')
    absent = [names[0] for names, effect, _, _ in options(top) if effect == 'USED' and names and
              not any(re.search(rf'(?:Fl -?|-){re.escape(name)}(?![\w-])', manual) for name in names)]
    for name in absent:
        print(f'man/mpirun.1 does not name the option --{name}')
    return 1 if differences or absent else 0


if __name__ == '__main__':
    sys.exit(main())
