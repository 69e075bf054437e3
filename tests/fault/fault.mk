# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The layer that makes calls fail: libraries to preload, and bpfprofil with sanitizers, which detect
# leaks; a build that has the sanitizers anyway is used as it is.

FAULT_SHIM := $(BUILD)/tests/fault/libfault.so
FAULT_SHIM_SRC := $(wildcard tests/fault/shim/*.c)
FAULT_PIDFD := $(BUILD)/tests/fault/libpidfd.so
FAULT_BIN := $(if $(findstring address,$(SANITIZE)),$(BIN),$(BUILD)/tests/fault/bpfprofil)

LAYER_NEEDS_fault := $(FAULT_SHIM) $(FAULT_PIDFD) $(FAULT_BIN)
LAYER_CPPFLAGS_fault := -DFAULT_SHIM='"$(CURDIR)/$(FAULT_SHIM)"' \
	-DFAULT_PIDFD='"$(CURDIR)/$(FAULT_PIDFD)"' -DFAULT_BIN='"$(CURDIR)/$(FAULT_BIN)"' \
	-DFAULT_PROFILE='"$(CURDIR)/tests/golden/profile.json"' \
	-DFAULT_CALLERS='"$(CURDIR)/tests/golden/callers.json"' \
	-DFAULT_UBSAN_SUPP='"$(CURDIR)/tests/fault/ubsan.supp"' \
	-DFAULT_VALGRIND_SUPP='"$(CURDIR)/tests/fault/valgrind.supp"'

$(FAULT_SHIM): $(FAULT_SHIM_SRC) tests/fault/shim/fault.h
$(FAULT_PIDFD): tests/fault/pidfd/pidfd.c
# -fno-builtin, because otherwise gcc assumes what our malloc() does.
$(FAULT_SHIM) $(FAULT_PIDFD): tests/fault/fault.mk | $$(@D)/
	$(call msg,CC,$@)
	$(Q)$(CC) -D_GNU_SOURCE= -std=gnu11 -O2 -g $(WARNINGS) $(WARNINGS_GCC) $(if $(WERROR),-Werror) \
		-fno-builtin -fPIC -shared -o $@ $(filter %.c,$^)

# The sanitizer's library is linked dynamically: FAULT_SHIM can only be called before its functions,
# as LD_PRELOAD has it, when they are not in the program itself.
$(BUILD)/tests/fault/bpfprofil: $(SANITIZED_OBJ) $(SANITIZED_STAMP) | $$(@D)/
	$(call msg,LINK,$@)
	$(Q)$(CLANG) -pie -fsanitize=address,undefined -shared-libasan -Wl,--as-needed \
		-Wl,-rpath,$$(dirname $$($(CLANG) -print-file-name=libclang_rt.asan-$$(uname -m).so)) \
		-o $@ $(filter %.o,$^) $(LIBS)
