# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Programs that profile themselves, with a server. The tests link the archive as programs do;
# programs that must be images of their own are below, without the build's sanitizers.

CALLS_SRC := tests/calls/programs
CALLS_OUT := $(BUILD)/tests/calls
CALLS_CFLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Iinclude $(if $(WERROR),-Werror)
CALLS_STAMP := $(call stamp,calls_tests,$(CC) $(CALLS_CFLAGS))
CALLS_LINKED := $(CALLS_OUT)/canary $(CALLS_OUT)/own
CALLS_PRELOADED := $(CALLS_OUT)/plain
# Made by tests/client.
CALLS_PG := $(BUILD)/tests/client/pg_pie
CALLS_BIN := $(CALLS_LINKED) $(CALLS_PRELOADED)

LAYER_NEEDS_calls := $(CALLS_BIN) $(CALLS_PG) $(CLIENT_LIBS) $(BIN)
LAYER_CPPFLAGS_calls := -fno-delete-null-pointer-checks -DCALLS_PROGRAMS='"$(CURDIR)/$(CALLS_OUT)"' \
	-DCALLS_PG='"$(CURDIR)/$(CALLS_PG)"' -DCALLS_PRELOAD='"$(CURDIR)/$(CLIENT_PRELOAD)"'

$(BUILD)/tests/test_calls: $(CLIENT_A)

define CALLS_CC
$(call msg,CC,$@)
$(Q)$(CC) $(CALLS_CFLAGS) -MMD -MP -MF $@.d -MT $@
endef
$(CALLS_BIN): $(CALLS_STAMP) | $$(@D)/

# Static, to run where there are no libraries, and at addresses that leave others free.
$(CALLS_LINKED): $(CALLS_OUT)/%: $(CALLS_SRC)/%.c $(CLIENT_A)
	$(CALLS_CC) -fno-pie -static -o $@ $< $(CLIENT_A)
# Programs that know nothing of us.
$(CALLS_PRELOADED): $(CALLS_OUT)/%: $(CALLS_SRC)/%.c
	$(CALLS_CC) -D_GNU_SOURCE= -Wno-nonnull -o $@ $<

DEP_FILES += $(CALLS_BIN:%=%.d)
