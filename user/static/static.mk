# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# build/static: bpfprofil in one file that needs nothing of its host, the library to preload, and the
# licences of what is linked. The objects are the same as in build/bpfprofil, but for library.c.

STATIC_OUT := $(BUILD)/static
STATIC_BIN := $(STATIC_OUT)/bpfprofil
STATIC_PRELOAD := $(STATIC_OUT)/$(notdir $(CLIENT_PRELOAD))
STATIC_FILES := $(STATIC_BIN) $(STATIC_PRELOAD) $(STATIC_OUT)/LICENCES
STATIC_OBJ := $(STATIC_SRC:%.c=$(BUILD)/obj/%.o)
STATIC_LIBS := $(LIBS) -lcapstone -lseccomp -llzma -lbz2 -lzstd
# Half of capstone is for processors that no profile shows. As symbols that are there already, they are not
# linked, and its table has no such processor.
CAPSTONE_KEPT := X86 AArch64
capstone_left = $(foreach p,$(filter-out $(CAPSTONE_KEPT),$(shell $$($(CC) -print-prog-name=nm) $$($(CC) -print-file-name=libcapstone.a) \
	2>/dev/null | sed -n 's/.* T \(.*\)_global_init$$/\1/p')),-Wl,--defsym=$p_global_init=0,--defsym=$p_option=0)
STATIC_STAMP := $(call stamp,static,$(CC) $(HOST_LDFLAGS) $(STATIC_LIBS) $(CAPSTONE_KEPT))
# What library.c answers for, so that libc does without.
known := in statically linked applications|: in function 

static: $(STATIC_FILES) ## One file for any Linux, with the library to preload, into build/static

$(STATIC_BIN): $(MAIN_OBJ) $(STATIC_OBJ) $(LIB) $(STATIC_STAMP) | $$(@D)/
	$(call msg,LINK,$@)
	$(Q)$(CC) $(HOST_CFLAGS) $(filter-out -pie,$(HOST_LDFLAGS)) -static-pie -s $(capstone_left) \
		-o $@ $(filter %.o %.a,$^) $(STATIC_LIBS) 2> >(grep -vE '$(known)' >&2)

$(STATIC_PRELOAD): $(CLIENT_PRELOAD) | $$(@D)/
	$(Q)cp $< $@

$(STATIC_OUT)/LICENCES: .make/licences LICENSE $(STATIC_STAMP) | $$(@D)/
	$(call msg,GEN,$@)
	$(Q).make/licences $(CC) $(STATIC_LIBS) -lc -lgcc -lgcc_eh >$@

.PHONY: static

DEP_FILES += $(STATIC_OBJ:.o=.d)
