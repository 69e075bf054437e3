# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# `make check-fdo`: not part of `make check`, because it fetches a source package and takes half an
# hour.

check-fdo: $(BIN) | deps ## Build sqlite3 with our profiles: does it do less? (network, half an hour)
	$(Q)tests/fdo/run $(BUILD)

.PHONY: check-fdo
