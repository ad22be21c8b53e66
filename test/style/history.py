#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks how changes are told: the form of NEWS (its version on top) and, in a git clone, the commits since SINCE. `history.py TOP` prints
each fault and returns 1 if there is any. `history.py --self-test` returns 1 if a planted fault of each kind is not found."""
import re
import subprocess
import sys

SINCE = 'be5f0ee5'
SECTIONS = ['Added', 'Changed', 'Fixed', 'Faster']
AREAS = ('mpi fortran check messages collectives windows files devices libfabric tcp security mpirun mpi_info waiting mpicheck build docs').split()
COLUMNS, LINES = 125, 2
SUBJECT, ADDED = 72, 4000
# Words that end as an imperative does not, and are one.
IMPERATIVES = 'address pass process bypass compress discuss express focus press access guess embed feed need proceed seed speed exceed shed ' \
              'bring string ring swing'.split()
NO_VERBS = 'a an the this that these those it its we i of in on for with no not one two all each when where if and or but'.split()


def top_version(text):
    """Yields (number, line) of the section of the newest version, without its heading."""
    lines = text.split('\n')
    heading = r'Unreleased|\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)'
    heads = [number for number, line in enumerate(lines) if re.fullmatch(heading, line)]
    if not heads:
        return [(1, 'no heading such as "0.3.0 (2026-12-31)" or "Unreleased"')]
    end = heads[1] if len(heads) > 1 else len(lines)
    return [(number + 1, lines[number]) for number in range(heads[0] + 1, end)]


def news_faults(text):
    """Yields what is wrong with NEWS."""
    seen, lines_of_item = [], 0
    for number, line in top_version(text):
        where = f'NEWS:{number}: '
        if len(line) > COLUMNS:
            yield f'{where}{len(line)} columns, expected at most {COLUMNS}'
        if line in SECTIONS:
            if seen and SECTIONS.index(line) <= SECTIONS.index(seen[-1]):
                yield f'{where}{line} after {seen[-1]}; the order is {", ".join(SECTIONS)}'
            seen.append(line)
        elif line.startswith('* '):
            lines_of_item = 1
            area = re.match(r'\* (\w+): \S', line)
            if not area or area.group(1) not in AREAS:
                yield f'{where}expected "* AREA: what is so now", AREA one of {", ".join(AREAS)}'
            if not seen:
                yield f'{where}an item before any of the headings {", ".join(SECTIONS)}'
        elif line.startswith('  '):
            lines_of_item += 1
            if lines_of_item == LINES + 1:
                yield f'{where}an item of more than {LINES} lines'
        elif line:
            yield f'{where}"{line}" is no heading, item or second line of one'


def subject_faults(commit, subject):
    """Yields what is wrong with a commit's subject."""
    if subject.startswith('Merge '):
        return
    if len(subject) > SUBJECT:
        yield f'{commit}: the subject has {len(subject)} columns, expected at most {SUBJECT}: {subject}'
    room = re.fullmatch(r"([\w./*{}, -]+): (?:also )?([\w'-]+).*", subject)
    if not room:
        yield f'{commit}: expected "room: imperative": {subject}'
        return
    verb = room.group(2).lower()
    if verb in NO_VERBS or (re.search(r'(ed|ing|s)$', verb) and verb not in IMPERATIVES):
        yield f'{commit}: "{verb}" is no imperative: {subject}'


def git(top, *arguments):
    """Returns what git prints, or None if it fails."""
    try:
        done = subprocess.run(['git', '-C', top, '-c', 'safe.directory=*', *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def commit_faults(top):
    """Yields what is wrong with the commits since SINCE; nothing where they are not known: in a tarball, in a shallow clone."""
    log = git(top, 'log', '--no-merges', '--format=%x01%h %s', '--numstat', '-M', '-C', f'{SINCE}..HEAD')
    for entry in (log or '').split('\x01')[1:]:
        lines = entry.split('\n')
        commit, _, subject = lines[0].partition(' ')
        yield from subject_faults(commit, subject)
        added = sum(int(line.split('\t')[0]) for line in lines[1:] if re.match(r'\d+\t', line))
        if added > ADDED:
            yield f'{commit}: adds {added} lines, expected at most {ADDED}: one thing per commit: {subject}'


def self_test():
    """Returns the planted faults that were not found, and the right texts that were called wrong."""
    wrong = {
        'Unreleased\n\nAdded\n\n* something without an area\n': 'AREA',
        'Unreleased\n\nFixed\n\n* mpi: a\n\nAdded\n\n* mpi: b\n': 'order',
        'Unreleased\n\nAdded\n\n* mpi: a\n  b\n  c\n': 'more than',
        'Unreleased\n\nAdded\n\n* mpi: ' + 'x' * COLUMNS + '\n': 'columns',
        'Unreleased\n\nIn other words\n': 'no heading',
        'News of today\n': 'no heading such as',
    }
    faults = [f'not found: {text!r}' for text, words in wrong.items() if not any(words in fault for fault in news_faults(text))]
    for subject in ['no room', 'mpi: ' + 'x' * SUBJECT, 'mpi: mended a fault', 'mpi: mends a fault', 'mpi: the fault is mended']:
        if not list(subject_faults('abc', subject)):
            faults.append(f'not found: {subject!r}')
    for right in ['Unreleased\n\nAdded\n\n* mpi: a\n  b\n\n0.1.0 (2026-01-01)\n\n* of old\n']:
        faults += news_faults(right)
    for subject in ['mpi, btl/ofi: pass on what counts', 'test/style: check subjects', 'NEWS: say what is new']:
        faults += subject_faults('abc', subject)
    return faults


def main():
    """Returns the exit status."""
    if sys.argv[1] == '--self-test':
        faults = self_test()
    else:
        with open(f'{sys.argv[1]}/NEWS', encoding='utf-8') as news:
            faults = [*news_faults(news.read()), *commit_faults(sys.argv[1])]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
