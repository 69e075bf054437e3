# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What any user can do to root's profile and to other users of the server. tests/lib/hostile.c makes
# files; `mapped` runs the text in them, whatever their headers say.

HOSTILE_OUT := $(BUILD)/tests/hostile
HOSTILE_CFLAGS := -std=gnu11 -O2 -g -Wall -Wextra $(if $(WERROR),-Werror)
HOSTILE_BIN := $(HOSTILE_OUT)/mapped $(HOSTILE_OUT)/maps $(HOSTILE_OUT)/burn.so

LAYER_NEEDS_hostile := $(HOSTILE_BIN) $(BIN)
LAYER_CPPFLAGS_hostile := -Itests/calls -DHOSTILE_PROGRAMS='"$(CURDIR)/$(HOSTILE_OUT)"'

# Callers that profile themselves, as in tests/calls.
$(BUILD)/tests/test_hostile: $(BUILD)/obj/tests/calls/caller.o $(CLIENT_A)

$(HOSTILE_OUT)/mapped $(HOSTILE_OUT)/maps: $(HOSTILE_OUT)/%: tests/hostile/programs/%.c tests/lib/moved.h tests/hostile/hostile.mk | $$(@D)/
	$(call msg,CC,$@)
	$(Q)$(CC) $(HOSTILE_CFLAGS) -Itests/lib -o $@ $<

# Without a build id, which would identify the file when its headers are useless.
$(HOSTILE_OUT)/burn.so: tests/hostile/programs/burn.c tests/hostile/hostile.mk | $$(@D)/
	$(call msg,CC,$@)
	$(Q)$(CC) $(HOSTILE_CFLAGS) -shared -fPIC -Wl,--build-id=none -o $@ $<
