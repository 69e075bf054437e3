#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# bin, and export --format raw: options and output. Unit tests show that the arithmetic is right in
# every case.
set -uo pipefail
. tests/lib/cli.bash

unset BPFPROFIL_DIALECT

# shows NAME OUTPUT ARGUMENT...: expects exactly these lines, and nothing on stderr
shows() {
	local name=$1 text=$2 got=0

	shift 2
	"$bin" bin "$@" >"$work/out" 2>"$work/err" || got=$?
	if [ "$got" -eq 0 ] && [ "$(cat "$work/out")" = "$text" ] && [ ! -s "$work/err" ]; then
		pass "bin_$name"
	else
		fail "bin_$name" "status $got: $(cat "$work/out" "$work/err")"
	fi
}

refused() {
	local name=$1 text=$2

	shift 2
	expect "bin_$name" 2 "$text" "$bin" bin "$@"
}

one=(--offset 0x401000 --scale 0x4000 --size 512)
shows profil '0x401234 70 0x401230 0x401237
0x401000 0 0x401000 0x401007
0x400fff below
0x4017ff 255 0x4017f8 0x4017ff
0x401800 beyond' --dialect bsd44 "${one[@]}" 0x401234 4198400 0x400fff 0x4017ff 0x401800
shows off '0x401234 off' --dialect bsd43 --offset 0x401000 --scale 1 --size 512 0x401234
shows one_is_a_scale '0x401234 0 0x401000 0x420fff' \
	--dialect bsd44 --offset 0x401000 --scale 1 --size 512 0x401234
shows low_16_bits '0x1000 off' --dialect svr4 --offset 0 --scale 0x20000 --size 64 0x1000
shows octal '0x2 1 0x2 0x3' --dialect v7 --offset 0 --scale 0177777 --size 64 02
shows empty_buffer '0x401234 beyond' --offset 0x401000 --scale 0x4000 --size 1 0x401234
shows irix_overflow '0x401234 overflow' --dialect irix --offset 0 --scale 2 --size 2 0x401234
shows widths '0x401234 17 0x401220 0x40123f' --dialect irix "${one[@]}" --width 8 0x401234
shows end_of_memory '0xffffffffffffffff 7 0xfffffffffffffffe 0xffffffffffffffff' \
	--offset 0xfffffffffffffff0 --scale 0x10000 --size 64 0xffffffffffffffff

regions=(--region 0x1000:0x10000:0x4000 --region 0x2000:0x10000:0x100)
shows sprofil '0x1ffe 0 2047 0x1ffe 0x1fff
0x2000 1 0 0x2000 0x2001
0x2200 0 2304 0x2200 0x2201
0xfff outside' "${regions[@]}" 0x1ffe 0x2000 0x2200 0xfff
shows sprofil_irix '0x2200 overflow' --dialect irix "${regions[@]}" --region 0:2:2 0x2200
shows sprofil_hole '0x1fff 0 0 0x1000 0x1fff' \
	--region 0x1000:2:8 --region 0x2000:65536:4 0x1fff

printf '0x401234 0x400fff\n\n\t4198400\r\n0x401800' >"$work/pcs"
from_stdin() {
	"$bin" bin --dialect bsd44 "${one[@]}" - <"$work/pcs"
}
[ "$(from_stdin)" = '0x401234 70 0x401230 0x401237
0x400fff below
0x401000 0 0x401000 0x401007
0x401800 beyond' ]
verdict $? bin_stdin
BPFPROFIL_DIALECT=v7 shows environment '0x401004 1 0x401004 0x40100b' "${one[@]}" 0x401004
echo 0x1x >"$work/pcs"
expect bin_stdin_no_pc 1 "bpfprofil: bin: standard input: '0x1x': not a pc: must be a number of \
at most 64 bits" from_stdin
printf '0x401234\0junk\n' >"$work/pcs"
expect bin_stdin_no_text 1 'bpfprofil: bin: standard input: not a text' from_stdin
from_folder() {
	"$bin" bin "${one[@]}" - <"$work"
}
expect bin_stdin_folder 1 'bpfprofil: bin: standard input: Is a directory' from_folder

# The input has no end, but the output has.
without_end() {
	yes 0x401000 | timeout 30 "$bin" bin "${one[@]}" -
}
until_head() {
	without_end | head -n 1
	[ "${PIPESTATUS[*]}" = '1 0' ]
}
[ "$(until_head 2>"$work/err" && echo ends)" = '0x401000 0 0x401000 0x401007
ends' ] && [ ! -s "$work/err" ]
verdict $? bin_reader_leaves
until_full() {
	without_end >/dev/full
}
expect bin_stdin_disk_full 1 'bpfprofil: bin: standard output: No space left on device' until_full

refused no_pc 'bpfprofil: bin: no pc given
try: - to read pcs from standard input' "${one[@]}"
refused no_size 'bpfprofil: bin: --size: not given
try: --offset 0x401000 --scale 65536 --size 4096' --offset 1 --scale 2 0x1
refused bad_pc "bpfprofil: bin: 'main': not a pc: must be a number of at most 64 bits" \
	"${one[@]}" 0x401000 main
refused wide_pc "bpfprofil: bin: '0x10000000000000000': not a pc: must be a number of at most 64 \
bits" "${one[@]}" 0x10000000000000000
refused bad_scale "bpfprofil: bin: --scale '1/2': must be a number of at most 64 bits" \
	--offset 1 --scale 1/2 --size 2 1
refused bad_width "bpfprofil: bin: --width '3': must be one of 2, 4, 8" "${one[@]}" --width 3 1
refused bad_dialect "bpfprofil: bin: --dialect 'bsd': must be one of glibc, v7, svr4, solaris, \
bsd43, bsd44, bsd44doc, irix
try: --dialect bsd43" --dialect bsd "${one[@]}" 1
BPFPROFIL_DIALECT=sunos refused bad_environment "bpfprofil: bin: BPFPROFIL_DIALECT 'sunos': no \
such dialect
try: BPFPROFIL_DIALECT=glibc" "${one[@]}" 1
refused scale_of_bsd44 'bpfprofil: bin: --scale 0x10001: bsd44 has none above 65536 (EINVAL)' \
	--dialect bsd44 --offset 0 --scale 0x10001 --size 2 1
refused region "bpfprofil: bin: --region '1:2': must be OFFSET:SCALE:SIZE" --region 1:2 1
refused region_tail "bpfprofil: bin: --region '1:2:3:4': must be OFFSET:SCALE:SIZE" \
	--region 1:2:3:4 1
refused both 'bpfprofil: bin: --region: stands for --offset, --scale and --size' \
	"${one[@]}" "${regions[@]}" 1
refused overflow_last 'bpfprofil: bin: --region 0x0:0x2:2: irix wants the overflow bin last (EINVAL)' \
	--dialect irix --region 0:2:2 "${regions[@]}" 1
many=()
for ((i = 0; i < 4096; i++)); do
	many+=(--region "$((i * 16)):65536:16")
done
shows most_regions '0xfff2 4095 1 0xfff2 0xfff3' "${many[@]}" 0xfff2
refused too_many "bpfprofil: bin: --region '1:2:3': more than 4096 regions (E2BIG)" \
	"${many[@]}" --region 1:2:3 1
to_full_disk() {
	"$bin" bin "${one[@]}" 1 >/dev/full
}
expect bin_disk_full 1 'bpfprofil: bin: standard output: No space left on device' to_full_disk

# raw: the sample's object has 1, 20, 500 and 40 ticks at 0x1000, 0x1008, 0x1010 and 0x1011.
raw() {
	"$bin" export --format raw "$@" "$golden/profile.json"
}
raw_bytes() {
	raw --offset 0x1000 --scale 0x10000 --size 19 "$@" 2>&1 | od -An -v -tu2
}
[ "$(raw_bytes)" = '     1     0     0     0    20     0     0     0
   540     0' ]
verdict $? raw
[ "$(raw_bytes --width 4 --dialect irix --object work)" = '     1     0     0     0    20     0     0     0
     0     0' ]
verdict $? raw_width
raw --region 0x1000:0x10000:4 --region 0:2:2 --object work -o "$work/raw" &&
	[ "$(od -An -tu2 "$work/raw")" = '     1     0   989' ]
verdict $? raw_regions
gzipped() {
	raw --offset 0x1000 --scale 0x10000 --size 64 -o "$work/raw.gz" &&
		[ "$(gzip -dc "$work/raw.gz" | wc -c)" -eq 64 ]
}
gzipped
verdict $? raw_gz
expect raw_no_call 2 'bpfprofil: export: --offset: not given
try: --offset 0x401000 --scale 65536 --size 4096' raw
expect raw_other_format 2 'bpfprofil: export: --format csv: takes no call
try: another --format' "$bin" export --format csv --scale 2 "$golden/profile.json"
expect raw_width_8 2 "bpfprofil: export: --width '8': must be one of 2, 4" raw --width 8
expect raw_object 1 "bpfprofil: export: raw: --object 'gone': not in the profile
try: bpfprofil report --by objects" raw --offset 0 --scale 2 --size 2 --object gone
rm -f "$work/raw"
expect raw_wide_bin 1 "bpfprofil: export: raw: [jit 77]\\x0asecond line: its bin of 4096 bytes at \
0x7f0000003000 falls into more than one counter
try: a smaller --scale, or bpfprofil run --bytes-per-bin 1" \
	raw --offset 0x7f0000003000 --scale 65536 --size 64 -o "$work/raw"
[ ! -e "$work/raw" ]
verdict $? raw_nothing_written
sed 's/\[16, *500\]/[16, 33268]/; s/"binned": 940/"binned": 33708/; s/"total": 1000,/"total": 33768,/
	s/"binned": 1000/"binned": 33768/; s/"total": 1060/"total": 33828/' "$golden/profile.json" \
	>"$work/hot.json"
"$bin" export --format raw --dialect solaris --offset 0x1000 --scale 0x10000 --size 32 \
	"$work/hot.json" >"$work/raw" 2>"$work/err" &&
	[ "$(cat "$work/err")" = 'bpfprofil: export: the counter at byte 16 of the buffer reached 32767 and ended it' ] &&
	[ "$(od -An -tu2 -j16 -N2 "$work/raw")" = ' 32767' ]
verdict $? raw_limit

exit "$script_status"
