#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the commands of a page as its reader would: in order, in one shell, in the current directory.

run_page.py [--have THING]... PAGE...

Each indented block of a page holds commands, unless a comment of HTML before it says otherwise:

    <!-- needs: THING -->   commands for which a machine must have THING: see `found`. Where it has not, they are listed as not run
    <!-- file: NAME -->     the contents of a file that later commands use
    <!-- shown -->          words that are not for a shell

A command must end with 0, or with the N of "exit status N" in the comment behind it. Where that comment begins with a text in
double quotes, the command prints such a line. In a block with lines that begin with "$ ", these are the commands, and the lines
below each are all that it prints. `...` stands for anything; process ids, times, addresses and the host's name may differ.
Tables of moments (where are the ranks?) need not be right at once: such a command is repeated, but not for ever.
"""
import argparse
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time

LIMIT_S = 600  # of a command: it hangs
AGAIN_S = float(os.environ.get("PAGE_AGAIN_S", 60))  # so long other output than the page's may be that of a busy machine


def has_mpi4py():
    return subprocess.run(["/usr/bin/python3", "-c", "import mpi4py, numpy"], stderr=subprocess.DEVNULL).returncode == 0


# Programs of others are built without the sanitizers of a library that has them.
def foreign(command):
    return shutil.which(command) is not None and not os.environ.get("SAN")


found = {
    "a clone": lambda: False,  # quickstart: .ci/run
    "a batch system": lambda: False,  # hosts/slurm.sh and others
    "another compiler": lambda: False,  # fortran/flang.sh
    "hosts": lambda: "hosts" in options.have,  # n1, n2 ...: hosts/pages.sh
    "two cores": lambda: len(os.sched_getaffinity(0)) > 1,
    "gfortran": lambda: shutil.which("gfortran") is not None,
    "mpi4py": lambda: foreign("python3") and has_mpi4py(),
    "Open MPI": lambda: foreign("mpicc.openmpi"),
    "LAMMPS": lambda: foreign("lmp"),
}


class Command:
    """A command of a page: its place, how it must end, what it must print (a regular expression, or None)."""

    def __init__(self, place, text):
        self.place, self.text, self.statuses, self.wanted = place, text, {0}, None
        comment = re.search(r"\s#\s+(.*)", text)
        if not comment:
            return
        status = re.search(r"exit status (\d+(?:(?: \([^)]*\))?(?:, | or )\d+)*)", comment[1])
        if status:
            self.statuses = {int(n) for n in re.findall(r"\d+", re.sub(r"\([^)]*\)", "", status[1]))}
        line = re.match(r'"(.*?)"(?=$|[ ;,.])', comment[1])
        if line:
            self.wanted = "(?:.*\n)*" + pattern(line[1]) + "(?:.*\n)*"


def steady(text):
    """The text without what differs from run to run."""
    for what, word in (
        (r"^mpirun: [0-9]+ ranks share [0-9]+ cores?; .*\n", ""),  # a machine with fewer cores
        (r"\bhost [\w.-]+", "host HOST"),
        (r"\b(pid|job) [0-9]{2,}", r"\1 N"),
        (r"0x[0-9a-f]+", "ADDRESS"),
        (r"\b[0-9.]+ (to [0-9.]+ )?(s\b|%)", r"N \2"),
    ):
        text = re.sub(what, word, text, flags=re.MULTILINE)
    return text


def pattern(line):
    if line.strip() == "...":
        return "(?:.*\n)*"
    return re.escape(steady(line)).replace(re.escape("..."), ".*") + "\n"


def blocks(page):
    """Yields (number of the first line, comment before it, lines) of each indented block."""
    lines = open(page, encoding="utf-8").read().split("\n")
    comment, at, inside = "", 0, False
    while at < len(lines):
        line = lines[at]
        mark = re.fullmatch(r"<!-- (.*) -->", line)
        if line.startswith("    ") and not inside:
            first = at
            while at < len(lines) and (lines[at].startswith("    ") or not lines[at].strip()):
                at += 1
            block = [text[4:] for text in lines[first:at]]
            while not block[-1].strip():
                block.pop()
            yield first + 1, comment, block
            comment = ""
            continue
        if mark:
            comment = mark[1]
        elif line.strip():
            comment = ""
        inside = bool(line.strip()) and not mark  # a line in the middle of a paragraph is no block
        at += 1


def commands(page, first, block):
    """The commands of a block, with what each must print."""
    session = any(line.startswith("$ ") for line in block)
    result = []
    for number, line in enumerate(block, first):
        place = f"{page}:{number}"
        if not session:
            if line.strip() and not line.startswith("#"):
                result.append(Command(place, line))
        elif line.startswith("$ "):
            result.append(Command(place, line[2:]))
            result[-1].wanted = ""
        else:
            result[-1].wanted += pattern(line)
    return result


class Shell:
    """The reader's shell. It tells the exit status of each command by a pipe."""

    def __init__(self):
        self.told, tell = os.pipe()
        self.bash = subprocess.Popen(["bash"], stdin=subprocess.PIPE, pass_fds=[tell], start_new_session=True, text=True)
        os.close(tell)
        self.tell, self.ended = tell, False

    def run(self, text):
        """Returns exit status and output; status None: the command does not end, or has ended the shell."""
        if os.path.exists("page.out"):
            os.unlink("page.out")  # a job in the background may still write there
        self.bash.stdin.write(f"{{\n{text}\n}} >page.out 2>&1 </dev/null {self.tell}>&-\necho $? >&{self.tell}\n")
        self.bash.stdin.flush()
        ready, _, _ = select.select([self.told], [], [], LIMIT_S)
        said = os.read(self.told, 100) if ready else b""
        self.ended = bool(ready) and not said
        return (int(said) if said else None), open("page.out", encoding="utf-8", errors="replace").read()

    def end(self):
        """Ends what is left of it, too; False, for a page that stops here."""
        self.bash.stdin.close()
        try:
            self.bash.wait(timeout=10)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(self.bash.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        return False


def fault(shell, command, status, output):
    """What is wrong with it, or None."""
    if status is None:
        return "does not end" if not shell.ended else "ends the shell"
    if status not in command.statuses:
        return f"ends with {status}"
    if command.wanted is not None and not re.fullmatch(command.wanted, steady(output)):
        return "prints something else than the page"
    return None


def run_command(shell, command):
    """Returns whether it did as the page says."""
    begin = time.monotonic()
    while True:
        status, output = shell.run(command.text)
        wrong = fault(shell, command, status, output)
        if not wrong:
            return True
        if command.wanted is None or status is None or time.monotonic() - begin > AGAIN_S:
            print(f"WRONG: {command.place}: {wrong}: {command.text}\n{output}")
            return False
        time.sleep(0.2)


def run_page(page):
    """Returns whether all was right."""
    shell, right, count = Shell(), True, 0
    for first, comment, block in blocks(page):
        key, _, value = comment.partition(": ")
        if comment == "shown":
            continue
        if key == "file":
            with open(value, "w", encoding="utf-8") as file:
                file.write("\n".join(block) + "\n")
            continue
        if key == "needs" and value not in found:
            sys.exit(f"{page}:{first}: needs '{value}', which is none of: {', '.join(found)}")
        if key == "needs" and not found[value]():
            print(f"not run: {page}:{first}: needs {value}")
            continue
        for command in commands(page, first, block):
            if not run_command(shell, command):
                right = False
                if command.wanted is None:
                    return shell.end()  # others count on it
            count += 1
    shell.end()
    print(f"{page}: {count} commands were run")
    return right and count > 0


parser = argparse.ArgumentParser()
parser.add_argument("--have", action="append", default=[])
parser.add_argument("page", nargs="+")
options = parser.parse_args()
if not all([run_page(page) for page in options.page]):
    sys.exit(1)
