#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# doctor, as root and as nobody with some capabilities.
set -uo pipefail
. tests/lib/cli.bash

as_nobody() {
	local caps=$1

	shift
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="$caps" --ambient-caps="$caps" \
		"$@"
}

# The state of a feature in "$work/doctor".
state() {
	awk -v id="$1" '$2 == id { print $1 }' "$work/doctor"
}

if [ "$(id -u)" -ne 0 ]; then
	echo "SKIP cli::doctor: not root"
	exit 77
fi
cp "$bin" "$work/bpfprofil"
chmod 755 "$work/bpfprofil"

"$bin" doctor >"$work/doctor"
got=$?
grep -q '^missing' "$work/doctor"
# Whatever the host supports, the verdict must follow from the lines.
[ $((got == 1)) -eq $(($(grep -c '^missing' "$work/doctor") > 0)) ] &&
	tail -n 1 "$work/doctor" | grep -qE '^Profiling can(not)? run\.$'
verdict $? doctor_root
"$bin" doctor --format json >"$work/json"
python3 -m json.tool <"$work/json" >/dev/null
verdict $? doctor_json

as_nobody -all "$work/bpfprofil" doctor >"$work/doctor"
got=$?
[ "$got" -eq 1 ] && [ "$(state privilege)" = missing ] &&
	grep -qF "try: sudo, or: sudo setcap cap_bpf,cap_perfmon+ep $work/bpfprofil" "$work/doctor" &&
	[ "$(state find_vma)" = unknown ] && [ "$(state waits)" = unknown ]
verdict $? doctor_nobody
for caps in -all,+bpf -all,+perfmon; do
	as_nobody "$caps" "$work/bpfprofil" doctor >"$work/doctor"
	got=$?
	[ "$got" -eq 1 ] && [ "$(state privilege)" = missing ]
	verdict $? "doctor_$caps"
done

as_nobody -all,+bpf,+perfmon "$work/bpfprofil" doctor >"$work/doctor"
got=$?
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 2 ]; then
	[ "$got" -eq 1 ] && [ "$(state perf_event)" = missing ] &&
		grep -q 'kernel.perf_event_paranoid=2' "$work/doctor"
	verdict $? doctor_paranoid
else
	[ "$(state privilege)" = ok ] && [ "$(state perf_event)" = ok ] &&
		[ "$(state ptrace)" = limited ] && [ "$(state waits)" = ok ]
	verdict $? doctor_pair
fi

# Root lacks rights in a container only, where there is no sudo that gives them.
setpriv --bounding-set=-sys_admin,-bpf,-perfmon,-sys_ptrace --inh-caps=-all \
	"$bin" doctor --quick >"$work/doctor"
[ "$(state privilege)" = missing ] && grep -q 'try: .*--cap-add SYS_ADMIN' "$work/doctor" &&
	grep -q 'try: .*--cap-add SYS_PTRACE' "$work/doctor" && ! grep -q 'try: sudo' "$work/doctor"
verdict $? doctor_root_without
# Only the first network namespace has the compiler's setting.
"$bin" doctor --quick >"$work/doctor"
here=$(state jit)
unshare -n "$bin" doctor --quick >"$work/doctor"
[ "$(state jit)" = "$here" ]
verdict $? doctor_network_namespace
if unshare -Ur true 2>/dev/null; then
	unshare -Ur "$bin" doctor --quick >"$work/doctor"
	[ "$(state privilege)" = missing ] && grep -q 'why: in a user namespace' "$work/doctor"
	verdict $? doctor_user_namespace
fi

exit "$script_status"
