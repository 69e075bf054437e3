#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What a kernel that is too old gets, as root: what it lacks and which kernel has it, and nothing is
# started.
set -uo pipefail
. tests/lib/cli.bash

marker=$work/marker
refusal="cannot profile: the kernel's BPF has no compare-and-exchange
try: a newer kernel; 6.1 has it"

expect old_kernel_run 1 "bpfprofil: run: $refusal" \
	"$bin" run -o "$work/profile.json" -- touch "$marker"
[ ! -e "$marker" ] && [ ! -e "$work/profile.json" ]
verdict $? old_kernel_run_leaves_nothing

expect old_kernel_serve 1 "bpfprofil: serve: $refusal" "$bin" serve --socket "$work/socket"
[ ! -e "$work/socket" ]
verdict $? old_kernel_serve_leaves_nothing

"$bin" doctor >"$work/doctor"
[ $? -eq 1 ] && grep -q '^missing  find_vma ' "$work/doctor" &&
	grep -q '^missing  task_storage ' "$work/doctor" &&
	grep -q '^ok       privilege ' "$work/doctor" &&
	[ "$(tail -n 1 "$work/doctor")" = "Profiling cannot run." ]
verdict $? old_kernel_doctor

exit "$script_status"
