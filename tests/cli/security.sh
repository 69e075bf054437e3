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
limit elf/elf_check.h ELF_SYMBOLS_MAX 1 'and % names'
limit elf/elf_check.h ELF_NOTES_MAX $mib '% MiB of notes'
limit elf/elf_check.h ELF_UNPACKED_MAX $mib 'compressed sections together may unpack to % MiB'
limit symbol/string_set.h STRING_SET_LONGEST 1 'A name is cut after % bytes'
limit symbol/symbol_table.c TABLE_NAMES_MAX $mib 'all names of a table together may have % MiB'
limit symbol/demangle.c NAME_MAX_LENGTH 1 'a demangled name after %;'
limit symbol/symbol_elf.c UNPACKED_MAX $mib '.gnu_debugdata may unpack to % MiB'
limit symbol/symbol_elf.c DECODER_MEMORY $mib 'its decoder may take another % MiB'
limit naming/allowance.h ALLOWANCE_NAMES 1 'To find names for one profile, % seconds of CPU time'
limit naming/allowance.h ALLOWANCE_LINES 1 'For one report, % seconds of CPU time'
limit symbol/symbol_cache.h SYMBOL_CACHE_BYTES $mib 'keeps at most % MiB of tables'
limit symbol/line_job.h LINE_JOB_SECONDS 1 'in at most % seconds of CPU time'
limit symbol/line_job.h LINE_UNITS_MAX 1 '% units'
limit symbol/line_job.h LINE_FUNCTIONS_MAX 1 '% functions'
limit symbol/line_job.h LINE_PROGRAM_MAX $mib "% MiB of each unit's line table"
limit symbol/debug_file.c CHECKSUM_MAX $mib 'can identify may have % MiB'
limit symbol/debug_file.c PACKING_MAX 1 'no more than % times'
limit symbol/debug_file.c HOLES_MAX $mib 'stores of it plus % MiB'
limit report/source_file.c FILE_MAX $mib 'A source file may have % MiB'
limit report/annotate_code.c SOURCES_MAX $mib 'all source files of one function % MiB'
limit reader/confine.c MEMORY_MAX $mib 'Its data may take % MiB'
limit reader/confine.c MEMORY_MIN $mib 'but at least % MiB'
limit reader/process.c ANSWER_MAX $mib 'depending on the request, and % MiB'
limit reader/process.c IDLE_SECONDS 1 'does not work for % seconds'
limit reader/process.c REPLACE_SECONDS 1 'After % seconds of CPU time it is replaced'
limit reader/serve.c CPU_SECONDS 1 'after % the kernel ends it'
limit reader/process.c READERS_MAX 1 'At most % readers'
limit base/opener.h OPENER_COPY_MAX $mib 'a copy of the file, of at most % MiB'
limit base/opener.c OPENERS_MAX 1 'at most % have an opener'
limit base/helper_process.h ABANDONED_MAX 1 'is left behind, up to % of them'
limit symbol/code.h CODE_MAX 1 '% bytes of code'
limit symbol/text_symbols.c PERF_MAP_MAX $mib 'Either file may have % MiB'
limit host/engine/session_jit.c CODES_MAX 1 'may have % functions in memory'
limit host/engine/session_jit.c REST_SHARE 1 'a pause of % times its duration'
limit agent/http.c REPLY_MAX 1024 'An answer may have % KiB'
limit host/record/control.h CONTROL_READS 1 'after % reads'
limit symbol/debug_server.h DEBUG_SERVER_SECONDS 1 'may take % seconds in'
limit symbol/debug_server.h DEBUG_SERVER_SPAN 1 'seconds in any %.'
limit host/targets/cgroups.c DEPTH_MAX 1 '% levels deep'
limit host/targets/runtimes.c TOOL_PATIENCE_MS 1000 'It gets % seconds'
limit host/targets/runtimes.c TOOL_OUTPUT_MAX $mib '% MiB of output'
limit host/targets/runtimes.c ERRORS_MAX 1024 '% KiB of errors'
limit base/json_reader.c MAX_DEPTH 1 'nested % levels'
limit base/file.h INPUT_UNPACKED_FREE $mib 'packed by gzip may unpack to % MiB'
limit base/file.h INPUT_PACKING_MAX 1 'to % times its size'
limit base/file.h INPUT_UNPACKED_PIPE $mib 'from a pipe may unpack to % MiB'

# owners NAME: what the page says of the files of all owners together.
owners() {
	local seconds=$(($(value naming/allowance.h "$1") * $(value naming/allowance.h ALLOWANCE_OWNERS)))

	[[ $page == *"and $seconds on the files of all untrusted owners"* ]]
	verdict $? "limit: $seconds seconds for all owners"
}

owners ALLOWANCE_NAMES
owners ALLOWANCE_LINES

exit "$script_status"
