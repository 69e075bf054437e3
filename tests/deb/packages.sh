#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# packages.sh BUILD: the packages that `make deb` made can be installed, run, and purged without a
# trace, and lintian finds nothing. All of it happens in a root whose changes go to a temporary
# overlay. Packages of another processor are only read by lintian.
set -uo pipefail

build=$1
status=0
shopt -s extglob
packages=("$build"/deb/!(*-dbgsym_*).deb)

verdict() {
	if [ "$1" -eq 0 ]; then
		echo "PASS deb::$2"
	else
		echo "FAIL deb::$2: status $1"
		status=1
	fi
}

# What the overlay contains that differs from the host, except for what dpkg and its triggers keep
# for themselves. A directory that was only written to is listed as well.
left_over() {
	local path

	(cd "$1" && find . \( -path ./var/lib/dpkg -o -path ./var/cache -o -path ./var/log -o \
		-path ./etc/ld.so.cache -o -path ./tmp \) -prune -o -print) |
		while read -r path; do
			[ -d "$1/$path" ] && [ -d "/$path" ] || echo "${path#.}"
		done
}

# A program that is linked with the library as its manual says.
consumer() {
	local flags

	read -ra flags < <(pkg-config --cflags --libs libbpfprofil)
	printf '%s\n' '#include <bpfprofil/profil.h>' '#include <stddef.h>' \
		'int main(void) { return profil(NULL, 0, 0, 0) || bpfprofil_dialect("v7"); }' \
		>/tmp/consumer.c
	gcc -Wno-nonnull -o /tmp/consumer /tmp/consumer.c "${flags[@]}" &&
		ldd /tmp/consumer | grep '/libbpfprofil\.so\.0 ' >/dev/null && BPFPROFIL_SOCKET=/nonexistent /tmp/consumer
}

samples() {
	cd /tmp && head -c 30M /dev/urandom >noise &&
		bpfprofil run -q -o gzip.json -- gzip -k noise &&
		bpfprofil report --by objects gzip.json >table && grep -q gzip table
}

preloads() {
	cd /tmp && bpfprofil run -q --preload -o preload.json -- true
}

complete() {
	[ -s /usr/share/bash-completion/completions/bpfprofil ] &&
		[ -s /usr/share/zsh/vendor-completions/_bpfprofil ] &&
		[ -s /usr/share/fish/vendor_completions.d/bpfprofil.fish ]
}

# dpkg's output is shown only if it fails.
quietly() {
	"$@" >/tmp/dpkg.log 2>&1 && return
	cat /tmp/dpkg.log
	return 1
}

inside() {
	quietly dpkg -i /tmp/debs/*.deb
	verdict $? install
	dpkg -V bpfprofil libbpfprofil0 libbpfprofil-dev
	verdict $? verify
	samples
	verdict $? samples
	preloads
	verdict $? preloads
	consumer
	verdict $? consumer
	complete
	verdict $? completions
	mkdir -p /var/lib/bpfprofil
	quietly dpkg --purge libbpfprofil-dev libbpfprofil0 bpfprofil
	verdict $? purge
	exit $status
}

# In mounts of its own, which vanish with it.
outside() {
	local root=$1

	mount -t tmpfs none "$root" && mkdir "$root"/{upper,work,all} &&
		mount -t overlay overlay -o "lowerdir=/,upperdir=$root/upper,workdir=$root/work" \
			"$root/all" || return 77
	for dir in proc sys dev; do
		mount --rbind "/$dir" "$root/all/$dir" || return 77
	done
	mount -t tmpfs none "$root/all/tmp" && mkdir "$root/all/tmp/debs" &&
		cp "${packages[@]}" "$root/all/tmp/debs" && cp "$0" "$root/all/tmp/packages.sh" || return 77
	chroot "$root/all" /tmp/packages.sh "$build" inside || status=1
	left_over "$root/upper" | (! grep .)
	verdict $? nothing_left
	return $status
}

case ${2:-} in
inside) inside ;;
outside) outside "$3" ;;
*)
	lintian --allow-root --fail-on error,warning "${packages[@]}"
	verdict $? lintian
	arch=$(dpkg-deb -f "${packages[0]}" Architecture)
	if [ "$arch" != "$(dpkg --print-architecture)" ]; then
		echo "SKIP deb::install: the packages are for $arch"
		exit $status
	fi
	root=$(mktemp -d)
	trap 'rmdir "$root"' EXIT
	unshare -m --propagation private "$0" "$build" outside "$root"
	case $? in
	0) ;;
	77) echo "SKIP deb::install: no overlay of the root can be mounted here" ;;
	*) status=1 ;;
	esac
	exit $status
	;;
esac
