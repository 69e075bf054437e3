#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# static.sh: build/static/bpfprofil in a root that has nothing but it, a program, /proc and /sys.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.bash

# Sanitizers cannot be linked statically.
static=${BUILD_DIR:?}/static
if [[ $BUILD_DIR == *san-* ]]; then
	echo "SKIP cli::static: not built with sanitizers"
	exit 0
fi

root=$work/root
mkdir -p "$root"/{proc,sys,tmp,profiles}
cp "$static/bpfprofil" "$BUILD_DIR"/tests/live/workloads/three_static "$BUILD_DIR"/tests/calls/own "$root"
strip -o "$root/stripped" "$root/three_static"

# become COMMAND...: this shell becomes COMMAND in the root, with nothing that the host's environment says
# shellcheck disable=SC2016 # they are expanded there
become() {
	exec unshare --mount --propagation private bash -c 'mount --rbind /proc "$0/proc" && mount --rbind /sys "$0/sys" &&
		exec env -i PATH="$PATH" "$1" chroot "$0" "${@:2}"' "$root" "${variable:-LC_ALL=C}" "$@"
}

inside() {
	(become "$@") </dev/null
}

one_file() {
	local headers

	headers=$(readelf -hlW "$static/bpfprofil") && grep -q 'Type:.*DYN' <<<"$headers" &&
		! grep -q INTERP <<<"$headers" && ! grep -qE '^ +(LOAD|GNU_STACK) .* RWE ' <<<"$headers" &&
		grep -q GNU_RELRO <<<"$headers" && [ "$(stat -c %s "$static/bpfprofil")" -le $((9 << 20)) ]
}

# three's functions have 50, 30 and 20 % of its time.
shares() {
	awk '$5 == "alpha" { a = $1 + 0 } $5 == "beta" { b = $1 + 0 } $5 == "delta" { d = $1 + 0 }
		END { exit !(a > 35 && a < 65 && b > 16 && b < 44 && d > 7 && d < 33) }' "$work/out"
}

one_file
verdict $? static_file
grep -q '^==== libdw-dev$' "$static/LICENCES" && grep -q '^==== libc6-dev' "$static/LICENCES" &&
	grep -q 'GNU LESSER GENERAL PUBLIC LICENSE' "$static/LICENCES" && cmp -s "$static/libbpfprofil-preload.so" \
	"$BUILD_DIR/libbpfprofil-preload.so"
verdict $? static_licences

# A line for each of what needs a library that is loaded.
hint="try: the bpfprofil of make install or of a package"
refusals() {
	local option text

	while read -r option text; do
		inside /bpfprofil agent --dir /profiles "--$option" >"$work/out" 2>&1
		[ $? -eq 1 ] && grep -qxF "bpfprofil: agent: the static bpfprofil has no $text" "$work/out" &&
			grep -qxF "$hint" "$work/out" || return
	done <<'EOF'
otlp=http://127.0.0.1:1 --otlp, --pyroscope or --parca
pyroscope=http://127.0.0.1:1 --otlp, --pyroscope or --parca
parca=http://127.0.0.1:1 --otlp, --pyroscope or --parca
listen=127.0.0.1:0 --listen
EOF
}

has_profiles() {
	compgen -G "$root/profiles/*.json*" >"$work/found"
}

# It writes the first profile after a second, and the last one at the signal.
agent_writes() {
	local agent

	become /bpfprofil agent --dir /profiles --interval 1 </dev/null 2>"$work/err" &
	agent=$!
	until_true has_profiles && kill -TERM "$agent" && wait "$agent" &&
		inside /bpfprofil report /profiles >"$work/out" 2>>"$work/err" && grep -q '^sampled .* ticks' "$work/out"
}

# own asserts its counts.
serve_counts() {
	local server

	become /bpfprofil serve --socket /tmp/socket </dev/null 2>"$work/err" &
	server=$!
	until_true grep -q ' ready at /tmp/socket$' "$work/err" && variable=BPFPROFIL_SOCKET=/tmp/socket inside /own 200 &&
		kill -TERM "$server" && wait "$server"
}

# A terminal: writes its name to a file; answers the screen that shows alpha by q, and ends with top, which must have
# brought the first one back.
cat >"$work/terminal.py" <<'end'
import fcntl, os, pty, struct, sys, termios
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
with open(sys.argv[1], "w", encoding="ascii") as file:
    print(os.ttyname(slave), file=file)
seen = b""
while b"alpha" not in seen:
    seen += os.read(master, 4096)
os.close(slave)
os.write(master, b"q")
try:
    while True:
        seen += os.read(master, 4096)
except OSError:  # top has closed it
    sys.exit(b"\x1b[?1049l" not in seen)
end

# Of a terminal's description the root has the host's.
top_draws() {
	local terminal target tty status

	mkdir -p "$root/usr/share/terminfo/x" && cp "$1" "$root/usr/share/terminfo/x/xterm" || return
	timeout 120 python3 "$work/terminal.py" "$work/tty" &
	terminal=$!
	until_true [ -s "$work/tty" ] && tty=$(cat "$work/tty") || return
	"$root/three_static" 100000000 &
	target=$!
	variable=TERM=xterm become /bpfprofil top --pid "$target" -d 0.3 <>"$tty" >&0 2>"$work/err" &
	wait "$terminal" && wait "$!"
	status=$?
	kill "$target"
	return "$status"
}

if can_sample static_runs; then
	inside /bpfprofil doctor >"$work/out" 2>&1 && grep -q '^ok  *reader ' "$work/out"
	verdict $? static_doctor
	inside /bpfprofil run -q -o /tmp/run.json -- /three_static 2>"$work/err" &&
		inside /bpfprofil report /tmp/run.json >"$work/out" 2>"$work/err" && shares && [ ! -s "$work/err" ]
	verdict $? static_run_report
	inside /bpfprofil report --annotate alpha --symfs "/proc/$$/root" /tmp/run.json 2>"$work/err" | grep -qwE 'retq?'
	verdict $? static_instructions
	inside /bpfprofil run -q --callers -o /tmp/callers.json -- /three_static 2>"$work/err" &&
		inside /bpfprofil report --tree /tmp/callers.json 2>"$work/err" | grep -qw main
	verdict $? static_callers
	inside /bpfprofil attach -q --all --duration 0.2 -o /tmp/all.json 2>"$work/err" && [ ! -s "$work/err" ]
	verdict $? static_attach
	inside /bpfprofil export --format pprof -o /tmp/run.pb.gz /tmp/run.json 2>"$work/err" && [ -s "$root/tmp/run.pb.gz" ]
	verdict $? static_export
	inside /bpfprofil merge -o /tmp/both.json /tmp/run.json /tmp/run.json && inside /bpfprofil diff /tmp/run.json \
		/tmp/both.json >"$work/out" && grep -qw alpha "$work/out"
	verdict $? static_merge_diff
	agent_writes
	verdict $? static_agent
	serve_counts
	verdict $? static_serve
	entry=$(find /lib/terminfo /usr/share/terminfo -name xterm -print -quit 2>/dev/null)
	if [ -n "$entry" ]; then
		top_draws "$entry"
		verdict $? static_top
	else
		echo "SKIP cli::static_top: no description of the terminal xterm"
	fi
	refusals
	verdict $? static_refusals
	inside /bpfprofil run -q -o /tmp/stripped.json -- /stripped &&
		variable=DEBUGINFOD_URLS=http://127.0.0.1:1 inside /bpfprofil report --by lines --symfs "/proc/$$/root" \
			/tmp/stripped.json 2>&1 >"$work/out" | grep -qxF "bpfprofil: report: DEBUGINFOD_URLS: the static bpfprofil has no debuginfod"
	verdict $? static_debuginfod
fi

exit $script_status
