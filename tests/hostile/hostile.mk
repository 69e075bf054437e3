# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What any user can do to root's profile and to other users of the server. tests/lib/hostile.c makes
# files; `mapped` runs the text in them, whatever their headers say.

HOSTILE_OUT := $(BUILD)/tests/hostile
HOSTILE_CFLAGS := -std=gnu11 -O2 -g -Wall -Wextra $(if $(WERROR),-Werror)
HOSTILE_BIN := $(addprefix $(HOSTILE_OUT)/,mapped maps neighbour silent stacks tiny burn.so)

LAYER_NEEDS_hostile := $(HOSTILE_BIN) $(HOSTILE_OUT)/faulty $(BIN)
LAYER_CPPFLAGS_hostile := -Itests/calls -DHOSTILE_PROGRAMS='"$(CURDIR)/$(HOSTILE_OUT)"'

# Callers that profile themselves, as in tests/calls.
$(BUILD)/tests/test_hostile: $(BUILD)/obj/tests/calls/caller.o $(CLIENT_A)

$(addprefix $(HOSTILE_OUT)/,mapped maps neighbour silent stacks): $(HOSTILE_OUT)/%: tests/hostile/programs/%.c tests/lib/moved.h tests/hostile/hostile.mk | $$(@D)/
	$(call msg,CC,$@)
	$(Q)$(CC) $(HOSTILE_CFLAGS) -Itests/lib -o $@ $<

# Without a build id, which would identify the file when its headers are useless.
$(HOSTILE_OUT)/burn.so: tests/hostile/programs/burn.c tests/hostile/hostile.mk | $$(@D)/
	$(call msg,CC,$@)
	$(Q)$(CC) $(HOSTILE_CFLAGS) -shared -fPIC -Wl,--build-id=none -o $@ $<

# All of it is in one file.
$(HOSTILE_OUT)/tiny: tests/hostile/programs/tiny.c tests/hostile/hostile.mk | $$(@D)/
	$(call msg,CC,$@)
	$(Q)$(CC) $(HOSTILE_CFLAGS) -static -nostdlib -o $@ $<

# bpfprofil whose readers of files do what a hostile file could make them do.
$(HOSTILE_OUT)/faulty: $(MAIN_OBJ) $(BUILD)/obj/tests/hostile/programs/reader_fault.o $(LIB) $(LD_STAMP) | $$(@D)/
	$(call msg,LINK,$@)
	$(Q)$(CC) $(HOST_CFLAGS) $(HOST_LDFLAGS) -o $@ $(filter %.o,$^) $(LIB) $(LIBS)
