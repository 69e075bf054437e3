# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# Sourced by the scripts in this folder: the properties of a host, profilers that run beside a load,
# and the CPU time that the scheduler gave.

# Date, kernel, CPUs and model, as printed above every table.
host_line() {
	local model

	model=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
	echo "$(date +%Y-%m-%d), kernel $(uname -r), $(nproc) CPUs, ${model:-$(uname -m)}"
}

cgroup_root() {
	awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts
}

# The last process of the group may not have ended yet.
remove_group() {
	local _

	[ -d "$1" ] || return 0
	for _ in {1..200}; do
		! rmdir "$1" 2>/dev/null || return 0
		sleep 0.05
	done
}

# Jiffies of all CPUs that a hypervisor took, and all jiffies.
steal_jiffies() {
	awk '$1 == "cpu" { print $9, $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9; exit }' /proc/stat
}

# steal_since "STOLEN ALL": the share stolen since then, in thousandths.
steal_since() {
	steal_jiffies | awk -v before="$1" '{
		split(before, was, " ")
		all = $2 - was[2]
		print(all > 0 ? int(1000 * ($1 - was[1]) / all + 0.5) : 0)
	}'
}

# until_so SECONDS COMMAND...: waits until the command succeeds.
until_so() {
	local end=$((SECONDS + $1))

	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.01
	done
}

ended() {
	[ ! -d "/proc/$1" ] || [ "$(ps -o stat= -p "$1" | cut -c 1)" = Z ]
}

# has_begun PID KIND COUNT: whether it has this many descriptors of perf events or BPF links, or has
# failed.
has_begun() {
	local open

	ended "$1" && return 0
	open=$(find "/proc/$1/fd" -lname "*$2*" 2>/dev/null | wc -l)
	[ "$open" -ge "$3" ]
}

# begin_profiler KIND COUNT COMMAND...: returns when the profiler opens its clocks, COUNT for each
# CPU if KIND is perf_event, which it does last; some milliseconds later all of them tick. Its pid
# is in $profiler.
begin_profiler() {
	local kind=$1 count=$2 into=${out:?}/profiler

	shift 2
	[ "$kind" != perf_event ] || count=$((count * $(nproc)))
	"$@" >"$into" 2>"$into.err" </dev/null &
	profiler=$!
	until_so 30 has_begun "$profiler" "$kind" "$count" || return 1
	! ended "$profiler"
}

# perf ends with the signal that stops it. A profiler that does not end gives no figure.
end_profiler() {
	local status=0

	kill -INT "$profiler" 2>/dev/null || true
	until_so 20 ended "$profiler" || kill -KILL "$profiler"
	wait "$profiler" || status=$?
	profiler=
	[ $status -eq 0 ] || [ $status -eq 130 ]
}
