# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# bpf/NAME.bpf.c -> build/bpf/NAME.bpf.o -> build/bpf/NAME.o -> build/gen/NAME.skel.h
#
# `bpftool gen object` drops the DWARF, which only the compiler's own checks need, and keeps the
# BTF.

BPF_SRC := $(wildcard bpf/*.bpf.c)
BPF_NAMES := $(patsubst bpf/%.bpf.c,%,$(BPF_SRC))
BPF_OBJ := $(BPF_NAMES:%=$(BUILD)/bpf/%.bpf.o)
BPF_LINKED := $(BPF_NAMES:%=$(BUILD)/bpf/%.o)
# selftest* are the wrappers that the tests run by prog run; the product never loads them.
SKELS := $(patsubst %,$(BUILD)/gen/%.skel.h,$(filter-out selftest selftest_calls,$(BPF_NAMES)))
TEST_SKELS := $(patsubst %,$(BUILD)/gen/%.skel.h,$(filter selftest selftest_calls,$(BPF_NAMES)))

BPF_ARCH := $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(PROCESSOR)))
BPF_CFLAGS := -std=gnu11 -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) \
	-Wall -Wextra -Wno-unused-parameter $(if $(WERROR),-Werror)
BPF_CPPFLAGS := -Ivmlinux -Iinclude -Ibpf

BPF_STAMP := $(call stamp,bpf,$(CLANG) $(BPF_CFLAGS) $(BPF_CPPFLAGS) $(value BPFTOOL))

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c $(BPF_STAMP) | $$(@D)/
	$(call msg,BPF,$@)
	$(Q)$(CLANG) $(BPF_CFLAGS) $(BPF_CPPFLAGS) -MMD -MP -c -o $@ $<

$(BPF_LINKED): $(BUILD)/bpf/%.o: $(BUILD)/bpf/%.bpf.o
	$(call msg,BPFLINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $<

# From 1.5 on, libbpf crashes where there was no memory for one of a skeleton's tables: it looks into as many
# entries as are counted.
$(BUILD)/gen/%.skel.h: $(BUILD)/bpf/%.o | $$(@D)/
	$(call msg,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf | sed 's/if (!s->\(map\|prog\)s) {/&\n\t\ts->\1_cnt = 0;/' > $@

.SECONDARY: $(BPF_OBJ) $(BPF_LINKED)
DEP_FILES += $(BPF_OBJ:.o=.d)
