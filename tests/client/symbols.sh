#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# symbols.sh BUILD: what the libraries export, require and store. The map, the header and the manual
# pages must have the same names.
set -uo pipefail

build=$1
so=$build/libbpfprofil.so.0
status=0

# same NAME EXPECTED GOT
same() {
	if [ "$2" = "$3" ]; then
		echo "PASS client::$1"
	else
		diff <(echo "$2") <(echo "$3")
		echo "FAIL client::$1"
		status=1
	fi
}

exported() {
	nm -D --defined-only --format=posix "$1" | awk '$2 != "A" { sub(/@.*/, "", $1); print $1 }' | sort
}

# The names between global: and local:.
mapped() {
	sed -n '/global:/,/local:/s/^[[:space:]]*\([a-z_]*\);$/\1/p' "$1" | sort
}

# On arm64 the loader has the stack protector's guard.
needed() {
	readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vx 'ld-linux-aarch64.*'
}

# Declared, with a C function's parenthesis, on a line that begins in the first column.
declared() {
	sed -n 's/^\(int\|long\) \([a-z_]*\)(.*/\2/p' include/bpfprofil/profil.h | sort
}

names=$(mapped user/client/libbpfprofil.map)
same exported "$names" "$(exported "$so")"
same declared "$names" "$(declared)"
same man_pages "$names" "$(basename -a -s .3bpfprofil user/man/*.3bpfprofil | sort)"
same preload_exported "$(mapped user/client/preload.map)" "$(exported "$build/libbpfprofil-preload.so")"
same needed libc.so.6 "$(needed "$so")"
same preload_needed libc.so.6 "$(needed "$build/libbpfprofil-preload.so")"
same soname libbpfprofil.so.0 "$(readelf -d "$so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')"

# It uses neither stdio nor memory functions nor anything else that a signal handler must not call. The compiler adds
# calls for its stack protector and, on arm64, to look for atomic instructions.
same calls_of_libc "__errno_location getauxval getenv memcpy memset strcmp strlen strncmp syscall" \
	"$(nm -D -u --format=posix "$so" | awk '$2 == "U" { sub(/@.*/, "", $1); print $1 }' | sort |
		grep -vxE '__stack_chk_(fail|guard)|__getauxval' | tr '\n' ' ' | sed 's/ $//')"
# What is writable: the dialect, whether a call counts, the environment as it was, and the private
# server.
same writable "chosen_dialect counting current settings starting" \
	"$(nm --format=posix "$so" | awk '$2 ~ /^[bBdD]$/ { print $1 }' |
		grep -v '^_\|^\$\|^completed' | sort | tr '\n' ' ' | sed 's/ $//')"
# A statically linked program gets no other global names of ours.
same archive "__wrap___profil $(echo "$names" | tr '\n' ' ' | sed 's/ $//')" \
	"$(nm --defined-only --format=posix "$build/libbpfprofil.a" | awk '$2 ~ /^[TDBR]$/ { print $1 }' |
		grep -v '^client_\|^private_server\|^sys_' | sort | tr '\n' ' ' | sed 's/ $//')"
exit $status
