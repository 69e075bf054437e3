#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The limits that bpfprofil-security(7) names are those in the code.
set -uo pipefail
. tests/lib/cli.bash

page=$(sed 's/^\.[A-Z][a-z] //' user/man/bpfprofil-security.7 | tr '\n' ' ')

# value FILE NAME: the value of a constant, which may use others in the file.
value() {
	local text

	text=$(sed -nE "s/^#define $2[[:space:]]+//p; s/.*\<$2 = ([^,}]+).*/\1/p" "user/$1" |
		sed 's:/\*.*::' | head -n 1)
	echo $((${text//[UL]/}))
}

# limit FILE NAME UNIT TEXT: the page contains TEXT, with the constant in UNITs in place of %.
limit() {
	local number text

	number=$(($(value "$1" "$2") / $3))
	text=${4/\%/$(printf "%'d" "$number" | LC_ALL=C sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta')}
	[[ $number -gt 0 && $page == *"$text"* ]]
	verdict $? "limit: $text"
}

mib=$((1 << 20))
limit elf/elf_check.h ELF_SEGMENTS_MAX 1 '% program headers'
limit elf/elf_check.h ELF_SECTIONS_MAX 1 '% sections'
limit elf/elf_check.h ELF_SYMBOLS_MAX 1 '% symbols,'
limit elf/elf_check.h ELF_SYMBOLS_MAX 1 'as any table, % names'
limit elf/elf_check.h ELF_NOTES_MAX $mib '% MiB of notes'
limit elf/elf_check.h ELF_UNPACKED_MAX $mib 'compressed unpack to % MiB'
limit symbol/string_set.h STRING_SET_LONGEST 1 'A name ends after % bytes'
limit symbol/symbol_table.c TABLE_NAMES_MAX $mib 'all names of a table are at most % MiB'
limit symbol/demangle.c NAME_MAX_LENGTH 1 'a demangled name % bytes'
limit symbol/symbol_mini.c UNPACKED_MAX $mib '.gnu_debugdata unpacks to % MiB'
limit symbol/symbol_mini.c DECODER_MEMORY $mib 'with % MiB for the decoder'
limit symbol/allowance.h ALLOWANCE_NAMES 1 'one owner have % seconds of CPU time for their names'
limit symbol/allowance.h ALLOWANCE_LINES 1 'one owner have % seconds of CPU time, all of them six times'
limit symbol/symbol_cache.h SYMBOL_CACHE_BYTES $mib 'keep tables of % MiB'
limit symbol/lines.h LINE_MEMORY_MAX $mib 'takes % MiB at most'
limit symbol/lines.h LINE_JOB_SECONDS 1 'at most, % seconds of CPU time'
limit symbol/lines.h LINE_UNITS_MAX 1 '% units'
limit symbol/lines.h LINE_FUNCTIONS_MAX 1 '% functions'
limit symbol/lines.h LINE_PROGRAM_MAX $mib "% MiB of one unit's line table"
limit symbol/debug_file.c CHECKSUM_MAX $mib 'read up to % MiB'
limit symbol/debug_file.c PACKING_MAX 1 'no larger than % times'
limit symbol/debug_file.c HOLES_MAX $mib 'stores of it, and % MiB'
limit report/source_file.c FILE_MAX $mib 'A file has at most % MiB'
limit report/annotate_lines.c SOURCES_MAX $mib 'those of one function % MiB'
limit symbol/code.h CODE_MAX 1 '% bytes of code'
limit symbol/perf_map.c PERF_MAP_MAX $mib 'Either has at most % MiB'
limit engine/session_jit.c CODES_MAX 1 '% functions are remembered'
limit engine/session_jit.c REST_SHARE 1 'rests for % times as long'
limit agent/http.c REPLY_MAX 1024 'An answer has % KiB'
limit record/control.h CONTROL_READS 1 'and % reads are done'
limit symbol/debug_server.h DEBUG_SERVER_SECONDS 1 'have % seconds in'
limit symbol/debug_server.h DEBUG_SERVER_SPAN 1 'seconds in %.'
limit target/cgroup_walk.c DEPTH_MAX 1 '% levels deep'
limit target/runtimes_impl.h TOOL_PATIENCE_MS 1000 'it has % seconds'
limit target/runtimes_impl.h TOOL_OUTPUT_MAX $mib '% MiB of output'
limit target/tool.c ERRORS_MAX 1024 '% KiB of errors'
limit base/json_reader.c MAX_DEPTH 1 'nested % levels'
limit base/file.h INPUT_UNPACKED_FREE $mib 'gzip packed unpacks to % MiB'
limit base/file.h INPUT_PACKING_MAX 1 'to % times its size'
limit base/file.h INPUT_UNPACKED_PIPE $mib 'from a pipe to % MiB'

[ "$(value symbol/allowance.h ALLOWANCE_OWNERS)" -eq 6 ]
verdict $? 'limit: six times'

exit "$script_status"
