#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Completion as each shell does it: it proposes what --help lists, and the possible values.
#
# shellcheck disable=SC2016 # what stands in single quotes is for another shell
set -uo pipefail
. tests/lib/cli.bash

shells=()
PATH=$BUILD_DIR:$PATH

# Makes a runtime and files that are the same on every host.
prepare() {
	mkdir -p "$work/bin" "$work/files/folder" "$work/zsh"
	printf '#!/bin/sh\n[ "$1 $2" = "ps --format" ] && printf "web-1\\nweb@2:x\\n"\n' >"$work/bin/docker"
	chmod 755 "$work/bin/docker"
	touch "$work/files/profile one.json" "$work/files/other"
	PATH=$work/bin:$PATH
	"$bin" completion bash >"$work/bpfprofil.bash"
	"$bin" completion zsh >"$work/zsh/_bpfprofil"
	"$bin" completion fish >"$work/bpfprofil.fish"
	cp tests/lib/complete.zsh "$work/zsh/.zshrc"
	cp tests/lib/complete.bash "$work"
	mkfifo "$work/keys"
	exec {keys}<>"$work/keys"
}

# on_terminal SCRIPT LINE SHELL...: runs a shell with a start-up file of tests/lib, and sends it the
# line, a TAB, and the key that ends it.
on_terminal() {
	local script=$1 line=$2

	shift 2
	rm -f "$work/proposed" "$work/typed"
	touch "$work/proposed"
	printf '%s\t\a' "$line" >&"$keys"
	(cd "$work/files" &&
		COMPLETION=$script PROPOSED=$work/proposed TYPED=$work/typed HOME=$work ZDOTDIR=$work/zsh \
			TERM=dumb timeout 60 script -qec "exec $*" /dev/null <&"$keys" >"$work/screen" 2>&1)
	[ -e "$work/typed" ] || cat "$work/screen"
}

# complete_SHELL LINE: prints what is proposed at its end, one per line.
complete_bash() {
	on_terminal "$work/bpfprofil.bash" "$1" bash --noprofile --rcfile "$work/complete.bash" -i
	sed 's/[[:space:]]*$//' "$work/proposed"
}

complete_zsh() {
	on_terminal "$work/zsh/_bpfprofil" "$1" zsh -d -i
	cat "$work/proposed"
}

complete_fish() {
	(cd "$work/files" && HOME=$work fish -N -c 'source $argv[1]; complete -C $argv[2]' \
		"$work/bpfprofil.fish" "$1" | tee "$work/screen" | cut -f 1)
}

# proposes NAME LINE WORD...: expects exactly these from each shell
proposes() {
	local name=$1 line=$2 shell

	shift 2
	for shell in "${shells[@]}"; do
		diff <([ $# -eq 0 ] || printf '%s\n' "$@" | LC_ALL=C sort) \
			<("complete_$shell" "$line" | LC_ALL=C sort -u)
		verdict $? "complete_${shell}_$name"
	done
}

# becomes NAME LINE TYPED: what bash and zsh make of a line for which there is only one proposal
becomes() {
	local shell

	for shell in "${shells[@]}"; do
		[ "$shell" != fish ] || continue
		"complete_$shell" "$2" >/dev/null
		echo "$3" | diff - <(sed 's/ *$//' "$work/typed")
		verdict $? "becomes_${shell}_$1"
	done
}

# The long options of a command, as --help lists them.
listed() {
	"$bin" "$1" --help | grep -oE '^  (-[a-zA-Z], |    )--[a-z-]+' | grep -oE -- '--[a-z-]+'
}

commands() {
	"$bin" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# Each "--option a|b|c" of a command's --help.
choices() {
	"$bin" "$1" --help | grep -oE -- '--[a-z-]+ [a-z0-9]+(\|[a-z0-9]+)+'
}

prepare
tested=' '
for shell in bash zsh fish; do
	if command -v "$shell" >/dev/null; then
		shells+=("$shell")
	else
		echo "SKIP cli::complete_$shell: no $shell in PATH"
	fi
done
mapfile -t all < <(commands)
proposes help 'bpfprofil help ' "${all[@]}"
proposes commands 'bpfprofil ' "${all[@]}" help
for command in "${all[@]}"; do
	mapfile -t options < <(listed "$command")
	proposes "$command" "bpfprofil $command --" "${options[@]}"
	while read -r option words; do
		[[ $tested != *" $option $words "* ]] || continue
		tested+="$option $words "
		IFS='|' read -ra words <<<"$words"
		proposes "$command$option" "bpfprofil $command $option " "${words[@]}"
	done < <(choices "$command")
done
mapfile -t formats < <("$bin" export --help | sed -n '/^Formats/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')
proposes formats 'bpfprofil export --format ' "${formats[@]}"
proposes shells 'bpfprofil completion ' bash zsh fish
proposes container 'bpfprofil attach --container web' web-1 web@2:x
proposes after_value 'bpfprofil attach --mode user -F 99 --no' --no-children
proposes of_command 'bpfprofil run -F 99 -o out.json -- bpfprofil diff --fail' --fail-above
proposes not_behind_command 'bpfprofil run -q ./none --mod'
# After that TAB a zsh lists the options.
for shell in "${shells[@]}"; do
	nothing=$("complete_$shell" 'bpfprofil doctor ')
	case $shell in
	zsh) grep -qxF -- --color <<<"$nothing" ;;
	*) [ -z "$nothing" ] ;;
	esac
	verdict $? "complete_${shell}_no_operand"
done
# Proposals have the same descriptions as in --help.
for shell in zsh fish; do
	[[ " ${shells[*]} " == *" $shell "* ]] || continue
	"complete_$shell" 'bpfprofil doctor --' >/dev/null
	grep -q 'show this help' "$work/screen"
	verdict $? "complete_${shell}_described"
done
# A pid has its process's name beside it.
cp "$(command -v sleep)" "$work/bin/napper"
"$work/bin/napper" 300 &
one=$!
"$work/bin/napper" 300 &
two=$!
for shell in "${shells[@]}"; do
	proposed=$("complete_$shell" 'bpfprofil attach --pid ')
	if [ "$shell" = bash ]; then
		grep -qx "$one  (napper)" <<<"$proposed" && grep -qx "$two  (napper)" <<<"$proposed"
	else
		grep -qx "$one" <<<"$proposed" && grep -qx "$two" <<<"$proposed" &&
			grep -qE "^${one}[[:space:](]+napper" "$work/screen" &&
			grep -qE "^${two}[[:space:](]+napper" "$work/screen"
	fi
	verdict $? "complete_${shell}_pid"
done
becomes pid "bpfprofil attach --pid $one,$two" "bpfprofil attach --pid $one,$two"
# What a process calls itself cannot reach the terminal.
perl -e '$0 = "a\nb\e]2;c\t"; $| = 1; print "ready\n"; sleep 300' >"$work/named" &
three=$!
until [ -s "$work/named" ]; do sleep 0.1; done
"$bin" __complete attach --pid '' | grep -qxF "$three	a\x0ab\x1b]2;c\x09"
verdict $? complete_pid_of_hostile_name
# What a process of any user calls itself is a word to the shell that completes it, and no command.
hostile='zq`id`$(id)&;'
perl -e '$0 = "$ARGV[0]"; $| = 1; print "ready\n"; sleep 300' "$hostile" >"$work/hostile" &
four=$!
perl -e '$0 = "x\e]2;c"; $| = 1; print "ready\n"; sleep 300' >"$work/hostile_title" &
five=$!
until [ -s "$work/hostile" ] && [ -s "$work/hostile_title" ]; do sleep 0.1; done
becomes hostile_name 'bpfprofil attach --name zq' 'bpfprofil attach --name zq\`id\`\$\(id\)\&\;'
"$bin" __complete attach --name '' >"$work/names"
grep -qxF -- "$hostile" "$work/names" && ! grep -q "$(printf '\e')" "$work/names"
verdict $? complete_name_with_controls
! "$bin" completion --values name | grep -q "$(printf '\e')"
verdict $? complete_values_with_controls
kill "$one" "$two" "$three" "$four" "$five"
# The cgroup that this runs in exists on every host.
own=$(sed -n 's|^[0-9]*:[^:]*:/\(.\)|\1|p' /proc/self/cgroup | head -n 1)
if [ -n "$own" ] && [ -d /sys/fs/cgroup ]; then
	"$bin" completion --values cgroup | grep -qxF -- "$own"
	verdict $? complete_values_cgroup
else
	echo "SKIP cli::complete_values_cgroup: in no cgroup but the root"
fi
becomes long 'bpfprofil run --mode us' 'bpfprofil run --mode user'
becomes joined 'bpfprofil run --mode=us' 'bpfprofil run --mode=user'
becomes letter 'bpfprofil run -o oth' 'bpfprofil run -o other'
becomes glued 'bpfprofil run -qooth' 'bpfprofil run -qoother'
becomes joined_file 'bpfprofil run --output=oth' 'bpfprofil run --output=other'
becomes blank 'bpfprofil report prof' 'bpfprofil report profile\ one.json'
becomes folder 'bpfprofil report --symfs fo' 'bpfprofil report --symfs folder/'
becomes special 'bpfprofil top --container web@2' 'bpfprofil top --container web@2:x'
becomes user 'bpfprofil run -u roo' 'bpfprofil run -u root'
becomes command 'bpfprofil run -- bpfprof' 'bpfprofil run -- bpfprofil'
becomes behind 'bpfprofil run -q bpfprofil doc' 'bpfprofil run -q bpfprofil doctor'
exit "$script_status"
