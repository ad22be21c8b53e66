# SPDX-License-Identifier: BSD-3-Clause
# Puts the options of mpirun into its page: awk -f options.awk ROWS mpirun.1.in, where ROWS is what `mpirun --help rows` prints.
# ".It @NAME...@" becomes the names of these options with the words that follow; their help, if the page says no more.
# "@none@" and so on become the options with this effect. An option without a place in the page ends the run.

# Returns the words that follow an option: the user replaces what stands in upper case.
function words(text, list, count, i, part, roff, joined) {
    count = split(text, list, " ")
    for (i = 1; i <= count; i++) {
        joined = ""
        while (match(list[i], /[A-Z]+|[^A-Z]+/)) {
            part = substr(list[i], 1, RLENGTH)
            list[i] = substr(list[i], RLENGTH + 1)
            if (part ~ /^[A-Z]/)
                roff = roff joined " Ar " (length(part) > 1 ? tolower(part) : part)
            else
                roff = roff joined " Cm \\&" part
            joined = " Ns"
        }
    }
    return roff
}

# Returns the names of an option, as arguments of .It or .Fl.
function flags(names, list, count, i, roff) {
    count = split(names, list, ", ")
    for (i = 1; i <= count; i++)
        roff = roff (i > 1 ? " , Fl " : "Fl ") substr(list[i], 2)
    return roff
}

function plain(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    return text
}

function end_item() {
    if (help != "")
        print toupper(substr(help, 1, 1)) plain(substr(help, 2)) "."
    help = ""
}

# rows
NR == FNR {
    split($0, row, "\t")
    if (row[1] == "")
        next
    rows++
    name[rows] = row[1]; effect[rows] = row[2]; arg[rows] = row[3]; text[rows] = row[6]
    count = split(row[1], list, ", ")
    for (i = 1; i <= count; i++) {
        sub(/^--?/, "", list[i])
        number[list[i]] = rows
    }
    next
}

/^\.It @.*@$/ {
    end_item()
    count = split(substr($0, 6, length($0) - 6), list, " ")
    line = ".It"
    for (i = 1; i <= count; i++) {
        at = number[list[i]]
        if (!at || placed[at]++) {
            print "mpirun.1.in: " (at ? "two places for" : "no option is called") " " list[i] | "cat >&2"
            exit failed = 1
        }
        line = line (i > 1 ? " , " : " ") flags(name[at]) words(arg[at])
    }
    print line
    help = text[at]
    next
}

/^@[a-z]+@$/ {
    wanted = substr($0, 2, length($0) - 2)
    last = 0
    for (i = 1; i <= rows; i++) {
        if (effect[i] != wanted)
            continue
        if (placed[i]++) {
            print "mpirun.1.in: two places for " name[i] | "cat >&2"
            exit failed = 1
        }
        if (wanted == "none") {
            if (last)
                print "." flags(name[last]) " ,"
            last = i
        } else {
            print ".It " flags(name[i]) words(arg[i])
            print "\\&" plain(text[i])
        }
    }
    if (last)
        print "." flags(name[last]) " ."
    next
}

{
    if ($0 ~ /^\.(It|El)/)
        end_item()
    help = ""
    print
}

END {
    for (i = 1; i <= rows && !failed; i++)
        if (!placed[i]) {
            print "mpirun.1.in has no place for " name[i] | "cat >&2"
            failed = 1
        }
    exit failed
}
