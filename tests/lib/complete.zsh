# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# complete.zsh: the start-up file of a zsh on a terminal. A TAB writes what is proposed to
# $PROPOSED, one per line, and the resulting line to $TYPED, and ends the shell.

PROMPT=
LISTMAX=10000
fpath=($COMPLETION:h $fpath)
autoload -Uz compinit
compinit -u -d $ZDOTDIR/dump
bindkey '^I' complete-word
bindkey '^G' typed

compadd() {
	local -a proposed

	# With these options compadd only queries.
	if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
		builtin compadd -A proposed "$@"
		(( $#proposed )) && print -rl -- $proposed >>$PROPOSED
	fi
	builtin compadd "$@"
}

typed() {
	print -r -- "$BUFFER" >$TYPED
	kill -KILL $$
}
zle -N typed
