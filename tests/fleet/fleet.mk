# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# `make check-fleet`: not part of `make check`, because it fetches parts of backends.

check-fleet: $(BIN) $(LIVE_WORKLOADS) | deps ## What backends make of our profiles: OpenTelemetry's own messages, ClickHouse (network)
	$(Q)tests/fleet/run $(BUILD)

.PHONY: check-fleet
