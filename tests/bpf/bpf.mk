# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The headers that both sides compile, as BTF by the compiler of user space: in an object with
# nothing else, so that it has no other types. clang writes BTF only for BPF.

BPF_TEST_LAYOUT := $(BUILD)/tests/bpf/layout.o
SHARED_HEADERS := $(wildcard include/shared/*.h)

LAYER_NEEDS_bpf := $(BPF_TEST_LAYOUT)
LAYER_CPPFLAGS_bpf := -DTEST_LAYOUT='"$(CURDIR)/$(BPF_TEST_LAYOUT)"'

$(BPF_TEST_LAYOUT): $(SHARED_HEADERS) tests/bpf/bpf.mk | $$(@D)/
	$(call msg,BTF,$@)
	$(Q)$(if $(findstring clang,$(CC)),gcc,$(CC)) -std=gnu11 -fsigned-char -Iinclude -gbtf \
		-fno-eliminate-unused-debug-types $(SHARED_HEADERS:include/%=-include %) \
		-x c -c -o $@ /dev/null

$(BUILD)/tests/test_bpf: | $(BPF_TEST_LAYOUT)
