# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# complete.bash: the start-up file of a bash on a terminal. A TAB writes what is proposed to
# $PROPOSED, one per line, and the resulting line to $TYPED, and ends the shell.

. /usr/share/bash-completion/bash_completion
# shellcheck source=/dev/null
. "$COMPLETION"
PS1=

proposed() {
	_bpfprofil "$@"
	[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}" >>"$PROPOSED"
}

typed() {
	printf '%s\n' "$READLINE_LINE" >"$TYPED"
	kill -KILL $$
}

complete -F proposed bpfprofil
bind 'set completion-query-items 0'
bind 'set page-completions off'
bind -x '"\C-g": typed'
