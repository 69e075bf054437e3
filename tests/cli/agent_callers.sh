#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# An agent with callers, as its file says: each sink has the stacks, with the ticks of each function, its own
# and inclusive, that report has of the folder. Of two sinks one is away at first.
set -uo pipefail
. tests/lib/cli.bash

can_sample agent_callers || exit "$script_status"
workload=$PWD/build/tests/live/workloads/callers

# Stores each body, uncompressed, in a folder named by its path.
cat >"$work/backend.py" <<'end'
import gzip, http.server, os, sys, time
class Backend(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        folder = f"{sys.argv[2]}/{os.path.basename(self.path)}"
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/{time.monotonic_ns()}", "xb") as file:
            file.write(body)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Backend).serve_forever()
end

# "FUNCTION TICKS INCLUSIVE" of the workload's functions, of all files together.
of_workload() {
	awk '$1 ~ /^(first|second|third|leaf)$/ { own[$1] += $2; all[$1] += $3 }
		END { for (name in all) print name, own[name], all[name] }' | sort
}

# got FORMAT FOLDER: what a sink was sent
got() {
	local file

	for file in "$work/got/$2"/*; do
		python3 tests/cli/stacks.py "$1" "$file"
	done | of_workload
}

# ticks FORMAT FOLDER
ticks() {
	PYTHONPATH=tests/cli python3 -B -c 'import stacks, sys
print(sum(ticks for path in sys.argv[2:] for _, ticks in getattr(stacks, sys.argv[1])(path)))' \
		"$1" "$work/got/$2"/*
}

has_profiles() {
	[ "$(find "$work/files" -name '*.gz' | wc -l)" -ge "$1" ]
}

port=$(tests/lib/free_port) later=$(tests/lib/free_port)
mkdir "$work/files" "$work/got"
# Half of an interval is for reading names, which takes longer on emulated CPUs.
printf '%s\n' callers 'duty = 100' "interval = $((2 * ${SPIN_SLOWNESS:-1}))" "dir = $work/files" \
	"otlp = http://127.0.0.1:$later" "pyroscope = http://127.0.0.1:$port" "parca = http://127.0.0.1:$port" >"$work/agent.conf"
python3 "$work/backend.py" "$port" "$work/got" &
"$workload" plain 900000 &
busy=$!
"$bin" agent --config "$work/agent.conf" 2>"$work/err" &
agent=$!
until_true has_profiles 2
python3 "$work/backend.py" "$later" "$work/got" &
until_true grep -q 'otlp .*delivered again' "$work/err"
verdict $? agent_callers_outage
kill "$busy"
kill -TERM "$agent"
wait "$agent"
verdict $? agent_callers_ends
! grep 'not delivered' "$work/err"
verdict $? agent_callers_delivers

# Of their sum report has more: some ticks have their chain in the next profile.
for file in "$work/files"/*; do
	python3 tests/cli/stacks.py report "$file" "$bin"
done | of_workload >"$work/expected"
[ "$(wc -l <"$work/expected")" = 4 ]
verdict $? agent_callers_reports
total=$(python3 -c 'import gzip, json, sys
print(sum(json.load(gzip.open(path))["ticks"]["total"] for path in sys.argv[1:]))' "$work/files"/*)
for sink in 'otlp profiles' 'push Push' 'push writeraw'; do
	# shellcheck disable=SC2086 # two words
	got $sink >"$work/found"
	diff "$work/expected" "$work/found"
	verdict $? "agent_callers: $sink"
	# shellcheck disable=SC2086 # two words
	[ "$(ticks $sink)" = "$total" ]
	verdict $? "agent_callers_total: $sink"
done
# Why functions have no names.
if [ "$script_status" != 0 ]; then
	python3 -c 'import gzip, json, sys
for path in sys.argv[1:]:
    print(path, *json.load(gzip.open(path))["notes"], sep="\n  ")' "$work/files"/*
	cat "$work/err"
fi
grep -qaF 'process.executable.name' "$work"/got/profiles/*
verdict $? agent_callers_programs
exit "$script_status"
