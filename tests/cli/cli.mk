# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# For the command line's scripts: a clock to preload that they can set. They also read the pages that
# are installed, and profile a user with many files, as in tests/hostile.

CLI_CLOCK := $(BUILD)/tests/cli/libclock.so

LAYER_NEEDS_cli = $(CLI_CLOCK) $(MAN_PAGES) $(HOSTILE_BIN) $(if $(SANITIZE),,$(STATIC_FILES) $(CALLS_LINKED))

$(CLI_CLOCK): tests/cli/clock/clock.c tests/cli/cli.mk | $$(@D)/
	$(call msg,CC,$@)
	$(Q)$(CC) -D_GNU_SOURCE= -std=gnu11 -O2 $(WARNINGS) $(WARNINGS_GCC) $(if $(WERROR),-Werror) \
		-fPIC -shared -o $@ $<
