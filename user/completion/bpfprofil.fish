# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# fish completion for bpfprofil, which asks the program what can be at the cursor.

function __bpfprofil_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l answer ($words[1] __complete $words[2..-1] 2>/dev/null)
    set -l head (string split -m 1 ' ' -- $answer[1])
    set -l cur (string replace -- "$head[2]" '' $words[-1])
    switch "$head[1]"
        case command
            __fish_complete_subcommand --commandline $words[(math $head[2] + 1)..-1]
            return
        case file
            set answer '' (__fish_complete_path $cur)
        case dir
            set answer '' (__fish_complete_directories $cur)
        case user
            set answer '' (__fish_complete_users)
        case group
            set answer '' (__fish_complete_groups)
    end
    printf '%s\n' "$head[2]"$answer[2..-1]
end

complete -c bpfprofil -f -a '(__bpfprofil_complete)'
