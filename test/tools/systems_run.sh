#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# test/systems/run ends at SIGHUP, SIGINT and SIGTERM with all that it has started, and leaves no folder: while debootstrap works,
# and while a system's own processes do. Here debootstrap is a script that waits, and the system has one program.
# shellcheck disable=SC2317 # what $state and `eventually` call
. "$TERN_SRCDIR/test/mpirun/check.bash"
[ "$(id -u)" = 0 ] || { echo "SKIPPED: only root may make file systems and namespaces"; exit 77; }
unshare --mount --pid --ipc --uts --fork --kill-child mount -t tmpfs tmpfs /mnt 2>/dev/null ||
    { echo "SKIPPED: this system permits no namespaces or mounts (unshare)"; exit 77; }
command -v git >/dev/null || { echo "SKIPPED: there is no git, by which test/systems/run takes the tree"; exit 77; }
cat >box.c <<'C'
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
/* env: becomes the command behind the settings; bash: two processes that wait; any other name: nothing */
int main(int argc, char **argv)
{
    const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    for (int i = 1; i < argc && strcmp(name, "env") == 0; i++)
        if (argv[i][0] == '/')
            return execv(argv[i], argv + i);
    if (strcmp(name, "bash") != 0)
        return 0;
    if (fork() == 0)
        setsid();
    close(open("/begun", O_CREAT | O_WRONLY, 0600));
    for (;;)
        pause();
}
C
${CC:-cc} -static -o box box.c 2>cc.log || { echo "SKIPPED: no program can be linked statically: $(tail -n 1 cc.log)"; exit 77; }
mkdir -p tree/test/systems bin
cp "$TERN_SRCDIR/test/systems/run" tree/test/systems/
git -C tree init -q
git -C tree add .
git -C tree -c user.name=test -c user.email=test@example.org commit -qm test
cat >bin/debootstrap <<'SH'
#!/bin/sh
mkdir -p "$3"
: >"$3/begun"
sleep 1000
echo "not ended"
SH
chmod +x bin/debootstrap

# without_bare: there is no bare folder yet, and debootstrap takes its time to make one
without_bare() { rm -rf systems && mkdir systems; }
# with_bare: there is one, whose only program is box
with_bare() {
    local name
    without_bare
    mkdir -p systems/debian12.bare/{proc,sys,dev,run,root,usr/bin,etc/apt/apt.conf.d}
    ln -s usr/bin systems/debian12.bare/bin
    for name in bash env hostname rmdir umount; do cp box "systems/debian12.bare/bin/$name"; done
}
begun() { compgen -G "systems/*/begun" >/dev/null; }
all_ended() { ! kill -0 "$reader" 2>/dev/null; }
# left PROCESS: it, and all below it
left() {
    local child
    echo "$1"
    while read -r child; do left "$child"; done < <(tr " " "\n" <"/proc/$1/task/$1/children")
}
folders() { find systems -mindepth 1 -maxdepth 1 -type d | sort | tr '\n' ' '; }
mkfifo pipe
for state in without_bare with_bare; do
    for signal in HUP:129 INT:130 TERM:143; do
        name=${signal%:*}
        $state
        before=$(folders)
        # cat ends when nobody has the pipe any more: then all processes are gone
        cat pipe >out &
        reader=$!
        PATH=$PWD/bin:$PATH TERN_SYSTEMS=$PWD/systems TERN_SYSTEMS_MIRROR=http://localhost/ \
            env --default-signal="$name" tree/test/systems/run debian12 >pipe 2>&1 &
        run=$!
        eventually "$state, $name: it begins" begun
        kill -s "$name" $run
        if eventually "$state, $name: all end" all_ended; then
            wait $run
            is "$state, $name: exit status" $? "${signal#*:}"
            is "$state, $name: folders" "$(folders)" "$before"
        else
            left $run | xargs kill -KILL
            wait
        fi
    done
done
finish
