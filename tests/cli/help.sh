#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# --help, --version and the manual exist, agree, and are complete.
set -uo pipefail
. tests/lib/cli.bash

commands() {
	"$bin" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# The options of a command as --help lists them, one per line: "-F, --frequency HZ".
help_options() {
	"$bin" "$1" --help | grep -oE '^  (-[a-zA-Z], |    )--[a-z-]+( [^ ]+)?' | sed 's/^ *//' | sort
}

# The same from the manual, from the lists whose items begin with an option.
man_options() {
	sed -n '/^OPTIONS/,/^[A-Z]/p' "$work/page" | sed 's/^ *//' |
		grep -oE '^(-[a-zA-Z], )?--[a-z-]+( [^ ]+)?$' | sort
}

help_to_full_disk() {
	"$bin" "$1" --help >/dev/full
}

"$bin" --version >"$work/version" && {
	version=$(sed -n 's/.*BPFPROFIL_VERSION "\(.*\)".*/\1/p' include/bpfprofil/version.h)
	[ "$(sed -n 1p "$work/version")" = "bpfprofil $version" ] &&
		sed -n 2p "$work/version" | grep -qE '^libbpf v[0-9]+\.[0-9]+' &&
		[ "$(sed -n 3p "$work/version")" = "kernel $(uname -srm)" ]
}
verdict $? version

[ "$(commands | tr '\n' ' ')" = 'run attach top report export diff merge agent serve bin doctor completion ' ]
verdict $? commands

for command in $(commands); do
	page=$(echo "$BUILD_DIR"/man/bpfprofil-"$command".[18])
	"$bin" "$command" --help >"$work/help" 2>"$work/err" && [ ! -s "$work/err" ] &&
		[ "$(sed '/^Examples:/,$d' "$work/help" | wc -L)" -le 80 ] && grep -q '^Examples:$' "$work/help" &&
		! grep -q ' $' "$work/help"
	verdict $? "help_$command"
	"$bin" help "$command" | cmp -s - "$work/help"
	verdict $? "help_command_$command"
	"$bin" "$command" --version | cmp -s - "$work/version"
	verdict $? "version_$command"
	expect "help_full_disk_$command" 1 \
		"bpfprofil: $command: standard output: No space left on device" \
		help_to_full_disk "$command"
	for heading in NAME SYNOPSIS DESCRIPTION OPTIONS PRIVILEGES 'EXIT STATUS' EXAMPLES; do
		grep -qE "^\\.Sh $heading" "$page"
		verdict $? "man_${command}_${heading// /_}"
	done
	grep -qx "\.It Cm $command" user/man/bpfprofil.1 &&
		[ "$(grep -cE "^\.Xr bpfprofil-$command [18]( [.,])?\$" user/man/bpfprofil.1)" -ge 2 ]
	verdict $? "man_${command}_in_bpfprofil"
	[[ $command != @(run|attach) ]] || grep -q '^\.Sh OVERHEAD$' "$page"
	verdict $? "man_${command}_overhead"
	if ! command -v mandoc >/dev/null; then
		echo "SKIP cli::man_$command: no mandoc in PATH"
		continue
	fi
	mandoc -T ascii -O width=1000 "$page" | sed 's/.\x08//g' >"$work/page"
	diff <(help_options "$command") <(man_options)
	verdict $? "man_${command}_options"
	# Every example of --help is in the manual too.
	while IFS= read -r line; do
		grep -qxF -- "           $line" "$work/page"
		verdict $? "man_${command}_example: $line"
	done < <(sed -n '/^Examples:/,/^$/s/^  \([a-z].*\)/\1/p' "$work/help")
done

exit "$script_status"
