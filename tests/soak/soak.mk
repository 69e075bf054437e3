# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# `make soak`: runs SOAK_SECONDS of attach --all under a storm; SOAK_ARGS are passed to
# attach; with --callers the chains of each file are added up too.
# `make soak-fleet` runs the agent under the same storm, and passes them to the agent.

SOAK_SECONDS ?= 1200
SOAK_ARGS ?=

SOAK_BIN := $(BUILD)/soak/brief $(BUILD)/soak/crowd $(BUILD)/soak/hostile

$(BUILD)/soak/brief $(BUILD)/soak/crowd: $(BUILD)/soak/%: tests/soak/%.c tests/soak/soak.mk | $$(@D)/
	$(call msg,CC,$@)
	$(Q)$(BENCH_CC) -Itests/lib -pthread $< -o $@

$(BUILD)/soak/hostile: tests/soak/hostile.c tests/lib/hostile.c $(BUILD)/libuser.a tests/soak/soak.mk | $$(@D)/
	$(call msg,CC,$@)
	$(Q)$(CC) $(HOSTILE_CFLAGS) -D_GNU_SOURCE -Iuser -Itests/lib $(filter %.c %.a,$^) -o $@ -lcriterion

soak: $(BIN) $(SOAK_BIN) $(HOSTILE_BIN) | deps ## SOAK_SECONDS (1200) of attach --all under a storm: what grows?
	$(Q)tests/soak/run -s $(SOAK_SECONDS) $(BUILD) -- $(SOAK_ARGS)

soak-fleet: $(BIN) $(SOAK_BIN) $(HOSTILE_BIN) | deps ## The same of the agent, with two sinks, a scraper and 1,000 containers made and gone
	$(Q)tests/soak/fleet -s $(SOAK_SECONDS) $(BUILD) -- $(SOAK_ARGS)

.PHONY: soak soak-fleet
DEP_FILES += $(BUILD)/soak/brief.d $(BUILD)/soak/crowd.d
