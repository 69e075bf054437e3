#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# hardening.sh BUILD: a plain make builds with the same hardening as the package, because root reads
# other users' bytes with it.
set -uo pipefail

build=$1
program=$build/bpfprofil
status=0

# verdict NAME: judges the previous command
verdict() {
	if [ "$1" -eq 0 ]; then
		echo "PASS hardening::$2"
	else
		echo "FAIL hardening::$2"
		status=1
	fi
}

imports() {
	nm -D --undefined-only "$1" | grep -c "$2" || true
}

# A linked library may have it, which says nothing about our code.
own_stack_protector() {
	nm --undefined-only "$build/obj/user/symbol/demangle.o" | grep -q ' __stack_chk_fail'
}

readelf -hW "$program" | grep -q 'Type:.*DYN'
verdict $? position_independent
readelf -lW "$program" | grep -q GNU_RELRO && readelf -dW "$program" | grep -q 'Flags:.*NOW'
verdict $? relocations_read_only
! readelf -lW "$program" | grep -E '^ +(LOAD|GNU_STACK) .* RWE '
verdict $? nothing_written_and_run
if [[ $build == *san-* ]]; then
	exit $status
fi
own_stack_protector
verdict $? stack_protector
[ "$(imports "$program" '_chk@')" -ge 5 ]
verdict $? fortify
for library in "$build"/libbpfprofil.so.0 "$build"/libbpfprofil-preload.so; do
	readelf -dW "$library" | grep -q 'NOW' && [ "$(imports "$library" ' __stack_chk_fail')" -eq 1 ]
	verdict $? "$(basename "$library")"
done
case $(readelf -hW "$program") in
*X86-64*) marks='IBT, SHSTK' ;;
*AArch64*) marks='BTI, PAC' ;;
esac
readelf -nW "$build/obj/user/cli/main.o" | grep "$marks" >/dev/null
verdict $? control_flow

exit $status
