#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# install.sh BUILD: installs into a temporary root, uses it from there, and checks that uninstalling
# leaves nothing. It works in a copy, because another PREFIX makes other libraries, and tests beside it
# use those of the tree.
set -uo pipefail
. tests/lib/make.bash

build=$1
root=$(mktemp -d)
copy=$(mktemp -d)
trap 'rm -rf "$root" "$copy"' EXIT
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
	(cd "$root" && find . ! -type d -printf '%m %P\n' | sort -k 2)
}

expected() {
	local page section header

	echo 755 usr/bin/bpfprofil
	echo 644 usr/share/bpfprofil/profile.schema.json
	echo 644 usr/share/bash-completion/completions/bpfprofil
	echo 644 usr/share/zsh/site-functions/_bpfprofil
	echo 644 usr/share/fish/vendor_completions.d/bpfprofil.fish
	for header in profil.h sys/profil.h version.h; do
		echo "644 usr/include/bpfprofil/$header"
	done
	echo 644 usr/lib/libbpfprofil.so.0
	echo 777 usr/lib/libbpfprofil.so
	echo 644 usr/lib/libbpfprofil.a
	echo 644 usr/lib/bpfprofil/libbpfprofil-preload.so
	echo 644 usr/lib/pkgconfig/libbpfprofil.pc
	echo 644 usr/lib/systemd/system/bpfprofil.socket
	echo 644 usr/lib/systemd/system/bpfprofil.service
	echo 644 usr/lib/systemd/system/bpfprofil-agent.service
	for page in user/man/*.[1-9] user/man/*.3bpfprofil; do
		section=${page##*.}
		[ ! -e "$page" ] || echo "644 usr/share/man/man${section%bpfprofil}/$(basename "$page")"
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

version_here() {
	sed -n 's/.*BPFPROFIL_VERSION "\(.*\)".*/\1/p' include/bpfprofil/version.h
}

pkg_config() {
	PKG_CONFIG_LIBDIR=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root \
		PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 pkg-config "$@" libbpfprofil
}

pkg_config_version() {
	pkg_config --validate && [ "$(pkg_config --modversion)" = "$(version_here)" ]
}

# consumer NAME COMPILER...: builds a user's program in this language and runs it. If NAME ends in
# _static it is linked statically, otherwise with the library that the run-time linker finds.
consumer() {
	local name=$1 how=() needed=1 flags

	[[ $name != *_static ]] || how=(--static) needed=0
	shift
	read -ra flags < <(pkg_config "${how[@]}" --cflags --libs)
	cat >"$root/consumer" <<-'END'
		#include <bpfprofil/profil.h>
		#include <bpfprofil/version.h>
		#include <stdio.h>
		int main(void)
		{
			if (profil(NULL, 0, 0, 0) || bpfprofil_dialect("v7"))
				return 1;
			return puts(BPFPROFIL_VERSION) < 0;
		}
	END
	"$@" -o "$root/consumer.$name" "$root/consumer" -x none "${flags[@]}" &&
		[ "$(readelf -d "$root/consumer.$name" | grep -c 'NEEDED.*\[libbpfprofil\.so\.0\]')" -eq $needed ] &&
		[ "$(BPFPROFIL_SOCKET=/nonexistent LD_LIBRARY_PATH=$root/usr/lib "$root/consumer.$name")" = "$(version_here)" ]
	verdict $? "consumer_$name"
	rm -f "$root/consumer" "$root/consumer.$name"
}

# overrides FOLDER: what the manual shows for `systemctl edit bpfprofil-agent`, two files.
overrides() {
	mkdir "$1"
	awk -v folder="$1" '/^\[Service\]$/ { name = folder "/" ++nr ".conf" } /^\.Ed$/ { name = "" }
		name { gsub(/\\-/, "-"); print >name }
		END { exit nr != 2 }' user/man/bpfprofil-agent.8
}

# systemd accepts every line of the units. The program is below our root, and not where they say.
units() {
	local dir=$root/units bad=0

	mkdir "$dir"
	cp "$root"/usr/lib/systemd/system/bpfprofil* "$dir"
	overrides "$dir/bpfprofil-agent.service.d" || bad=1
	sed -i "s|^ExecStart=/usr/\(local/\)*bin/bpfprofil |ExecStart=$root/usr/bin/bpfprofil |" "$dir"/*.service "$dir"/*/*.conf
	systemd-analyze verify --man=no "$dir"/*.{service,socket} >"$root/complaints" 2>&1 || bad=1
	[ ! -s "$root/complaints" ] || bad=1
	cat "$root/complaints"
	rm -r "$dir" "$root/complaints"
	return "$bad"
}

# run finds the library that it preloads beside bin/, wherever libraries are installed.
other_libdir() {
	local other=$root/other

	inner_make -s install DESTDIR="$other" PREFIX=/usr LIBDIR=/usr/lib/multi/arch >/dev/null || return 1
	[ -e "$other/usr/lib/multi/arch/libbpfprofil.so.0" ] &&
		[ -e "$other/usr/lib/multi/arch/pkgconfig/libbpfprofil.pc" ] &&
		[ -e "$other/usr/bin/../lib/bpfprofil/libbpfprofil-preload.so" ] || return 1
	inner_make -s uninstall DESTDIR="$other" PREFIX=/usr LIBDIR=/usr/lib/multi/arch >/dev/null &&
		[ -z "$(find "$other" ! -type d -o -name '*bpfprofil*')" ] && rm -r "$other"
}

preload_loads() {
	BPFPROFIL_SOCKET=/nonexistent LD_PRELOAD=$root/usr/lib/bpfprofil/libbpfprofil-preload.so \
		/bin/true 2>&1 | (! grep .)
}

copy_tree "$build" "$copy" || { echo "FAIL install::copy: cannot copy the tree"; exit 1; }
cd "$copy" || exit 1
umask 027
inner_make -s install DESTDIR="$root" PREFIX=/usr >/dev/null
verdict $? install
diff <(expected | sort -k 2) <(installed)
verdict $? files
runs
verdict $? runs
schema_same
verdict $? schema
pkg_config_version
verdict $? pkg_config_version
consumer c "${CC:-gcc}" -Wall -Werror -Wno-nonnull -x c
consumer cxx "${CXX:-g++}" -Wall -Werror -Wno-nonnull -x c++
consumer c_static "${CC:-gcc}" -static -Wno-nonnull -x c
preload_loads
verdict $? preload
other_libdir
verdict $? other_libdir
if command -v systemd-analyze >/dev/null; then
	units
	verdict $? units
else
	echo "SKIP install::units: no systemd-analyze in PATH"
fi
inner_make -s uninstall DESTDIR="$root" PREFIX=/usr >/dev/null &&
	[ -z "$(find "$root" ! -type d -o -name '*bpfprofil*')" ]
verdict $? uninstall
inner_make -s uninstall DESTDIR="$root" PREFIX=/usr >/dev/null
verdict $? uninstall_again
exit $status
