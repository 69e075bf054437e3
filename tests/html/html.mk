# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The pages of report and diff, in a browser.

LAYER_NEEDS_html := $(BIN) $(LIVE_WORKLOADS)
