# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash disable=SC2207
#
# What does not depend on the options. The tables of them, _bpfprofil_options and _bpfprofil_kind,
# are written before it by `bpfprofil completion bash`.

# The words up to the cursor, of which bash has made several at each '=', ':' and '@'; at: where each
# begins in COMP_WORDS; kept: of the last one what stands before the part that readline replaces.
_bpfprofil_words()
{
	local line=${COMP_LINE:0:COMP_POINT} piece i last

	words=() at=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		piece=${COMP_WORDS[i]}
		if ((i == 0)) || [[ $line == [[:space:]]* ]]; then
			line=${line#"${line%%[![:space:]]*}"}
			words+=('') at+=("$i")
		fi
		((i < COMP_CWORD)) || piece=$line
		last=$((${#words[@]} - 1))
		words[last]+=$piece
		line=${line#"$piece"}
	done
	kept=${words[last]}
	[[ $piece == [=:@] ]] || kept=${kept%"$piece"}
}

# Where the cursor is. option: whose value, '-' for an option itself, '' for an operand; cur: what of
# that is typed; operand: the number of the first one.
_bpfprofil_place()
{
	local last=$((${#words[@]} - 1)) word

	option='' cur=${words[last]}
	for ((operand = 2; operand < last; operand++)); do
		word=${words[operand]}
		if [[ $word == -- ]]; then
			((++operand))
			return
		elif [[ " $options " == *" $word= "* ]]; then
			((++operand < last)) && continue
			option=$word
			return
		elif [[ $word != -* && $command_follows ]]; then
			return
		fi
	done
	if [[ $cur == --*=* ]]; then
		option=${cur%%=*} cur=${cur#*=}
	elif [[ $cur == -* ]]; then
		option=-
	fi
}

# pids: also behind a comma.
_bpfprofil_pids()
{
	local pids=(/proc/[0-9]*) before=

	[[ $cur != *,* ]] || before=${cur%,*},
	COMPREPLY=($(compgen -P "$before" -W "${pids[*]#/proc/}" -- "${cur##*,}"))
}

# What is run has a completion of its own, where the package bash-completion is there.
_bpfprofil_command()
{
	if declare -F _command_offset >/dev/null; then
		_command_offset "${at[operand]}"
		return
	fi
	compopt -o filenames
	if ((operand == ${#words[@]} - 1)); then
		COMPREPLY=($(compgen -c -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}

# What could be a target now. Of no use to compgen -W, which takes backslashes for its own.
_bpfprofil_values()
{
	local i

	# Paths and the names of units may hold what must be quoted.
	[[ $1 == container ]] || compopt -o filenames
	mapfile -t COMPREPLY < <("${words[0]}" completion --values "$1" 2>/dev/null)
	for i in "${!COMPREPLY[@]}"; do
		[[ ${COMPREPLY[i]} == "$cur"* ]] || unset "COMPREPLY[i]"
	done
}

_bpfprofil_propose()
{
	local IFS=$'\n'

	case $1 in
	words) COMPREPLY=($(IFS=' ' && compgen -W "$2" -- "$cur")) ;;
	pid | pids) _bpfprofil_pids ;;
	user) COMPREPLY=($(compgen -u -- "$cur")) ;;
	group) COMPREPLY=($(compgen -g -- "$cur")) ;;
	cgroup | container | unit | name) _bpfprofil_values "$1" ;;
	file)
		compopt -o filenames
		COMPREPLY=($(compgen -f -- "$cur"))
		;;
	dir)
		compopt -o filenames
		COMPREPLY=($(compgen -d -- "$cur"))
		;;
	esac
}

_bpfprofil()
{
	local words at kept cur option operand options command_follows kind lead IFS=$' \t\n'

	COMPREPLY=()
	_bpfprofil_words
	if ((${#words[@]} == 2)); then
		cur=${words[1]}
		[[ $cur == -* ]] && option=-
		_bpfprofil_options "$option"
		COMPREPLY=($(compgen -W "$options" -- "$cur"))
		return
	fi
	_bpfprofil_options "${words[1]}"
	_bpfprofil_place
	if [[ $option == - ]]; then
		COMPREPLY=($(compgen -W "${options//=/}" -- "$cur"))
		return
	fi
	_bpfprofil_kind "${words[1]}" "$option"
	if [[ $kind == command ]]; then
		_bpfprofil_command
		return
	fi
	lead=${words[${#words[@]} - 1]}
	lead=${lead%"$cur"}
	_bpfprofil_propose "${kind%% *}" "${kind#* }"
	COMPREPLY=("${COMPREPLY[@]/#/"$lead"}")
	COMPREPLY=("${COMPREPLY[@]#"$kept"}")
}

complete -F _bpfprofil bpfprofil
