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
cp "$static/bpfprofil" build/tests/live/workloads/three_static "$root"
strip -o "$root/stripped" "$root/three_static"

# inside COMMAND...: in the root, with nothing that the host's environment says
# shellcheck disable=SC2016 # they are expanded there
inside() {
	unshare --mount --propagation private bash -c 'mount --rbind /proc "$0/proc" && mount --rbind /sys "$0/sys" &&
		exec env -i PATH="$PATH" "$1" chroot "$0" "${@:2}"' "$root" "${variable:-LC_ALL=C}" "$@" </dev/null
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
	refusals
	verdict $? static_refusals
	inside /bpfprofil run -q -o /tmp/stripped.json -- /stripped &&
		variable=DEBUGINFOD_URLS=http://127.0.0.1:1 inside /bpfprofil report --by lines --symfs "/proc/$$/root" \
			/tmp/stripped.json 2>&1 >"$work/out" | grep -qxF "bpfprofil: report: DEBUGINFOD_URLS: the static bpfprofil has no debuginfod"
	verdict $? static_debuginfod
fi

exit $script_status
