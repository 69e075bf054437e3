#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# serve says when it is ready, to a terminal or a log.
set -uo pipefail
. tests/lib/cli.bash

if [ "$(id -u)" -ne 0 ]; then
	echo "SKIP cli::serve_ready: not root"
	exit "$script_status"
fi
can_sample serve_ready || exit "$script_status"
"$bin" serve --socket "$work/socket" 2>"$work/said" </dev/null &
server=$!
for _ in {1..300}; do
	[ -s "$work/said" ] && break
	sleep 0.1
done
[ "$(cat "$work/said")" = "bpfprofil: serve: ready at $work/socket" ]
verdict $? serve_ready
kill "$server"
wait "$server"
verdict $? serve_ends

exit "$script_status"
