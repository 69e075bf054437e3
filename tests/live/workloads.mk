# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The programs that are profiled, whose time per function is known in advance.
#
# Defines LIVE_WORKLOADS, the files to build, and LIVE_DEFINES, where tests find them and the
# profiler: as absolute paths, so that a test may run in any directory. Sanitizers are only for the
# profiler, so the workloads are the same for every $(BUILD).

WL_SRC := tests/live/workloads
WL_OUT := $(TREE)/tests/live/workloads
WL_CFLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	     -Wformat-signedness -Wvla $(if $(WERROR),-Werror)
WL_CXXFLAGS := -std=gnu++17 -O2 -g -Wall -Wextra -Wshadow -Wmissing-declarations -Wformat-signedness -Wvla \
	       $(if $(WERROR),-Werror)
define WL_CC
$(call msg,WORKLOAD,$@)
$(Q)mkdir -p $(@D) && $(CC) $(WL_CFLAGS) -MMD -MP -MF $@.d -MT $@
endef

LIVE_DEFINES := -DBPFPROFIL_BIN='"$(CURDIR)/$(BUILD)/bpfprofil"' -DWORKLOADS='"$(CURDIR)/$(WL_OUT)"' \
		-DWORKLOAD_SOURCES='"$(CURDIR)/$(WL_SRC)"'

# Position-independent programs, one source file each.
WL_PIE := three one forever threads named forktree vforker swarm resters nothing treetime plugins opened jit memexec \
	  clock bursts callers syscalls mapper faults bigexit bigtext threadexec clonevm remap \
	  frames waits alternate asleep elsewhere movedwait farcode

# The same source linked in all other ways, and the ring of images that exec each other.
WL_OTHER := three_nopie three_static three_static_pie ring_alpha ring_beta ring_delta \
	    plugin_a.so plugin_b.so asleep.so nothing_static frames_static gostack shim narrow exceptions \
	    goroutines goarchive $(if $(filter aarch64,$(PROCESSOR)),callers_signed)

LIVE_WORKLOADS := $(addprefix $(WL_OUT)/,$(WL_PIE) $(WL_OTHER))

$(addprefix $(WL_OUT)/,$(WL_PIE)): $(WL_OUT)/%: $(WL_SRC)/%.c | $(DEPS_FIRST)
	$(WL_CC) -fPIE -pie -pthread -o $@ $< -ldl

# Eighty MiB of text whose lines nobody reads, in the order of the source.
$(WL_OUT)/bigtext: WL_CFLAGS += -g0 -fno-toplevel-reorder

$(WL_OUT)/three_nopie: $(WL_SRC)/three.c | $(DEPS_FIRST)
	$(WL_CC) -fno-pie -no-pie -o $@ $<

$(WL_OUT)/three_static: $(WL_SRC)/three.c | $(DEPS_FIRST)
	$(WL_CC) -fno-pie -no-pie -static -o $@ $<

$(WL_OUT)/three_static_pie: $(WL_SRC)/three.c | $(DEPS_FIRST)
	$(WL_CC) -fPIE -static-pie -o $@ $<

$(WL_OUT)/nothing_static: $(WL_SRC)/nothing.c | $(DEPS_FIRST)
	$(WL_CC) -fno-pie -no-pie -static -o $@ $<

$(WL_OUT)/frames_static: $(WL_SRC)/frames.c | $(DEPS_FIRST)
	$(WL_CC) -fno-pie -no-pie -static -o $@ $<

# Not position-independent, so that all three are at the same addresses.
$(WL_OUT)/ring_alpha: WL_RING := -DFUNCTION=alpha -DWEIGHT=5 -DNEXT='"ring_beta"'
$(WL_OUT)/ring_beta: WL_RING := -DFUNCTION=beta -DWEIGHT=3 -DNEXT='"ring_delta"'
$(WL_OUT)/ring_delta: WL_RING := -DFUNCTION=delta -DWEIGHT=2 -DNEXT='"ring_alpha"' -DLAST=1
$(addprefix $(WL_OUT)/ring_,alpha beta delta): $(WL_SRC)/chain.c | $(DEPS_FIRST)
	$(WL_CC) $(WL_RING) -fno-pie -no-pie -o $@ $<

$(WL_OUT)/gostack: $(WL_SRC)/gostack.c | $(DEPS_FIRST)
	$(WL_CC) -g0 -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fPIE -pie -o $@ $<
	$(Q)$(OBJCOPY) --remove-section=.eh_frame --remove-section=.eh_frame_hdr $@

$(WL_OUT)/callers_signed: $(WL_SRC)/callers.c | $(DEPS_FIRST)
	$(WL_CC) -fPIE -pie -pthread -mbranch-protection=pac-ret+leaf+b-key -o $@ $<

$(WL_OUT)/shim: $(WL_SRC)/shim.c | $(DEPS_FIRST)
	$(WL_CC) -fno-pie -no-pie -nostartfiles -Wl,-e,shim_entry -o $@ $<

ifeq ($(PROCESSOR),aarch64)
# gcc has no option for Arm's 32-bit instructions, but the linker of arm64 has one.
$(WL_OUT)/narrow: $(WL_SRC)/narrow.c | $(DEPS_FIRST)
	$(call msg,WORKLOAD,$@)
	$(Q)mkdir -p $(@D) && $(CLANG) --target=arm-linux-gnueabi -O2 -ffreestanding -MMD -MP -MF $@.d -MT $@ -c -o $@.o $<
	$(Q)$(CROSS)ld -m armelf_linux_eabi -static -o $@ $@.o
else
$(WL_OUT)/narrow: $(WL_SRC)/narrow.c | $(DEPS_FIRST)
	$(WL_CC) -m32 -ffreestanding -fno-pie -no-pie -nostdlib -static -o $@ $<
endif

$(WL_OUT)/plugin_%.so: $(WL_SRC)/plugin.c | $(DEPS_FIRST)
	$(WL_CC) -DFUNCTION=plugin_$* -fPIC -shared -o $@ $<

$(WL_OUT)/asleep.so: $(WL_SRC)/asleep.c | $(DEPS_FIRST)
	$(WL_CC) -DIS_PLUGIN -fPIC -shared -o $@ $<

$(WL_OUT)/exceptions: $(WL_SRC)/exceptions.cc | $(DEPS_FIRST)
	$(call msg,WORKLOAD,$@)
	$(Q)mkdir -p $(@D) && $(CXX) $(WL_CXXFLAGS) -MMD -MP -MF $@.d -MT $@ -fPIE -pie -o $@ $<

# Without Go in PATH its programs are not made, and their tests are skipped. Debian's comes first: a newer one takes
# five times as long for its own library. The cache is for the next build.
WL_GO := PATH="/usr/bin:$$PATH" GOENV=off GOFLAGS= GOTOOLCHAIN=local GO111MODULE=off GOOS=linux \
	 GOARCH=$(patsubst aarch64,arm64,$(PROCESSOR:x86_64=amd64)) \
	 GOCACHE='$(CURDIR)/$(WL_OUT)/gocache' GOPATH='$(CURDIR)/$(WL_OUT)/gopath' \
	 CC='$(CC)' CGO_LDFLAGS=-Wl,--unresolved-symbols=ignore-all CGO_LDFLAGS_ALLOW='.*'

$(WL_OUT)/goroutines: $(WL_SRC)/goroutines.go | $(DEPS_FIRST)
	$(call msg,WORKLOAD,$@)
	$(Q)! command -v go >/dev/null || { mkdir -p $(@D) && $(WL_GO) CGO_ENABLED=0 go build -o $@ $< && touch $@; }

$(WL_OUT)/goarchive: $(WL_SRC)/goarchive/main.c $(WL_SRC)/goarchive/archive.go | $(DEPS_FIRST)
	$(call msg,WORKLOAD,$@)
	$(Q)! command -v go >/dev/null || { mkdir -p $(@D) && \
		$(WL_GO) CGO_ENABLED=1 go build -buildmode=c-archive -o $@.a $(filter %.go,$^) && \
		$(CC) -O2 -fomit-frame-pointer -o $@ $(filter %.c,$^) $@.a -pthread; }

DEP_FILES += $(LIVE_WORKLOADS:%=%.d)
