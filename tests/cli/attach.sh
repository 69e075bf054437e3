#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Targets that do not exist: each is named in one line, followed by a line with the way out if there
# is one. Exit status 2 if the command line is wrong, 1 if this host has no such thing.
set -uo pipefail
. tests/lib/cli.bash

place=$work/place
mkdir "$place"
chmod 777 "$place"

refused() {
	local name=$1 status=$2 text=$3

	shift 3
	expect "attach_$name" "$status" "$text" \
		"$bin" attach --duration 1 -o "$place/profile.json" "$@"
	[ -z "$(ls -A "$place")" ]
	verdict $? "attach_${name}_leaves_no_file"
}

refused nothing 2 'bpfprofil: attach: no target given
try: --pid PID, --name PATTERN, --container NAME, --unit NAME, --cgroup PATH or --all'
refused operand 2 "bpfprofil: attach: 'web': a target is named by an option
try: --pid web, --name web, --container web or --unit web" web
refused operand_too 2 "bpfprofil: attach: 'web': a target is named by an option
try: --pid web, --name web, --container web or --unit web" --all web
for pid in abc 0 -1 '1,' 1x 4194304000; do
	refused "pid_$pid" 2 "bpfprofil: attach: --pid '$pid': must be a process's number, or \
several like 12,345" "--pid=$pid"
done
refused no_children 2 "bpfprofil: attach: --no-children: says how --pid and --name count, and none is given
try: leaving it out" --all --no-children
refused duration_0 2 "bpfprofil: attach: --duration '0': must be a time like 10, 90s or 5m" \
	--all --duration 0
refused user 2 "bpfprofil: attach: unknown option '-u'
try: bpfprofil attach --help" --all -u root
refused preload 2 "bpfprofil: attach: unknown option '--preload'
try: bpfprofil attach --help" --all --preload
refused interval_name 2 "bpfprofil: attach: --interval: FILEs of one name would replace each other
try: -o 'bpfprofil-%t.json'" --all --interval 1

sleep 0 &
gone=$!
wait "$gone"
refused no_pid 1 "bpfprofil: attach: --pid $gone: no such process" --pid "$gone"
refused no_pid_beside_one 1 "bpfprofil: attach: --pid $gone: no such process" --pid "$$,$gone"
refused empty_name 2 "bpfprofil: attach: --name '': must be a process's name or a pattern" --name ''
# Other tests' command lines and cgroups may be on the machine: attach suggests what contains a name, or is similar.
nobody=sleeq$$%%
none=xqzxqzxqz
refused no_name 1 "bpfprofil: attach: --name '$nobody': no process has this name" --name "$nobody"
refused no_pattern 1 "bpfprofil: attach: --name '$nobody*': no process has this name" --name "$nobody*"
# A script has its interpreter's name.
echo 'for i in 1 2 3 4 5 6; do read -t 10 never; done' >"$work/script$$.sh"
mkfifo "$work/never"
bash "$work/script$$.sh" <>"$work/never" &
script=$!
for ((i = 0; i < 200; i++)); do
	! grep -q "script$$.sh" "/proc/$script/cmdline" || break
	sleep 0.05
done
refused name_of_script 1 "bpfprofil: attach: --name 'script$$.sh': no process has this name
try: --pid $script (bash), which has it in its command line" --name "script$$.sh"
kill "$script"
refused no_wide_pattern 1 "bpfprofil: attach: --name '*$nobody*': no process has this name" --name "*$nobody*"
refused no_cgroup 1 "bpfprofil: attach: --cgroup '/$none': no such cgroup" --cgroup "/$none"
refused no_unit 1 "bpfprofil: attach: --unit '$none.service': no running unit has this name" --unit "$none"

# What a container runtime itself says differs from host to host.
"$bin" attach --container bpfprofil-none -o "$place/profile.json" 2>"$work/err" >/dev/null
[ $? -eq 1 ] && grep -q "^bpfprofil: attach: --container 'bpfprofil-none': no running container" "$work/err"
verdict $? attach_no_container

if [ -d /proc/2 ] && [ -z "$(tr -d '\0' </proc/2/cmdline)" ]; then
	refused kernel_thread 1 "bpfprofil: attach: --pid 2 (kthreadd): a kernel thread, which has no \
text of its own" --pid 2
else
	echo 'SKIP cli::attach_kernel_thread: process 2 is no kernel thread here'
fi

# The id of the second thread, once there is one.
second_thread() {
	local threads

	cd "/proc/$burner/task" && threads=(*) && cd "$OLDPWD" && echo "${threads[1]-}"
}

build/tests/live/workloads/threads 2 10000000 &
burner=$!
thread=
until [ -n "$thread" ]; do
	sleep 0.05
	thread=$(second_thread)
done
refused thread 1 "bpfprofil: attach: --pid $thread: a thread of process $burner (threads), not a process
try: --pid $burner" --pid "$thread"
kill "$burner"
wait "$burner" 2>/dev/null

# Children that come and go, one of a namespace below, and a process that outlives them all.
spends='
import os, resource, subprocess, time
three = "build/tests/live/workloads/three"
for before in [], [], ["unshare", "-pf"]:
    subprocess.run(before + [three, "300"], stdout=subprocess.DEVNULL, check=True)
while time.process_time() < 1:
    pass
print(sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)), flush=True)
os._exit(0)'
compares='
import json, sys
(target,) = json.load(open(sys.argv[1]))["targets"]
shown, spent = target["cpu_ns"] / 1e9, float(open(sys.argv[2]).read())
print(f"{shown:.3f} s of {spent:.3f}")
assert abs(shown - spent) < 0.02 * spent, (shown, spent)'

# In a pid namespace of its own seconds would be wrong and names missing; only what COMMAND runs is in it.
if unshare -pf --mount-proc true 2>/dev/null; then
	inside=(unshare -pf --mount-proc)
	elsewhere="pids here are not the host's, which the kernel counts by: this is a pid namespace of its own
try: starting bpfprofil on the host, or its container with --pid=host (docker, podman) or hostPID: true (Kubernetes)"
	for target in --all --pid=1 --name=sh --cgroup=/ --container=web --unit=init.scope; do
		expect "attach_pid_namespace_${target//[^a-z]/}" 1 "bpfprofil: attach: ${target%%=*}: $elsewhere" \
			"${inside[@]}" "$bin" attach "$target" --duration 1 -o "$place/profile.json"
	done
	expect top_pid_namespace 1 "bpfprofil: top: --all: $elsewhere" "${inside[@]}" "$bin" top --all -n 1
	mkdir "$work/inside"
	expect agent_pid_namespace 1 "bpfprofil: agent: $elsewhere" \
		"${inside[@]}" timeout 20 "$bin" agent --interval 1 --dir "$work/inside"
	if can_sample run_pid_namespace; then
		"${inside[@]}" "$bin" run -q -o "$work/inside.json" -- python3 -c "$spends" >"$work/spent" &&
			python3 -c "$compares" "$work/inside.json" "$work/spent"
		verdict $? run_pid_namespace
	fi
else
	echo 'SKIP cli::attach_pid_namespace: none can be made'
fi

# The target ends once the clocks are open.
if can_sample attach_says_the_end; then
	sleep 1000 &
	sleeper=$!
	"$bin" attach --pid "$sleeper" -o "$place/profile.json" 2>"$work/err" >/dev/null &
	attached=$!
	until find "/proc/$attached/fd" -lname '*perf_event*' 2>/dev/null | grep -q . ||
		! kill -0 "$attached" 2>/dev/null; do
		sleep 0.05
	done
	kill "$sleeper"
	wait "$attached" && grep -qx "bpfprofil: attach: --pid $sleeper: has ended" "$work/err"
	verdict $? attach_says_the_end
	rm -f "$place/profile.json"
fi

# A descriptor is held of each process of a name, and a user's limit is far below how many there may be.
if can_sample attach_many_of_a_name; then
	cp "$(command -v sleep)" "$work/manyfold"
	sleepers=()
	for ((i = 0; i < 300; i++)); do
		"$work/manyfold" 1000 &
		sleepers+=("$!")
	done
	for ((i = 0; i < 600 && $(pgrep -cx -P $$ manyfold) < 300; i++)); do sleep 0.1; done
	(
		ulimit -Sn 256
		"$bin" attach --name manyfold --duration 0.2 -o "$place/profile.json"
	) >"$work/out" 2>&1 && grep -q 'and 280 more$' "$work/out"
	verdict $? attach_many_of_a_name || cat "$work/out"
	kill "${sleepers[@]}"
	rm -f "$place/profile.json"
fi

# What a container without SYS_PTRACE cannot open is not said to be gone.
if [ "$(id -u)" -eq 0 ] && can_sample attach_without_ptrace; then
	mkdir -p "$work/hidden"
	# shellcheck disable=SC2016 # the other shell's
	unshare -m sh -c 'mount -t tmpfs none "$1" && chmod 755 "$1" && cp /bin/bash "$1/shell" &&
		exec setpriv --reuid=65534 --regid=65534 --clear-groups "$1/shell" -c "while :; do :; done"' \
		sh "$work/hidden" &
	hidden=$!
	for ((i = 0; i < 300; i++)); do
		[[ $(readlink "/proc/$hidden/exe") != */hidden/shell ]] || break
		sleep 0.1
	done
	setpriv --bounding-set -sys_ptrace "$bin" attach --pid "$hidden" --duration 1 \
		-o "$place/profile.json" >"$work/out" 2>&1
	grep -q "^note: no names .*/hidden/shell.*: gone, or not ours to open: CAP_SYS_PTRACE opens it" "$work/out"
	verdict $? attach_without_ptrace || cat "$work/out"
	kill "$hidden"
	rm -f "$place/profile.json"
fi

if [ "$(id -u)" -eq 0 ]; then
	mine=$work/bpfprofil
	install -m 755 "$bin" "$mine"
	for target in --all --pid=1; do
		expect "attach_not_root_${target//[^a-z]/}" 1 "bpfprofil: attach: cannot profile: not root, \
and without CAP_BPF and CAP_PERFMON
try: sudo, or: sudo setcap cap_bpf,cap_perfmon+ep $mine" \
			setpriv --reuid=65534 --regid=65534 --clear-groups \
			"$mine" attach "$target" --duration 1 -o "$place/profile.json"
	done
	chmod 755 "$place"
	expect "attach_not_root_before_file" 1 "bpfprofil: run: cannot profile: not root, \
and without CAP_BPF and CAP_PERFMON
try: sudo, or: sudo setcap cap_bpf,cap_perfmon+ep $mine" \
		setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$mine" run -o "$place/profile.json" true
else
	echo 'SKIP cli::attach_not_root: not root'
fi

exit "$script_status"
