#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# At a terminal serve says when it is ready.
set -uo pipefail
. tests/lib/cli.bash

if [ "$(id -u)" -ne 0 ]; then
	echo "SKIP cli::serve_ready: not root"
	exit "$script_status"
fi
can_sample serve_ready || exit "$script_status"
script -qfec "echo \$\$ >'$work/pid'; exec '$bin' serve --socket '$work/socket'" /dev/null >"$work/said" </dev/null &
terminal=$!
for _ in {1..300}; do
	[ -s "$work/said" ] && break
	sleep 0.1
done
[ "$(tr -d '\r' <"$work/said")" = "bpfprofil: serve: ready at $work/socket" ]
verdict $? serve_ready
kill "$(cat "$work/pid")"
wait "$terminal"
verdict $? serve_ends

exit "$script_status"
