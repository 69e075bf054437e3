# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What does not depend on the options. What does is written behind it by `bpfprofil completion fish`.

# Whether a command is typed and can have options here: none of its own operands have begun that end
# them. After its name come its options, as argparse wants them, if operands end them.
function __bpfprofil_in -a command
    set -l words (commandline -opc)
    test "$words[2]" = $command; or return
    set -q argv[2]; or return 0
    argparse -s $argv[2..-1] -- $words[3..-1] 2>/dev/null; or return 0
    test (count $argv) -eq 0
end

# What is run has a completion of its own.
function __bpfprofil_command
    set -l words (commandline -opc) (commandline -ct)
    argparse -s $argv -- $words[3..-1] 2>/dev/null; or return
    __fish_complete_subcommand --commandline $argv
end

# What could be a target now.
function __bpfprofil_values -a kind
    set -l words (commandline -opc)
    $words[1] completion --values $kind 2>/dev/null
end

complete -c bpfprofil -f
complete -c bpfprofil -n __fish_use_subcommand -s h -l help -d 'list the commands'
complete -c bpfprofil -n __fish_use_subcommand -l version -d 'show the version, the libbpf and the kernel'
complete -c bpfprofil -n __fish_use_subcommand -a help -d 'the same as --help, or as COMMAND --help'
