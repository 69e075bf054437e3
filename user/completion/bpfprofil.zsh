#compdef bpfprofil
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# zsh completion for bpfprofil, which asks the program what can be at the cursor, or at $1 if given.

_bpfprofil() {
	local -a call=("${words[1]/#\~/$HOME}" __complete)
	local -a answer

	(( CURRENT > 2 )) && call+=("${(@Q)words[2,CURRENT-1]}")
	answer=("${(@f)$(_call_program proposals ${(qq)call} ${(qq)1-$PREFIX} 2>/dev/null)}")
	local kind=${answer[1]%% *} lead=${answer[1]#* }
	shift answer
	[[ $kind != (commands|options) ]] || answer=("${(@)answer/$'\t'/:}")
	[[ $kind == command || -z $lead ]] || compset -P ${(b)lead}
	case $kind in
	command)
		shift $lead words
		(( (CURRENT -= lead) == 1 )) && _command_names -e || _normal
		;;
	any) [[ -n $lead ]] && _message -e $lead || _bpfprofil - ;;
	file) _files ;;
	dir) _files -/ ;;
	pid)
		local -a shown=("${(@)answer/$'\t'/  }") pids=("${(@)answer%%$'\t'*}")
		compadd -l -V processes -d shown -a -- pids
		;;
	user) _users ;;
	group) _groups ;;
	cgroup) _multi_parts / answer ;;
	commands) _describe -t commands command answer ;;
	options) _describe -O option answer ;;
	*) compadd -a -- answer ;;
	esac
}

if [[ $funcstack[1] == _bpfprofil ]]; then
	_bpfprofil "$@"
else
	compdef _bpfprofil bpfprofil
fi
