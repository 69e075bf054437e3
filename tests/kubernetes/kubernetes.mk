# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The agent on a node of a real Kubernetes, whose programs are built here of Go's modules: 1.26 must be in
# PATH. Not in `make check`: 40 minutes the first time, then 20. With BETWEEN=300 five restarts of the agent take half
# an hour.

check-kubernetes: $(BIN) image | deps ## The agent, by its chart, on a node of a real Kubernetes (root, network)
	$(Q)tests/kubernetes/build $(BUILD)
	$(Q)tests/kubernetes/check $(BUILD)

.PHONY: check-kubernetes
