#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# attach --wait: what is not there yet is waited for, with one line, no longer than --duration.
set -uo pipefail
. tests/lib/cli.bash

nobody=sleeq$$%%
none="bpfprofil: attach: waiting for --name '$nobody': no process has this name
bpfprofil: attach: --name '$nobody': did not come within 0.2 s"
"$bin" attach --name "$nobody" --wait --duration 0.2 -o "$work/none.json" 2>"$work/err"
[ $? -eq 1 ] && [ "$(sed 's/within .* s/within 0.2 s/' "$work/err")" = "$none" ] && [ ! -e "$work/none.json" ]
verdict $? attach_wait_in_vain
expect attach_wait_for_a_pid 2 'bpfprofil: attach: --wait: for a container, unit, name or cgroup, not for --pid
try: leaving it out' "$bin" attach --pid $$ --wait

# until_true COMMAND...: returns when that holds, or $attached has ended
until_true() {
	until "$@"; do
		kill -0 "$attached" 2>/dev/null || return 1
		sleep 0.05
	done
}

samples() {
	find "/proc/$attached/fd" -lname '*perf_event*' 2>/dev/null | grep -q .
}

remove_group() {
	local mount

	for mount in $(cgroup_mounts); do
		rmdir "$mount$group" 2>/dev/null
	done
}

# comes_and_goes N TARGET: waits for the line that says so for the Nth time; then it is there, and ends
comes_and_goes() {
	local pid ended="bpfprofil: attach: $2 '$3': has ended\$"

	until_true has_lines "$1" "bpfprofil: attach: waiting for $2 '$3': \(no \|nobody is in \)" || return
	in_group "$group" bash -c 'while :; do :; done' &
	pid=$!
	echo "$pid" >"$work/pid"
	until_true samples && has_used "$pid" 20
	kill "$pid"
	wait "$pid" 2>/dev/null
	rm "$work/pid"
	remove_group
	until_true has_lines "$1" "$ended"
}

has_lines() {
	[ "$(grep -c "^$2" "$work/err")" -eq "$1" ]
}

# waits NAME TARGET: attaches to what only comes after a line, ends, and comes again, until a signal
waits() {
	local name=$1

	shift
	PATH=$work/bin:$PATH "$bin" attach "$@" --wait -o "$work/$name.json" 2>"$work/err" >/dev/null &
	attached=$!
	comes_and_goes 1 "$@" && comes_and_goes 2 "$@" && until_true has_lines 3 'bpfprofil: attach: waiting'
	# A signal for phases is none for the end. SIGINT would not do: background jobs of a script ignore it.
	kill -USR1 "$attached"
	sleep 0.7
	kill -0 "$attached"
	alive=$?
	kill -TERM "$attached"
	wait "$attached" && [ "$alive" -eq 0 ] && has_ticks "$work/$name.json" 300 && has_lines 3 'bpfprofil: attach: waiting' && has_lines 0 '0 ticks' &&
		has_lines 2 "bpfprofil: attach: $1 '$2': has ended\$"
	verdict $? "attach_wait_$name"
}

# ends PID: returns when it has ended by itself, within half a minute
ends() {
	local i

	for ((i = 0; i < 300; i++)); do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.1
	done
	kill -TERM "$1"
	return 1
}

was_found() {
	find "/proc/$attached/fd" -lname '*bpf-prog*' 2>/dev/null | grep -q .
}

has_ticks() {
	local ticks

	ticks=$("$bin" report --format json "$1" |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["ticks"]["total"])') && [ "$ticks" -ge "$2" ]
}

# pauses NAME OPTION...: a group that ends in a pause, and comes again, is sampled after it for --duration
pauses() {
	local name=$1 pid

	shift
	in_group "$group" sleep 1000 &
	pid=$!
	until grep -q "$group" "/proc/$pid/cgroup"; do sleep 0.05; done
	"$bin" attach --cgroup "$group" --wait "$@" --duration 2 -o "$work/$name.json" 2>"$work/err" >/dev/null &
	attached=$!
	until_true was_found
	kill "$pid"
	wait "$pid" 2>/dev/null
	remove_group
	until_true has_lines 1 'bpfprofil: attach: waiting'
	in_group "$group" bash -c 'while :; do :; done' &
	pid=$!
	[ "$name" = delay ] || kill -USR1 "$attached"
	ends "$attached" && wait "$attached" && has_ticks "$work/$name.json" 100
	verdict $? "attach_wait_$name"
	kill "$pid"
	wait "$pid" 2>/dev/null
	remove_group
}

# SIGUSR1 may come before the first target: it begins to sample when that is there.
starts_early() {
	local pid

	"$bin" attach --cgroup "$group" --wait --paused -o "$work/early.json" 2>"$work/err" >/dev/null &
	attached=$!
	until_true has_lines 1 'bpfprofil: attach: waiting'
	kill -USR1 "$attached"
	in_group "$group" bash -c 'while :; do :; done' &
	pid=$!
	until_true was_found && has_used "$pid" 100
	kill -TERM "$attached"
	wait "$attached" && has_ticks "$work/early.json" 30
	verdict $? attach_wait_early_start
	kill "$pid"
	wait "$pid" 2>/dev/null
	remove_group
}

# One of two groups ends: it is not waited for, which a line says
one_ends() {
	local first second

	in_group "$group" sleep 1000 &
	first=$!
	in_group "$group-2" sleep 1000 &
	second=$!
	until grep -q "$group-2" "/proc/$second/cgroup" && grep -q "$group" "/proc/$first/cgroup"; do sleep 0.05; done
	"$bin" attach --cgroup "$group" --cgroup "$group-2" --wait -o "$work/two.json" 2>"$work/err" >/dev/null &
	attached=$!
	until_true was_found
	kill "$first"
	wait "$first" 2>/dev/null
	remove_group
	until_true has_lines 1 "bpfprofil: attach: --cgroup '$group': has ended, and is not waited for while others run\$"
	kill -TERM "$attached"
	wait "$attached" && has_lines 1 'try: a bpfprofil for each target'
	verdict $? attach_wait_one_of_two
	kill "$second"
	wait "$second" 2>/dev/null
	remove_groups "$group-2"
}

group=/bpfprofil-wait-$$
if ! (in_group "$group" grep -q "$group" /proc/self/cgroup); then
	echo 'SKIP cli::attach_wait_cgroup: no cgroup can be made'
elif can_sample attach_wait_cgroup; then
	remove_group
	waits cgroup --cgroup "$group"
	mkdir "$work/bin"
	cat >"$work/bin/docker" <<-END
		#!/bin/sh
		pid=\$(cat "$work/pid" 2>/dev/null)
		[ "\$pid" ] || { echo 'Error: No such object' >&2; exit 1; }
		[ "\$1" = inspect ] && echo "[ { \"Id\": \"web\", \"State\":
			{ \"Running\": true, \"Pid\": \$pid } } ]"
	END
	chmod 755 "$work/bin/docker"
	waits container --container bpfprofil-web
	pauses delay --delay 3
	pauses paused --paused
	starts_early
	one_ends
fi

exit "$script_status"
