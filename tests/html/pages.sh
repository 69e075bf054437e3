#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The pages in a browser: a real profile, one of 100,000 bins, the one that has everything, and
# names that look like markup.
set -uo pipefail

if ! command -v chromium >/dev/null; then
	echo "SKIP html::pages: no chromium in PATH"
	exit 77
fi
exec python3 -B tests/html/pages.py "${BUILD_DIR:?}"
