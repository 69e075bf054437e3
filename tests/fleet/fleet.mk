# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What consumers make of our profiles: those that Debian and npm have are a layer of
# `make check`; `make check-fleet` also asks ClickHouse in process (540 MB), builds an OpenTelemetry Collector
# and Parca, for which Go 1.25 must be in PATH, and asks Pyroscope and profcheck where they are there.

LAYER_NEEDS_fleet = $(BIN) $(LIVE_WORKLOADS)

check-fleet: $(BIN) $(LIVE_WORKLOADS) | deps ## What backends make of our profiles, each started and asked back (network)
	$(Q)FLEET_NETWORK=1 tests/run.sh $(BUILD) fleet
	$(Q)BUILD_DIR=$(abspath $(BUILD)) tests/fleet/backends

.PHONY: check-fleet
