#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# `bpfprofil bin` prints what the manual says that it prints.
set -uo pipefail
. tests/lib/cli.bash

if ! command -v mandoc >/dev/null; then
	echo "SKIP cli::manual: no mandoc in PATH"
	exit 0
fi

page=user/man/bpfprofil.7
mkdir "$work/examples"

# Makes a file for each "$ bpfprofil bin ...": the command in its first line, then its output.
mandoc -T ascii -O width=1000 "$page" | sed 's/.\x08//g; s/^ *//' | awk -v dir="$work/examples" '
	/^\$ bpfprofil bin / { file = sprintf("%s/%03d", dir, ++n) }
	/^$/ { file = "" }
	file && /\\$/ { printf "%s", substr($0, 1, length - 1) >file; next }
	file { print >file }'

[ "$(find "$work/examples" -type f | wc -l)" -eq "$(grep -c '^\$ bpfprofil bin ' "$page")" ] &&
	[ -s "$work/examples/001" ]
verdict $? manual_examples
for example in "$work"/examples/*; do
	read -ra words <"$example"
	"$bin" "${words[@]:2}" 2>&1 </dev/null | diff <(sed 1d "$example") -
	verdict $? "manual: ${words[*]:2}"
done

exit "$script_status"
