# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# bpf/NAME.bpf.c -> build/bpf/NAME.bpf.o -> build/bpf/NAME.o -> build/gen/NAME.skel.h, and the same from
# tests/bpf/programs for the wrappers that the tests run by prog run
#
# `bpftool gen object` drops the DWARF, which only the compiler's own checks need, and keeps the
# BTF.

BPF_SRC := $(wildcard bpf/*.bpf.c)
TEST_BPF_SRC := $(wildcard tests/bpf/programs/*.bpf.c)
BPF_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(BPF_SRC) $(TEST_BPF_SRC))
BPF_LINKED := $(BPF_OBJ:.bpf.o=.o)
SKELS := $(BPF_SRC:bpf/%.bpf.c=$(BUILD)/gen/%.skel.h)
TEST_SKELS := $(TEST_BPF_SRC:tests/bpf/programs/%.bpf.c=$(BUILD)/gen/%.skel.h)

BPF_ARCH := $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(PROCESSOR)))
BPF_CFLAGS := -std=gnu11 -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) \
	-Wall -Wextra -Wno-unused-parameter $(if $(WERROR),-Werror)
BPF_CPPFLAGS := -Ivmlinux -Iinclude -Ibpf

BPF_STAMP := $(call stamp,bpf,$(CLANG) $(BPF_CFLAGS) $(BPF_CPPFLAGS) $(value BPFTOOL))

$(BPF_OBJ): $(BUILD)/%.o: %.c $(BPF_STAMP) | $$(@D)/
	$(call msg,BPF,$@)
	$(Q)$(CLANG) $(BPF_CFLAGS) $(BPF_CPPFLAGS) -MMD -MP -c -o $@ $<

$(BPF_LINKED): %.o: %.bpf.o
	$(call msg,BPFLINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $<

# From 1.5 on, libbpf crashes where there was no memory for one of a skeleton's tables: it looks into as many
# entries as are counted.
define make_skeleton
$(call msg,SKEL,$@)
$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf | sed 's/if (!s->\(map\|prog\)s) {/&\n\t\ts->\1_cnt = 0;/' > $@
endef
$(SKELS): $(BUILD)/gen/%.skel.h: $(BUILD)/bpf/%.o | $$(@D)/
	$(make_skeleton)
$(TEST_SKELS): $(BUILD)/gen/%.skel.h: $(BUILD)/tests/bpf/programs/%.o | $$(@D)/
	$(make_skeleton)

.SECONDARY: $(BPF_OBJ) $(BPF_LINKED)
DEP_FILES += $(BPF_OBJ:.o=.d)
