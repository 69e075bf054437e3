#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What a kernel gets that is too old, or is locked, as root: what it lacks and how to have it, and nothing is
# started.
set -uo pipefail
. tests/lib/cli.bash

marker=$work/marker
kernel=old_kernel feature=find_vma
refusal="cannot profile: the kernel's BPF has no compare-and-exchange
try: a newer kernel; 6.1 has it"
if grep -q '\[confidentiality\]' /sys/kernel/security/lockdown 2>/dev/null; then
	kernel=locked_kernel feature=read_kernel
	refusal="cannot profile: the kernel refuses bpf_probe_read_kernel
try: booting without lockdown=confidentiality (cat /sys/kernel/security/lockdown)"
fi

expect "${kernel}_run" 1 "bpfprofil: run: $refusal" \
	"$bin" run -o "$work/profile.json" -- touch "$marker"
[ ! -e "$marker" ] && [ ! -e "$work/profile.json" ]
verdict $? "${kernel}_run_leaves_nothing"

expect "${kernel}_serve" 1 "bpfprofil: serve: $refusal" "$bin" serve --socket "$work/socket"
[ ! -e "$work/socket" ]
verdict $? "${kernel}_serve_leaves_nothing"

"$bin" doctor >"$work/doctor"
[ $? -eq 1 ] && grep -q "^missing  $feature " "$work/doctor" &&
	{ [ "$kernel" = locked_kernel ] || grep -q '^missing  task_storage ' "$work/doctor"; } &&
	grep -q '^ok       privilege ' "$work/doctor" &&
	[ "$(tail -n 1 "$work/doctor")" = "Profiling cannot run." ]
verdict $? "${kernel}_doctor"

exit "$script_status"
