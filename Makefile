# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The whole build: one make without recursion, which writes everything under build/. The fragments
# bpf/bpf.mk, user/user.mk and tests/tests.mk say how each part is built; `make help` lists the
# targets.

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
UNITDIR ?= $(PREFIX)/lib/systemd/system
BASHDIR ?= $(DATADIR)/bash-completion/completions
ZSHDIR ?= $(DATADIR)/zsh/site-functions
FISHDIR ?= $(DATADIR)/fish/vendor_completions.d
FUZZ_SECONDS ?= 60

# CROSS=aarch64-linux-gnu- builds for that processor, with Debian's cross compiler and :arm64 packages.
ifeq ($(origin CC),default)
CC := $(CROSS)gcc
endif
ifeq ($(origin CXX),default)
CXX := $(CROSS)g++
endif
ifeq ($(origin AR),default)
AR := $(CROSS)ar
endif
OBJCOPY ?= $(CROSS)objcopy
# Before a compiler is installed, which may be done by this very make, it is that of CROSS or the machine's own.
MACHINE := $(shell command -v $(CC) >/dev/null && $(CC) -dumpmachine || echo $(or $(CROSS:%-=%),"$$(uname -m)-linux-gnu"))
PROCESSOR := $(firstword $(subst -, ,$(MACHINE)))
CLANG ?= clang
# Ubuntu's bpftool is a wrapper that wants the tools of the running kernel; those of another do as well.
BPFTOOL ?= $(or $(lastword $(shell ls /usr/lib/linux-tools/*/bpftool 2>/dev/null)),bpftool)
CFLAGS ?= -O2 -g
# Warnings are errors in a development tree, but not in a release, which later compilers will build.
WERROR ?= $(if $(wildcard .git),1)

# Debian puts bpftool into /usr/sbin, which is not in a user's PATH.
export PATH := $(PATH):/usr/sbin:/sbin

comma := ,
# Each processor and set of sanitizers has its own tree, so that changing between them rebuilds nothing.
TREE := build$(if $(CROSS),/$(CROSS:%-=%))
BUILD := $(TREE)$(if $(SANITIZE),/san-$(subst $(comma),-,$(SANITIZE)))
Q := $(if $(V),,@)
msg = $(if $(V),,@printf '  %-8s %s\n' '$1' '$2')

# A recipe fails at its first command that fails, even inside a pipe.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDEXPANSION:
.SUFFIXES:

# For goals that only look or remove, make writes nothing while it reads its files.
GOALS := $(or $(MAKECMDGOALS),all)
dry_run := $(findstring n,$(firstword -$(MAKEFLAGS)))$(findstring q,$(firstword -$(MAKEFLAGS)))
MAKEFLAGS += --no-builtin-rules
# Without -j there are as many jobs as processors: one make builds everything, and with one job half
# or more of the machine would wait. -j on the command line wins; below another make, that one's holds.
# Several goals are still made one after the other, because two that run tests share their logs.
ifeq ($(MAKELEVEL)$(word 2,$(GOALS)),0)
MAKEFLAGS += -j$(shell nproc)
endif
building := $(filter-out help clean deps uninstall format,$(GOALS))

# `make clean all` removes the tree here, because later make has already decided which files are
# built.
ifneq ($(filter clean,$(GOALS)),)
ifeq ($(dry_run),)
$(shell rm -rf build)
endif
endif

# $(call stamp,NAME,TEXT): a file whose time changes when TEXT does, so that changed flags or a
# changed list of files rebuild what depends on them. The comparison is done here and not in a rule,
# so a finished build has nothing to run, and `make -q` says so. A dry run writes no stamp, but
# treats a changed one as new. make 4.3 leaves the newline at the end of some files that it reads,
# hence strip.
stamp = $(call stamp_check,$(BUILD)/stamp/$1,$1: $(strip $2))$(BUILD)/stamp/$1
stamp_check = $(if $(call differs,$(strip $(file <$1)),$2),$(if $(dry_run),$(eval .PHONY: $1),$(if \
	$(building),$(shell mkdir -p $(dir $1))$(file >$1,$2))))
differs = $(subst x$1,,x$2)$(subst x$2,,x$1)

# Directories are order-only prerequisites, by $$(@D)/. For goals that install what is missing, each
# of them waits for that, so that no compiler starts before it is installed.
DEPS_FIRST := $(if $(filter check check-% demo bench bench-% soak fuzz deb image static,$(GOALS)),deps)
.PRECIOUS: $(BUILD)/%/
$(BUILD)/%/: | $(DEPS_FIRST)
	$(Q)mkdir -p $@
$(BUILD)/: | $(DEPS_FIRST)
	$(Q)mkdir -p $@

all: ## Build build/bpfprofil (the default)

include bpf/bpf.mk
include user/user.mk
include tests/tests.mk

all: $(BIN) $(MAN_PAGES)

# --- what a machine needs -------------------------------------------------------------------------

PKGS_BUILD := gcc libc6-dev clang bpftool libbpf-dev libdw-dev libelf-dev libiberty-dev libseccomp-dev \
	libcapstone-dev libncurses-dev libprotobuf-c-dev protobuf-c-compiler zlib1g-dev libcurl4-openssl-dev libmicrohttpd-dev
PKGS_CROSS := $(if $(CROSS),$(addsuffix -$(subst _,-,$(CROSS:%-=%)),gcc g++))
PKGS_STATIC := libbz2-dev liblzma-dev libzstd-dev
PKGS_CHECK := g++ binutils-x86-64-linux-gnu libcriterion-dev libjson-c-dev libclang-rt-dev linux-perf musl-tools pkg-config valgrind python3 \
	python3-jsonschema libdebuginfod1 golang-go runc tmux curl procps chromium llvm \
	bash-completion zsh fish mandoc prometheus python3-venv nodejs $(if $(wildcard /usr/bin/npm),,npm)
PKGS_DEB := build-essential debhelper dpkg-dev
PKGS_IMAGE := mmdebstrap umoci runc
PKGS_KUBERNETES := etcd-server containerd containernetworking-plugins dnsmasq-base iproute2 openssl python3 prometheus curl
PKGS_VM := qemu-system-x86 busybox-static kmod cpio xz-utils $(if $(CROSS),mmdebstrap)
PKGS_LINT := git clang-format codespell shellcheck mandoc
PKGS_ANALYZE := cppcheck
PKGS_FDO := dpkg-dev tcl
PKGS_DEMO := perl-base
PKGS_PEERS := bpftrace bpfcc-tools linux-headers-amd64 linux-perf g++ redis-server redis-tools postgresql \
	nodejs $(if $(wildcard /usr/bin/npm),,npm) python3-venv
PKGS := $(PKGS_BUILD) $(PKGS_CROSS) \
	$(if $(filter check check-% fuzz soak deps,$(GOALS)),$(PKGS_CHECK)) \
	$(if $(filter check check-cli check-vm static deps,$(GOALS)),$(PKGS_STATIC)) \
	$(if $(filter check deb check-deb image check-image check-kubernetes deps,$(GOALS)),$(PKGS_DEB)) \
	$(if $(filter image check-image check-kubernetes deps,$(GOALS)),$(PKGS_IMAGE)) \
	$(if $(filter check-kubernetes,$(GOALS)),$(PKGS_KUBERNETES)) \
	$(if $(filter check check-deb deps,$(GOALS)),lintian) \
	$(if $(filter check-vm deps,$(GOALS))$(filter -g,$(BENCH_ARGS)),$(PKGS_VM)) \
	$(if $(filter lint format deps,$(GOALS)),$(PKGS_LINT)) \
	$(if $(filter analyze deps,$(GOALS)),$(PKGS_ANALYZE)) \
	$(if $(filter check-fdo deps,$(GOALS)),$(PKGS_FDO)) \
	$(if $(filter bench-peers,$(GOALS)),$(PKGS_PEERS)) \
	$(if $(filter demo deps,$(GOALS)),$(PKGS_DEMO))

deps: ## Install what is missing to build and test (apt-get; quiet when nothing is)
	$(Q).make/deps $(PKGS)

# --- a first look ---------------------------------------------------------------------------------

demo: $(BIN) | deps ## Profile a real program and show where its time went
	$(Q).make/demo $(BUILD)

# --- install --------------------------------------------------------------------------------------

UNITS := bpfprofil.socket bpfprofil.service bpfprofil-agent.service
installed = $(DESTDIR)$(PREFIX)/bin/bpfprofil \
	$(DESTDIR)$(DATADIR)/bpfprofil/$(notdir $(SCHEMA)) \
	$(foreach p,$(MAN_PAGES),$(DESTDIR)$(MANDIR)/man$(subst bpfprofil,,$(subst .,,$(suffix $p)))/$(notdir $p)) \
	$(UNITS:%=$(DESTDIR)$(UNITDIR)/%) \
	$(DESTDIR)$(BASHDIR)/bpfprofil $(DESTDIR)$(ZSHDIR)/_bpfprofil $(DESTDIR)$(FISHDIR)/bpfprofil.fish \
	$(CLIENT_INSTALLED:%=$(DESTDIR)%)

install: all install-client ## Install into $(DESTDIR)$(PREFIX)
	$(call msg,INSTALL,$(DESTDIR)$(PREFIX))
	$(Q)install -D -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/bpfprofil
	$(Q)install -D -m 644 -t $(DESTDIR)$(DATADIR)/bpfprofil $(SCHEMA)
	$(Q)for page in $(MAN_PAGES); do \
		section=$${page##*.}; \
		sed -e 's|/usr/local/bin|$(PREFIX)/bin|' -e 's|/usr/local/lib/systemd/system|$(UNITDIR)|' \
			-e 's|/usr/local/lib/bpfprofil|$(CLIENT_PRIVATE)|' $$page | \
			install -D -m 644 /dev/stdin $(DESTDIR)$(MANDIR)/man$${section%bpfprofil}/$${page##*/}; \
	done
	$(Q)install -D -m 644 user/completion/bpfprofil.bash $(DESTDIR)$(BASHDIR)/bpfprofil
	$(Q)install -D -m 644 user/completion/bpfprofil.zsh $(DESTDIR)$(ZSHDIR)/_bpfprofil
	$(Q)install -D -m 644 -t $(DESTDIR)$(FISHDIR) user/completion/bpfprofil.fish
	$(Q)install -D -m 644 -t $(DESTDIR)$(UNITDIR) user/systemd/bpfprofil.socket
	$(Q)for unit in $(filter %.service,$(UNITS)); do \
		sed 's|@PREFIX@|$(PREFIX)|' user/systemd/$$unit.in | \
			install -D -m 644 /dev/stdin $(DESTDIR)$(UNITDIR)/$$unit; \
	done

uninstall: ## Remove what install put there
	$(call msg,REMOVE,$(DESTDIR)$(PREFIX))
	$(Q)rm -f $(installed)
	$(Q)for dir in $(DATADIR)/bpfprofil $(INCLUDEDIR)/bpfprofil/sys $(INCLUDEDIR)/bpfprofil $(CLIENT_PRIVATE); do \
		if [ -d $(DESTDIR)$$dir ]; then rmdir $(DESTDIR)$$dir; fi; \
	done

deb: | deps ## Debian packages into build/deb, by debhelper
	$(call msg,DEB,$(BUILD)/deb)
	$(Q).make/deb $(BUILD) $(MACHINE) $(filter-out gcc libc6-dev,$(PKGS_BUILD))

image: deb | deps ## A container image of the agent into build/image, of Debian's packages (network)
	$(call msg,IMAGE,$(BUILD)/image)
	$(Q).make/image $(BUILD) $(OBJCOPY)

# --- quality --------------------------------------------------------------------------------------

lint: $(SKELS) $(PROTO_H) | deps ## Format, size budget, layering, spelling, shellcheck, man pages
	$(Q).lint/run

format: | deps ## Format the C sources in place
	$(Q)clang-format -i $(shell find bpf user include tests vmlinux -name '*.[ch]' -o -name '*.cc')

analyze: $(SKELS) $(PROTO_H) | deps ## gcc -fanalyzer, clang --analyze and cppcheck over user/
	$(Q).lint/analyze $(HOST_CPPFLAGS) -std=gnu11 $(CLIENT_PATH) -- $(LIB_SRC) $(MAIN_SRC) $(CLIENT_SRC)

# --- housekeeping ---------------------------------------------------------------------------------

clean: ## Remove build/
	$(Q)rm -rf build

help: ## This list
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@printf '%s\n' '' \
		'  V=1                          show the commands' \
		'  CROSS=aarch64-linux-gnu-     build for another processor' \
		'  SANITIZE=address,undefined   build and test with sanitizers, in a tree of their own' \
		'  PREFIX=/usr/local DESTDIR=   where install goes' \
		'  FUZZ_SECONDS=60              how long fuzz gives each target' \
		"  VM_KERNELS='6.1 6.12:v1'     the kernels of check-vm, and their cgroups" \
		'  WERROR=                      let warnings pass (they fail in a git tree)'

.PHONY: all deps demo install uninstall deb image lint format analyze clean help

-include $(wildcard $(DEP_FILES))
