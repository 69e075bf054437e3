#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# install.sh BUILD: into a scratch root, used from there, and nothing left when it goes.
set -uo pipefail
. tests/lib/make.bash

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
status=0

verdict() {
	if [ "$1" -eq 0 ]; then
		echo "PASS install::$2"
	else
		echo "FAIL install::$2"
		status=1
	fi
}

installed() {
	(cd "$root" && find . -type f -printf '%m %P\n' | sort -k 2)
}

expected() {
	local page

	echo 755 usr/bin/bpfprofil
	echo 644 usr/share/bpfprofil/profile.schema.json
	for page in user/man/*.[1-9]; do
		[ ! -e "$page" ] || echo "644 usr/share/man/man${page##*.}/$(basename "$page")"
	done
}

runs() {
	local version

	version=$(sed -n 's/.*BPFPROFIL_VERSION "\(.*\)".*/\1/p' include/bpfprofil/version.h)
	"$root/usr/bin/bpfprofil" --version | grep -qF "$version"
}

schema_same() {
	"$root/usr/bin/bpfprofil" export --schema |
		cmp - "$root/usr/share/bpfprofil/profile.schema.json"
}

umask 027
inner_make -s install DESTDIR="$root" PREFIX=/usr >/dev/null
verdict $? install
diff <(expected | sort -k 2) <(installed)
verdict $? files
runs
verdict $? runs
schema_same
verdict $? schema
inner_make -s uninstall DESTDIR="$root" PREFIX=/usr >/dev/null &&
	[ -z "$(find "$root" ! -type d -o -name '*bpfprofil*')" ]
verdict $? uninstall
inner_make -s uninstall DESTDIR="$root" PREFIX=/usr >/dev/null
verdict $? uninstall_again
exit $status
