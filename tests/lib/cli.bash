# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# For scripts that test the command line: what to run, and one verdict per line.

bin=${BUILD_DIR:?}/bpfprofil
golden=$PWD/tests/golden
work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
script_status=0

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

cgroup_mounts() {
	awk '$3 ~ /^cgroup2?$/ { print $2 }' /proc/mounts
}

# end_in_groups PIDS /GROUP...: ends processes, and removes the groups of in_group, the inner ones first
end_in_groups() {
	local pids mount group

	read -ra pids <<<"$1"
	shift
	kill -9 "${pids[@]}" 2>/dev/null
	wait 2>/dev/null
	for mount in $(cgroup_mounts); do
		for group in "$@"; do
			rmdir "$mount$group" 2>/dev/null
		done
	done
}

# in_group /GROUP COMMAND...: in that cgroup of each hierarchy that lets us
in_group() {
	local mount group=$1

	shift
	for mount in $(cgroup_mounts); do
		mkdir -p "$mount$group" 2>/dev/null && echo "$BASHPID" >"$mount$group/cgroup.procs"
	done 2>/dev/null
	exec "$@"
}
