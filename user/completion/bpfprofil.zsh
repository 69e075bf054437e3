# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What does not depend on the options. The tables of them, _bpfprofil_commands and
# _bpfprofil_arguments, are written before it by `bpfprofil completion zsh`.

# What could be a target now; the options before the kind are for compadd.
_bpfprofil_values() {
	local kind=$argv[-1]
	local -a values

	argv[-1]=()
	values=(${(f)"$(_call_program values ${(q)_bpfprofil_program} completion --values $kind 2>/dev/null)"})
	if [[ $kind == cgroup ]]; then
		_multi_parts "$@" / values
	else
		compadd "$@" -a values
	fi
}

# What is run has a completion of its own; _arguments leaves the "--" before it.
_bpfprofil_command() {
	if [[ $words[1] == -- ]]; then
		shift words
		((CURRENT--))
	fi
	_normal
}

_bpfprofil() {
	local curcontext=$curcontext state line _bpfprofil_program=$words[1]

	_arguments -C \
		'(- *)'{-h,--help}'[list the commands]' \
		'(- *)--version[show the version, the libbpf and the kernel]' \
		'1:command:_bpfprofil_commands' '*::argument:->arguments'
	[[ $state == arguments ]] || return
	curcontext=${curcontext%:*:*}:bpfprofil-$words[1]:
	_bpfprofil_arguments $words[1]
}

if [[ $funcstack[1] == _bpfprofil ]]; then
	_bpfprofil "$@"
else
	compdef _bpfprofil bpfprofil
fi
