#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# regen.sh [BTF [FILE]]: prints all types of a kernel as one C header, for when the subset in
# vmlinux.h must grow or is compared with a newer kernel. By default it is the running kernel's, in
# build/vmlinux.h. Copy from it only the members that BPF code reads; CO-RE finds their offsets at
# load time.
set -euo pipefail

cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin:/sbin
btf=${1:-/sys/kernel/btf/vmlinux}
out=${2:-build/vmlinux.h}

[ -r "$btf" ] || { echo "regen: no BTF at $btf: a kernel with CONFIG_DEBUG_INFO_BTF has it" >&2; exit 1; }
command -v bpftool >/dev/null || { echo "regen: no bpftool; try: make deps" >&2; exit 1; }
mkdir -p "$(dirname "$out")"
bpftool btf dump file "$btf" format c > "$out.tmp"
mv "$out.tmp" "$out"
echo "$out: the types of $btf ($(uname -r), $(wc -l < "$out") lines)"
