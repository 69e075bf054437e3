# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The layer that makes calls fail: libraries to preload, and bpfprofil with sanitizers, which detect
# leaks. It has its own objects, as the fuzzers have; a build that has the sanitizers anyway is used
# as it is.

FAULT_SHIM := $(BUILD)/tests/fault/libfault.so
FAULT_SHIM_SRC := $(wildcard tests/fault/shim/*.c)
FAULT_PIDFD := $(BUILD)/tests/fault/libpidfd.so
FAULT_BIN := $(if $(findstring address,$(SANITIZE)),$(BIN),$(BUILD)/tests/fault/bpfprofil)

LAYER_NEEDS_fault := $(FAULT_SHIM) $(FAULT_PIDFD) $(FAULT_BIN)
LAYER_CPPFLAGS_fault := -DFAULT_SHIM='"$(CURDIR)/$(FAULT_SHIM)"' \
	-DFAULT_PIDFD='"$(CURDIR)/$(FAULT_PIDFD)"' -DFAULT_BIN='"$(CURDIR)/$(FAULT_BIN)"' \
	-DFAULT_PROFILE='"$(CURDIR)/tests/golden/profile.json"' \
	-DFAULT_VALGRIND_SUPP='"$(CURDIR)/tests/fault/valgrind.supp"'

$(FAULT_SHIM): $(FAULT_SHIM_SRC) tests/fault/shim/fault.h
$(FAULT_PIDFD): tests/fault/pidfd/pidfd.c
# -fno-builtin, because otherwise gcc assumes what our malloc() does.
$(FAULT_SHIM) $(FAULT_PIDFD): tests/fault/fault.mk | $$(@D)/
	$(call msg,CC,$@)
	$(Q)$(CC) -D_GNU_SOURCE= -std=gnu11 -O2 -g $(WARNINGS) $(WARNINGS_GCC) $(if $(WERROR),-Werror) \
		-fno-builtin -fPIC -shared -o $@ $(filter %.c,$^)

FAULT_FLAGS := -O1 -g -U_FORTIFY_SOURCE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FAULT_SRC := $(LIB_SRC) $(CLI_SRC)
FAULT_OBJ := $(FAULT_SRC:%.c=$(BUILD)/tests/fault/obj/%.o) \
	$(GEN_C:$(BUILD)/%.c=$(BUILD)/tests/fault/obj/%.o)
FAULT_STAMP := $(call stamp,fault,$(CC) $(HOST_CPPFLAGS) $(HOST_CFLAGS) $(FAULT_FLAGS) $(FAULT_SRC))

$(BUILD)/tests/fault/obj/%.o: %.c $(FAULT_STAMP) | $$(@D)/ $(SKELS) $(PPROF_H)
	$(call msg,CC,$@)
	$(Q)$(CC) $(HOST_CPPFLAGS) $(HOST_CFLAGS) $(FAULT_FLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/tests/fault/obj/gen/%.o: $(BUILD)/gen/%.c $(FAULT_STAMP) | $$(@D)/
	$(call msg,CC,$@)
	$(Q)$(CC) $(HOST_CPPFLAGS) $(HOST_CFLAGS) $(FAULT_FLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/tests/fault/bpfprofil: $(FAULT_OBJ) $(FAULT_STAMP) | $$(@D)/
	$(call msg,LINK,$@)
	$(Q)$(CC) $(HOST_CFLAGS) $(FAULT_FLAGS) $(HOST_LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS)

.SECONDARY: $(FAULT_OBJ)
DEP_FILES += $(FAULT_OBJ:.o=.d)
