#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# A fifo in place of a file that an option names is refused, and makes no agent deaf to SIGTERM.
set -uo pipefail
. tests/lib/cli.bash

can_sample agent_fifo || exit "$script_status"
mkfifo "$work/fifo"
mkdir "$work/files"
printf '%s\n' 'not a certificate' >"$work/plain"

# refused NAME OPTION...: at the start
refused() {
	timeout -k 1 20 "$bin" agent -q --dir "$work/files" "${@:2}" 2>"$work/err"
	[ $? -lt 124 ] && grep -q "$work/fifo: not a regular file" "$work/err"
	verdict $? "agent_fifo_$1"
}

# read_later: it has tried to read the file, or served who asks for metrics without a token
read_later() {
	until grep -qF "$work/fifo: not a regular file" "$work/err" || [ "${asked:-0}" -ge 401 ]; do
		kill -0 "$agent" || return
		asked=$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:${port:-1}/metrics")
		sleep 0.1
	done
}

# ends NAME OPTION...: it reads the file later, and goes on
ends() {
	start_ready "$bin" agent -q --interval 1 --dir "$work/files" "${@:2}" 2>"$work/err"
	agent=$started
	read_later && kill -TERM "$agent" && timeout 60 tail --pid="$agent" -f /dev/null
	verdict $? "agent_fifo_$1"
	kill -KILL "$agent" 2>/dev/null
	wait 2>/dev/null
}

refused config --config "$work/fifo"
refused ca --otlp https://127.0.0.1:1 --ca "$work/fifo"
refused cert --otlp https://127.0.0.1:1 --cert "$work/fifo" --key "$work/plain"
refused key --otlp https://127.0.0.1:1 --cert "$work/plain" --key "$work/fifo"
refused listen_cert --listen 127.0.0.1:0 --listen-token-file "$work/plain" --listen-cert "$work/fifo" --listen-key "$work/plain"
refused listen_key --listen 127.0.0.1:0 --listen-token-file "$work/plain" --listen-cert "$work/plain" --listen-key "$work/fifo"
ends token_file --otlp http://127.0.0.1:1 --token-file "$work/fifo"
ends headers_file --otlp http://127.0.0.1:1 --headers-file "$work/fifo"
port=$(tests/lib/free_port)
ends listen_token_file --listen "127.0.0.1:$port" --listen-token-file "$work/fifo"
exit "$script_status"
