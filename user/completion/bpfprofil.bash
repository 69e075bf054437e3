# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# bash completion for bpfprofil, which asks the program what can be at the cursor.

_bpfprofil()
{
	local line=${COMP_LINE:0:COMP_POINT} words=() at=() piece i kept kind lead cur IFS=$'\n'

	# bash divides a word at each '=', ':' and '@'. at: where each word begins in COMP_WORDS;
	# kept: the part of the last one before what readline replaces.
	for ((i = 0; i <= COMP_CWORD; i++)); do
		piece=${COMP_WORDS[i]}
		if ((i == 0)) || [[ $line == [[:space:]]* ]]; then
			line=${line#"${line%%[![:space:]]*}"}
			words+=('') at+=("$i")
		fi
		((i < COMP_CWORD)) || piece=$line
		words[${#words[@]} - 1]+=$piece
		line=${line#"$piece"}
	done
	kept=${words[-1]}
	[[ $piece == [=:@] ]] || kept=${kept%"$piece"}

	{
		IFS=' ' read -r kind lead
		mapfile -t COMPREPLY
	} < <("${words[0]/#\~/$HOME}" __complete "${words[@]:1}" 2>/dev/null)
	cur=${words[-1]#"$lead"}
	case $kind in
	command)
		# The command to run has its own completion, if the package bash-completion is
		# installed.
		declare -F _command_offset >/dev/null && _command_offset "${at[lead]}" && return
		compopt -o filenames
		((lead < ${#words[@]} - 1)) && kind=-f || kind=-c
		mapfile -t COMPREPLY < <(compgen "$kind" -- "$cur")
		return
		;;
	file) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	dir) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
	user) mapfile -t COMPREPLY < <(compgen -u -- "$cur") ;;
	group) mapfile -t COMPREPLY < <(compgen -g -- "$cur") ;;
	pid) compopt -o nosort 2>/dev/null ;;&
	# Of paths a list shows the last parts.
	cgroup) compopt -o filenames -o noquote 2>/dev/null ;;&
	*)
		for i in "${!COMPREPLY[@]}"; do
			piece=${COMPREPLY[i]}
			# Any user chooses what a process is called, and the shell would run a name in
			# backticks. readline's own quoting of file names leaves those and $(...) as they are.
			[[ $kind != @(cgroup|unit|name|container) ]] || printf -v "COMPREPLY[i]" %q "$piece"
			[[ $piece == "$cur"* || ${COMPREPLY[i]} == "$cur"* ]] || unset "COMPREPLY[i]"
		done
		# bash has no descriptions, so a list of pids has them behind the pids. What bash may
		# put into the line is without: a single one, and what menu-complete (37) and
		# insert-completions (42) put there.
		if [[ $kind == pid && ${#COMPREPLY[@]} -gt 1 && $COMP_TYPE != @(37|42) ]]; then
			COMPREPLY=("${COMPREPLY[@]/%/)}")
			COMPREPLY=("${COMPREPLY[@]/$'\t'/  (}")
		fi
		COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
		;;
	esac
	COMPREPLY=("${COMPREPLY[@]/#/"$lead"}")
	# What was typed bare may be quoted in the proposals.
	printf -v piece %q "$kept"
	for i in "${!COMPREPLY[@]}"; do
		[[ ${COMPREPLY[i]} == "$kept"* ]] || kept=$piece
		COMPREPLY[i]=${COMPREPLY[i]#"$kept"}
	done
}

complete -F _bpfprofil bpfprofil
