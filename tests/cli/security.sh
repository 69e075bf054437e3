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
limit elf/elf_check.h ELF_SEGMENTS_MAX 1 'program headers Ta %'
limit elf/elf_check.h ELF_SECTIONS_MAX 1 'sections Ta %'
limit elf/elf_check.h ELF_SYMBOLS_MAX 1 'with % symbols'
limit elf/elf_check.h ELF_SYMBOLS_MAX 1 'and % names'
limit elf/elf_check.h ELF_NOTES_MAX $mib 'notes Ta % MiB'
limit elf/elf_check.h ELF_UNPACKED_MAX $mib 'compressed sections Ta unpack to % MiB'
limit symbol/string_set.h STRING_SET_LONGEST 1 'bytes of a name Ta %, then cut'
limit symbol/symbol_table.c TABLE_NAMES_MAX $mib 'names of a table Ta % MiB'
limit symbol/demangle.c NAME_MAX_LENGTH 1 'bytes of a demangled name Ta %, then cut'
limit symbol/symbol_elf.c UNPACKED_MAX $mib '.gnu_debugdata Ta unpacks to % MiB'
limit symbol/symbol_elf.c DECODER_MEMORY $mib 'another % MiB for the decoder'
limit naming/allowance.h ALLOWANCE_NAMES 1 'names of one profile Ta % and'
limit naming/allowance.h ALLOWANCE_LINES 1 'lines of one report Ta % and'
limit symbol/symbol_cache.h SYMBOL_CACHE_BYTES $mib 'tables that a reader keeps Ta % MiB'
limit symbol/line_job.h LINE_JOB_SECONDS 1 'lines of a file Ta % seconds of CPU time'
limit symbol/line_job.h LINE_UNITS_MAX 1 'units Ta %'
limit symbol/line_job.h LINE_FUNCTIONS_MAX 1 'functions Ta %'
limit symbol/line_job.h LINE_PROGRAM_MAX $mib 'line table of a unit Ta % MiB'
limit symbol/debug_file.c CHECKSUM_MAX $mib 'debug file by checksum Ta % MiB'
limit symbol/debug_file.c PACKING_MAX 1 'plus % times its allocated size'
limit symbol/debug_file.c HOLES_MAX $mib 'at most % MiB plus'
limit report/source_file.c FILE_MAX $mib 'a source file Ta % MiB'
limit report/annotate_code.c SOURCES_MAX $mib 'all of one function % MiB'
limit reader/confine.c MEMORY_MAX $mib 'data of a reader Ta % MiB'
limit reader/confine.c MEMORY_MIN $mib 'at least % MiB'
limit reader/process.c ANSWER_MAX $mib 'an answer Ta % MiB'
limit reader/process.c SLOW_TIMES 1 '% times as much elapsed time'
limit reader/process.c IDLE_SECONDS 1 'a reader without CPU time Ta killed after % seconds'
limit reader/process.c REPLACE_SECONDS 1 'replaced after % seconds'
limit reader/serve.c CPU_SECONDS 1 'killed after %'
limit reader/process.c READERS_MAX 1 'readers at the same time Ta %'
limit base/opener.h OPENER_COPY_MAX $mib "an opener's copy of a file Ta % MiB"
limit base/opener.c OPENERS_MAX 1 'openers Ta %'
limit base/helper_process.h ABANDONED_MAX 1 'cannot be killed Ta % are left behind'
limit symbol/code.h CODE_MAX 1 'code of a function Ta % bytes'
limit symbol/text_symbols.c PERF_MAP_MAX $mib 'map or dump of a JIT Ta % MiB'
limit host/engine/session_jit.c CODES_MAX 1 'functions of maps in memory Ta %;'
limit host/engine/session_jit.c REST_SHARE 1 '% times its duration'
limit agent/http.c REPLY_MAX 1024 'answer of a backend Ta % KiB'
limit host/record/control.h CONTROL_READS 1 '% at a time'
limit symbol/debug_server.h DEBUG_SERVER_SECONDS 1 'requests to debuginfod Ta % seconds in'
limit symbol/debug_server.h DEBUG_SERVER_SPAN 1 'seconds in any %'
limit host/targets/cgroups.c DEPTH_MAX 1 'depth of control groups Ta %'
limit host/targets/runtimes.c TOOL_PATIENCE_MS 1000 'tool for containers Ta % seconds'
limit host/targets/runtimes.c TOOL_OUTPUT_MAX $mib '% MiB of output'
limit host/targets/runtimes.c ERRORS_MAX 1024 '% KiB of errors'
limit base/json_reader.c MAX_DEPTH 1 'depth of JSON Ta %'
limit base/file.h INPUT_UNPACKED_FREE $mib 'packed by gzip Ta unpacks to % MiB'
limit base/file.h INPUT_PACKING_MAX 1 'to % times its size'
limit base/file.h INPUT_UNPACKED_PIPE $mib 'from a pipe to % MiB'
limit unwind/unwind_table.h UNWIND_ROWS_MAX 1 'rows and descriptions Ta %'
limit unwind/unwind_table.h UNWIND_SEGMENTS_MAX 1 'text Ta % segments'

# owners NAME: what the page says of the files of all owners together.
owners() {
	local seconds=$(($(value naming/allowance.h "$1") * $(value naming/allowance.h ALLOWANCE_OWNERS)))

	[[ $page == *" and $seconds seconds "* ]]
	verdict $? "limit: $seconds seconds for all owners"
}

owners ALLOWANCE_NAMES
owners ALLOWANCE_LINES

exit "$script_status"
