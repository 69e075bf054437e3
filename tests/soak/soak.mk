# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# `make soak`: SOAK_SECONDS of attach --all under a storm; SOAK_ARGS goes to attach.

SOAK_SECONDS ?= 1200
SOAK_ARGS ?=

$(BUILD)/soak/brief: tests/soak/brief.c tests/soak/soak.mk | $$(@D)/
	$(call msg,CC,$@)
	$(Q)$(BENCH_CC) $< -o $@

soak: $(BIN) $(BUILD)/soak/brief | deps ## SOAK_SECONDS (1200) of attach --all under a storm: what grows?
	$(Q)tests/soak/run -s $(SOAK_SECONDS) $(BUILD) -- $(SOAK_ARGS)

.PHONY: soak
DEP_FILES += $(BUILD)/soak/brief.d
