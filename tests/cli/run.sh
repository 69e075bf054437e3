#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# A command that asks a question on the terminal that it shares with us; what profiling it takes.
set -uo pipefail
. tests/lib/cli.bash

can_sample run || exit "$script_status"
export NO_COLOR=1 # what comes on the terminal is compared

# on_terminal OPTIONS SCRIPT: profiles the script; what came on the terminal is in $work/screen
on_terminal() {
	script -qfec "$bin run -o $work/profile.json $1 -- sh $2" "$work/screen" </dev/null >/dev/null
}

cat >"$work/asks" <<END
printf 'Proceed? [y/n] '
sleep 2.5
echo asked
END
on_terminal "" "$work/asks"
tr -d '\r' <"$work/screen" | grep -qx 'Proceed? \[y/n\] asked' && ! grep -q $'\033' "$work/screen"
verdict $? run_leaves_a_prompt_alone
grep -qE '^[0-9]+ ticks?, .* of CPU time' "$work/screen"
verdict $? run_has_a_summary_on_a_terminal

cat >"$work/waits" <<END
tries=0
until grep -q '[0-9] ticks  ' "$work/screen" || [ \$((tries += 1)) -gt 300 ]; do sleep 0.1; done
END
on_terminal -v "$work/waits"
grep -qE $'\r\033\\[K[0-9]+ s  [0-9]+ ticks  [0-9]+/s  0 lost' "$work/screen"
verdict $? run_shows_progress_if_asked

# While the command runs, its parent has loaded all that it loads before the profile is made.
"$bin" run -o "$work/profile.json" -- sh -c \
	"cat /proc/\$PPID/maps >'$work/maps'; cat /proc/\$PPID/status >'$work/status'" >/dev/null 2>&1
grep -q libbpf "$work/maps" && ! grep -q libcapstone "$work/maps"
verdict $? run_has_no_disassembler
# Who lacks it is told what to install: here an empty file is found before it.
mkdir "$work/empty"
for library in /usr/lib/*/libcapstone.so.?; do
	: >"$work/empty/${library##*/}"
done
"$bin" run -q -o "$work/hot.json" -- bash -c 'for ((i = 0; i < 1000000; i++)); do :; done' &&
	LD_LIBRARY_PATH=$work/empty "$bin" report --annotate bash:execute_command_internal \
		"$work/hot.json" | grep 'no instructions.*libcapstone.*; try: apt-get install libcapstone' >/dev/null
verdict $? annotate_without_a_disassembler
peak=$(awk '/^VmHWM/ { print $2 * 1024 }' "$work/status")
[ "$peak" -lt $((2 * $(stat -c %s /sys/kernel/btf/vmlinux))) ]
verdict $? run_has_no_copies_of_the_kernels_types

exit "$script_status"
