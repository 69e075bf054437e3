#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# A copy of SIGTERM, as timeout(1) sends it, takes nothing from the agent's last profile; a later one ends
# an agent whose backend does not answer, and it says what is lost.
set -uo pipefail
. tests/lib/cli.bash

can_sample agent_signals || exit "$script_status"
"$BUILD_DIR/tests/live/workloads/forever" "$work/pid" &
busy=$!

# begin OPTION...: an agent, as $agent, once it has counted a while
begin() {
	start_ready "$bin" agent --interval 60 --duty 100 "$@" 2>"$work/err"
	agent=$started
	has_used "$busy" 30
}

# The first profile comes at a random moment, so there may be two.
counted() {
	zcat "$work"/files/* 2>"$work/none" | python3 -c 'import json, re, sys
text, total, decoder = sys.stdin.read().strip(), 0, json.JSONDecoder()
while text:
    profile, end = decoder.raw_decode(text)
    total += profile["ticks"]["total"]
    text = text[end:].lstrip()
print(total)'
}

twice() {
	local pause total all=0

	for pause in 0 0.001 0.002 0.003 0.005 0.01 0.02 0.03; do
		rm -rf "$work/files"
		mkdir "$work/files"
		begin --dir "$work/files"
		# One process sends both: between two of the shell's, a busy host takes longer.
		python3 -c 'import os, signal, sys, time
os.kill(int(sys.argv[1]), signal.SIGTERM)
time.sleep(float(sys.argv[2]))
os.kill(int(sys.argv[1]), signal.SIGTERM)' "$agent" "$pause"
		wait "$agent" || return
		total=$(sed -n 's/^\([0-9]*\) = .*/\1/p' "$work/err")
		if [ "$(counted)" != "$total" ]; then
			cat "$work/err"
			return 1
		fi
		all=$((all + total))
	done
	[ "$all" -gt 100 ]
}

twice
verdict $? agent_signals_twice

python3 -c 'import socket, time
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
time.sleep(600)' >"$work/port" &
silent=$!
until [ -s "$work/port" ]; do sleep 0.1; done
begin --otlp "http://127.0.0.1:$(cat "$work/port")"
kill -TERM "$agent"
taken TERM "$agent"
# So soon it would be the first one's copy.
sleep $((4 * ${SPIN_SLOWNESS:-1}))e-1
kill -TERM "$agent"
wait "$agent"
[ $? -eq 143 ] && grep -q 'ended by a second signal: .* is lost' "$work/err"
verdict $? agent_signals_later
kill "$silent"
wait "$silent" 2>/dev/null
exit "$script_status"
