#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Wrong usage gets one clear line, and a second line if we know what helps; exit status 2.
set -uo pipefail
. tests/lib/cli.bash

usage() {
	local name=$1 text=$2

	shift 2
	expect "usage_$name" 2 "$text" "$bin" "$@"
}

usage nothing "$("$bin" --help)"
usage unknown_command "bpfprofil: unknown command 'rport'
try: bpfprofil report" rport
usage abbreviated_command "bpfprofil: unknown command 'rep'
try: bpfprofil report" rep
usage far_command "bpfprofil: unknown command 'xyzzy'
try: bpfprofil --help" xyzzy
usage global_option "bpfprofil: unknown option '--foo'
try: bpfprofil --help" --foo
usage help_of_unknown "bpfprofil: unknown command 'doctr'
try: bpfprofil doctor" help doctr
usage control_characters "bpfprofil: unknown command 'a\\x0a\\x1b[31m'
try: bpfprofil --help" $'a\n\e[31m'

usage run_option "bpfprofil: run: unknown option '--foo'
try: bpfprofil run --help" run --foo true
# Words of other tools have a hint where the command has what they mean, and are not accepted.
usage meant_command "bpfprofil: unknown command 'record'
try: bpfprofil run" record ls
usage meant_number "bpfprofil: report: unknown option '-n'
try: --limit" report -n 5
usage meant_option "bpfprofil: run: unknown option '--hz'
try: --frequency" run --hz 99 true
usage meant_letter "bpfprofil: attach: unknown option '-p'
try: --pid" attach -p 1
usage meant_not_here "bpfprofil: run: unknown option '-p'
try: bpfprofil run --help" run -p 1
usage meant_elsewhere "bpfprofil: run: unknown option '-a'
try: bpfprofil attach --all" run -a true
usage meant_stacks "bpfprofil: run: unknown option '-g'
try: --callers" run -g true
for word in off-cpu offcpu wall wall-clock; do
	usage "meant_waits_$word" "bpfprofil: attach: unknown option '--$word'
try: --waits" attach --$word --all
done
usage meant_event "bpfprofil: run: unknown option '--event'
try: leaving it out for the CPU clock, or perf record for other events" run --event cycles true
usage meant_event_letter "bpfprofil: run: unknown option '-e'
try: leaving it out for the CPU clock, or perf record for other events" run -e cycles true
usage meant_sort "bpfprofil: report: unknown option '--sort'
try: --by" report --sort comm
usage meant_word "bpfprofil: report: --by 'dso': must be one of functions, objects, lines, bins, process, cgroup, thread, comm, cpu, time
try: --by objects" report --by dso
usage run_nearest "bpfprofil: run: unknown option '--frequncy'
try: --frequency" run --frequncy 99 true
usage glued_value "bpfprofil: attach: unknown option '-d'
try: --duration" attach --all -d5
usage abbreviated_last "bpfprofil: attach: unknown option '--durat'
try: --duration" attach --all --durat
usage run_frequency_0 \
	"bpfprofil: run: --frequency '0': must be a whole number from 1 to 100000" run -F 0 true
usage run_frequency_1e9 \
	"bpfprofil: run: --frequency '1e9': must be a whole number from 1 to 100000" run -F 1e9 true
hz=$(python3 -c 'import time; print("%g" % (1 / time.clock_getres(6)))') # CLOCK_MONOTONIC_COARSE
usage run_tick "bpfprofil: run: --source tick: the scheduler's tick has a rate of its own, $hz Hz here
try: leaving --frequency out" run --source tick -F 99 true
usage run_both "bpfprofil: run: --frequency and --period: both say the rate
try: leaving one of them out" run -F 99 --period 1000000 true

usage run_interval_0 \
	"bpfprofil: run: --interval '0': must be a time of at least 1s, like 10, 90s or 5m" \
	run --interval 0 true
usage run_interval_name "bpfprofil: run: --interval: FILEs of one name would replace each other
try: -o 'bpfprofil-%t.json'" run --interval 1 true
usage run_keep "bpfprofil: run: --keep: there is one FILE only without --interval
try: --interval 60" run --keep 2 true
usage run_split "bpfprofil: run: --split 'procs': must be one of none, process, cgroup, thread
try: --split process" run --split procs true

usage report_hot "bpfprofil: report: --hot: only with --annotate
try: bpfprofil report --annotate PLACE" report --hot
usage report_annotate_by "bpfprofil: report: --annotate: takes no --by
try: leaving it out" report --annotate main --by lines
usage report_syntax "bpfprofil: report: --syntax: only with --annotate or --html
try: bpfprofil report --annotate PLACE" report --syntax intel
usage report_two_trees "bpfprofil: report: --callers: takes no --tree
try: leaving one of them out" report --tree --callers main
usage report_tree_by "bpfprofil: report: --tree: takes no --by
try: leaving one of them out" report --tree --by lines
usage report_depth "bpfprofil: report: --depth: only with --tree, --callers or --callees
try: --tree" report --depth 3
usage report_min "bpfprofil: report: --min: only with --tree, --callers or --callees
try: --tree" report --min 3
usage report_time_depth "bpfprofil: report: --by time: takes no --depth
try: leaving it out" report --by time --callers main --depth 3
usage report_time_tree "bpfprofil: report: --tree: takes no --by
try: leaving one of them out" report --by time --tree
usage report_min_101 "bpfprofil: report: --min '101': is not a percentage from 0 to 100" \
	report --tree --min 101
usage report_inclusive_by "bpfprofil: report: --inclusive: only with --by functions, objects or lines
try: leaving it out" report --inclusive --by process
usage report_html_tree "bpfprofil: report: --html: takes no --tree, the page has it
try: leaving it out" report --html page.html --tree
usage meant_no_children "bpfprofil: report: unknown option '--no-children'
try: leaving it out" report --no-children
usage meant_callers "bpfprofil: report: unknown option '-G'
try: --callers" report -G
usage meant_children "bpfprofil: report: unknown option '--children'
try: --inclusive" report --children
usage report_html_by "bpfprofil: report: --html: takes no --by, the page shows all
try: leaving it out" report --html page.html --by objects
usage report_html_wide "bpfprofil: report: --html: takes no --wide, the page shows all
try: leaving it out" report --html page.html --wide
usage open_alone "bpfprofil: report: --open: only with --html
try: --html FILE" report --open
usage open_pipe "bpfprofil: diff: --open: a browser does not show '-'
try: --html page.html" diff --html - --open a b
usage inline_by "bpfprofil: report: --inline: only with --by functions
try: --by lines, which has inlined functions too" report --inline --by objects
usage diff_html_format "bpfprofil: diff: --html: takes no --format, the page shows all
try: leaving it out" diff --html page.html --format json a b
usage top_nothing "bpfprofil: top: no target given
try: --pid PID, --name PATTERN, --container NAME, --unit NAME, --cgroup PATH or --all" top
usage top_operand "bpfprofil: top: '77': a target is named by an option
try: --pid 77, --name 77, --container 77 or --unit 77" top 77
# Whoever knows perf gives a command whose end is to end the sampling.
usage attach_sleep "bpfprofil: attach: 'sleep': samples running processes, and accepts no command
try: --duration 1, or bpfprofil run -- sleep 1" attach --all sleep 1
usage attach_sleep_alone "bpfprofil: attach: 'sleep': samples running processes, and accepts no command
try: --duration 1.5, or bpfprofil run -- sleep 1.5" attach -- sleep 1.5
usage attach_command "bpfprofil: attach: 'make': samples running processes, and accepts no command
try: --duration T, or bpfprofil run -- make -j ..." attach --all -- make -j 2
usage attach_operand "bpfprofil: attach: 'nginx': a target is named by an option
try: --pid nginx, --name nginx, --container nginx or --unit nginx" attach nginx
usage attach_pids "bpfprofil: attach: '78': a target is named by an option
try: --pid 78, --name 78, --container 78 or --unit 78" attach --pid 77 78
usage top_command "bpfprofil: top: 'sleep': samples running processes, and accepts no command
try: leaving it out, or bpfprofil run -- sleep 1" top --all sleep 1
usage top_delay "bpfprofil: top: --delay '0.01': must be a time of at least 100ms, like 1, 0.5s or 1m" \
	top --all -d 0.01
usage top_by "bpfprofil: top: --by 'lines': must be one of functions, objects, processes, cgroups, comm, threads" \
	top --all --by lines
usage top_split "bpfprofil: top: --by cgroups: with this --split they are not told apart
try: leaving --split out" top --all --by cgroups --split process
usage top_split_comm "bpfprofil: top: --by comm: with this --split they are not told apart
try: leaving --split out" top --all --by comm --split cgroup
usage top_split_threads "bpfprofil: top: --by threads: with this --split they are not told apart
try: leaving --split out" top --all --by threads --split process

usage report_by "bpfprofil: report: --by 'lins': must be one of functions, objects, lines, bins, process, cgroup, thread, comm, cpu, time
try: --by lines" report --by lins
usage report_format "bpfprofil: report: --format 'html': must be one of text, csv, json
try: bpfprofil report --html FILE" \
	report --format html
usage export_two_files "bpfprofil: export: one FILE, not also 'b'
try: bpfprofil merge -o sum.json FILE..." export --format csv a b
usage export_no_format 'bpfprofil: export: --format: not given
try: --format pprof, or another of bpfprofil export --help' export "$golden/profile.json"
usage export_format "bpfprofil: export: --format 'cvs': no such format
try: --format csv" export --format cvs
usage export_far_format "bpfprofil: export: --format 'html': no such format
try: bpfprofil report --html FILE" export --format html
usage meant_format "bpfprofil: export: --format 'flamegraph': no such format
try: bpfprofil export --format folded" export --format flamegraph
usage meant_picture "bpfprofil: export: --format 'svg': no such format
try: --format folded for flamegraph.pl, --format speedscope, or bpfprofil report --html FILE" export --format svg
usage no_format "bpfprofil: export: --format 'xyzzy': no such format
try: bpfprofil export --help" export --format xyzzy
usage export_object_of_csv 'bpfprofil: export: --format csv: takes no --object
try: another --format' export --format csv --object work "$golden/profile.json"
usage export_target_of_raw 'bpfprofil: export: --format raw: takes no --target
try: another --format' export --format raw --target 0 "$golden/profile.json"
usage export_schema_of_file 'bpfprofil: export: --schema: takes neither a FILE nor a --format
try: bpfprofil export --schema' export --schema "$golden/profile.json"
usage export_ddl_of_file 'bpfprofil: export: --ddl: takes no FILE
try: bpfprofil export --format clickhouse --ddl' export --format clickhouse --ddl "$golden/profile.json"
usage export_schema_of_object 'bpfprofil: export: --schema: takes no --object
try: bpfprofil export --schema' export --schema --object work
usage export_schema_of_call 'bpfprofil: export: --schema: takes no call
try: bpfprofil export --schema' export --schema --offset 0
usage export_schema_ddl 'bpfprofil: export: --schema: takes no --ddl
try: bpfprofil export --schema' export --schema --ddl
usage export_ddl_of_detail 'bpfprofil: export: --ddl: takes no --detail
try: bpfprofil export --format clickhouse --ddl' export --format clickhouse --ddl --detail function
usage export_ddl_of_format 'bpfprofil: export: --format csv: takes no --ddl
try: another --format' export --format csv --ddl
usage export_detail_of_format 'bpfprofil: export: --format csv: takes no --detail
try: another --format' export --format csv --detail function
usage completion_nothing 'bpfprofil: completion: no shell given
try: bpfprofil completion bash' completion
usage completion_shell "bpfprofil: completion: 'tcsh': must be one of bash, zsh, fish
try: bpfprofil completion bash" completion tcsh
usage completion_both 'bpfprofil: completion: one shell, or --values and none
try: bpfprofil completion bash' completion --values unit bash
usage doctor_operand "bpfprofil: doctor: takes no operand, not 'x'
try: bpfprofil doctor" doctor x

# defaults NAME STATUS STDERR VALUE COMMAND ARGUMENT...: with these words in BPFPROFIL_COMMAND
defaults() {
	local name=$1 status=$2 text=$3 value=$4

	shift 4
	expect "environment_$name" "$status" "$text" env "BPFPROFIL_${1^^}=$value" "$bin" "$@"
}

defaults unknown 2 "bpfprofil: report: BPFPROFIL_REPORT: unknown option '--limt'
try: --limit" '--limt 3' report
defaults value 2 "bpfprofil: run: BPFPROFIL_RUN: --frequency 'fast': must be a whole number from 1 to 100000" \
	'-F fast' run true
defaults operand 2 "bpfprofil: run: BPFPROFIL_RUN: 'true': must be an option" '-F 99 true' run true
defaults help 2 'bpfprofil: diff: BPFPROFIL_DIFF: --help and --version cannot be defaults' -h diff
defaults long 2 'bpfprofil: diff: BPFPROFIL_DIFF: Argument list too long' "$(printf '%5000s' x)" diff
defaults typed 2 "bpfprofil: report: --limit 'x': must be a whole number from 0 to 4294967295" \
	'--limit 1' report --limit x
defaults of_services 2 "bpfprofil: serve: unknown option '--bogus'
try: bpfprofil serve --help" --nonsense serve --bogus
export BPFPROFIL_REPORT='--limit 1 --format csv'
same environment_applies <("$bin" report --limit 1 --format csv "$golden/profile.json") \
	"$bin" report "$golden/profile.json"
same environment_loses <(BPFPROFIL_REPORT='' "$bin" report --limit 2 --format csv "$golden/profile.json") \
	"$bin" report --limit 2 "$golden/profile.json"
unset BPFPROFIL_REPORT

exit "$script_status"
