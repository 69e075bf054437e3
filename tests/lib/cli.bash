# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# For scripts that test the command line: what to run, and one verdict per line.

bin=${BUILD_DIR:?}/bpfprofil
golden=$PWD/tests/golden
work=$(mktemp -d)
chmod 755 "$work"
script_status=0

# Ends what still runs, and nothing else: the pid of what has ended may be another's by now. A script
# that has more to remove says how in clean_up. A command that a signal ends before it is executed is a
# copy of this shell, and comes here too.
at_exit() {
	[ "$BASHPID" = $$ ] || return
	# shellcheck disable=SC2046 # pids
	kill -9 $(jobs -rp) 2>/dev/null
	wait 2>/dev/null
	clean_up
	rm -rf "$work"
}
clean_up() { :; }
trap at_exit EXIT

pass() {
	echo "PASS cli::$1"
}

fail() {
	echo "FAIL cli::$1: $2"
	script_status=1
}

# verdict STATUS NAME
verdict() {
	if [ "$1" -eq 0 ]; then pass "$2"; else fail "$2" "status $1"; fi
}

# expect NAME STATUS STDERR COMMAND...: expects nothing on stdout, and exactly this on stderr
expect() {
	local name=$1 status=$2 text=$3 got=0

	shift 3
	"$@" >"$work/out" 2>"$work/err" </dev/null || got=$?
	if [ "$got" -ne "$status" ]; then
		fail "$name" "status $got, not $status: $(cat "$work/err")"
	elif [ "$(cat "$work/err")" != "$text" ]; then
		fail "$name" "stderr is: $(cat "$work/err")"
	elif [ -s "$work/out" ]; then
		fail "$name" "stdout is: $(head -n 1 "$work/out")"
	else
		pass "$name"
	fi
}

# same NAME FILE COMMAND...: its stdout must be FILE, byte for byte
same() {
	local name=$1 file=$2

	shift 2
	if "$@" 2>"$work/err" </dev/null | cmp -s - "$file" && [ ! -s "$work/err" ]; then
		pass "$name"
	else
		"$@" 2>&1 </dev/null | diff "$file" - | head -n 20
		fail "$name" "not as in $file"
	fi
}

# can_sample NAME: skips NAME if the kernel is too old for it; the tests must show any other failure
can_sample() {
	"$bin" run -q -o /dev/null -- true >/dev/null 2>"$work/err"
	grep -q "^bpfprofil: run: cannot profile: the kernel" "$work/err" || return 0
	echo "SKIP cli::$1: $(head -n 1 "$work/err")"
	return 1
}

# start_ready COMMAND...: starts it in the background, as $started, and returns when it has said that it
# is ready as systemd is told; fails if it has ended before
start_ready() {
	local news=$work/news first

	python3 -c 'import socket, sys
news = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
news.bind(sys.argv[1])
while not news.recv(99).startswith(b"READY=1"):
    pass' "$news" &
	local waiter=$!
	until [ -S "$news" ]; do sleep 0.05; done
	NOTIFY_SOCKET=$news "$@" &
	started=$!
	wait -n -p first "$waiter" "$started"
	rm -f "$news"
	[ "$first" = "$waiter" ] || { kill "$waiter" && wait "$waiter"; } 2>/dev/null
	[ "$first" = "$waiter" ]
}

# taken SIGNAL PID: returns when no thread has yet to take that signal, or it has ended
taken() {
	local bit=$((1 << ($(kill -l "$1") - 1))) pending

	while pending=$(sed -n 's/^ShdPnd:\s*/0x/p' "/proc/$2/status" 2>/dev/null) &&
		[ $((${pending:-0} & bit)) -ne 0 ]; do
		sleep 0.02
	done
}

# has_used PID HUNDREDTHS: returns when it has used so much more CPU time, or has ended
has_used() {
	local used until=

	while used=$(awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat" 2>/dev/null); do
		[ -n "$until" ] || until=$((used + $2))
		[ "$used" -lt "$until" ] || break
		sleep 0.05
	done
}

# until_true COMMAND...: for two minutes; if it never is, it is the test that fails
until_true() {
	local i

	for ((i = 0; i < 600; i++)); do
		! "$@" || return 0
		sleep 0.2
	done
	return 1
}

# said TEXT: in $work/err, where a test that needs it has the messages of what it started
said() {
	grep -q -e "$1" "$work/err"
}

cgroup_mounts() {
	awk '$3 ~ /^cgroup2?$/ { print $2 }' /proc/mounts
}

# remove_groups /GROUP...: those of in_group, the inner ones first
remove_groups() {
	local mount group

	for mount in $(cgroup_mounts); do
		for group in "$@"; do
			rmdir "$mount$group" 2>/dev/null
		done
	done
}

# in_group /GROUP COMMAND...: in that cgroup of each hierarchy that lets us. All are made before it moves into the
# first: to make one takes some ms of CPU time, which would be in one hierarchy's cgroup and not in the other's.
in_group() {
	local mount mounts group=$1

	shift
	mounts=$(cgroup_mounts)
	for mount in $mounts; do
		mkdir -p "$mount$group"
	done 2>/dev/null
	for mount in $mounts; do
		echo "$BASHPID" >"$mount$group/cgroup.procs"
	done 2>/dev/null
	exec "$@"
}
