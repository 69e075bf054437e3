# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# user/*/*.c and user/host/*/*.c except main.c -> build/libuser.a, which the tests link too; main.c
# and that -> build/bpfprofil. .lint/layers checks which folder may include which. user/client has its
# own rules, in client.mk, because programs that know nothing of the engine link it.

MAIN_SRC := user/cli/main.c
CLIENT_SRC := $(wildcard user/client/*.c)
STATIC_SRC := user/static/library.c user/static/search_tree.c
LIB_SRC := $(filter-out $(MAIN_SRC) $(CLIENT_SRC) $(STATIC_SRC),$(wildcard user/*/*.c user/host/*/*.c))
SCHEMA := user/profile/profile.schema.json
SCHEMA_C := $(if $(wildcard $(SCHEMA)),$(BUILD)/gen/profile_schema.c)
PROTO_H := $(BUILD)/gen/pprof.pb-c.h $(BUILD)/gen/otlp.pb-c.h
# The scripts of a page, in order.
PAGES := report diff
PAGE_JS_report := text theme calls model table account filters map flame strip strip_draw time code report
PAGE_JS_diff := text theme calls table flame diff
PAGE_C := $(PAGES:%=$(BUILD)/gen/html_%_page.c)
SHELLS := bash zsh fish
COMPLETION_C := $(SHELLS:%=$(BUILD)/gen/completion_%.c)
GEN_C := $(SCHEMA_C) $(COMPLETION_C) $(PROTO_H:.h=.c) $(PAGE_C)

LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/obj/%.o) $(GEN_C:$(BUILD)/%.c=$(BUILD)/obj/%.o)
MAIN_OBJ := $(MAIN_SRC:%.c=$(BUILD)/obj/%.o)
LIB := $(BUILD)/libuser.a
BIN := $(BUILD)/bpfprofil

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 \
	-Wno-format-nonliteral
WARNINGS_GCC := -Wformat-signedness
SAN_FLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)

# Hardened like Debian's packages, because root reads other users' bytes with it. glibc's checks
# need optimization, and sanitizers detect more without these checks; a level that was asked for is
# kept.
HARDENING := -fstack-protector-strong -fstack-clash-protection \
	$(if $(filter x86_64,$(PROCESSOR)),-fcf-protection) $(if $(filter aarch64,$(PROCESSOR)),-mbranch-protection=standard)
FORTIFY = $(if $(SANITIZE)$(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),,$(if \
	$(filter -O1 -O2 -O3 -Os -Ofast,$(CFLAGS)),-D_FORTIFY_SOURCE=2))

# On arm64 char has no sign; what is shared with BPF, where it has one, and all that was tested on x86-64 has.
#
# -D_GNU_SOURCE= and not =1, which is the same text as a #define _GNU_SOURCE in a file, so both may
# be used.
HOST_CPPFLAGS = -D_GNU_SOURCE= -Iuser -Iinclude -I$(BUILD)/gen $(FORTIFY) $(CPPFLAGS)
HOST_CFLAGS = -std=gnu11 -fsigned-char -fPIE $(HARDENING) $(CFLAGS) $(WARNINGS) \
	$(if $(findstring clang,$(CC)),,$(WARNINGS_GCC)) $(if $(WERROR),-Werror) $(SAN_FLAGS)
HOST_LDFLAGS = -pie -Wl,--as-needed -Wl,-z,relro,-z,now $(LDFLAGS) $(SAN_FLAGS)
LIBS := -lbpf -ldw -lelf -lz -liberty -lprotobuf-c -lncursesw -ltinfo -lm

CC_STAMP := $(call stamp,cc,$(CC) $(HOST_CPPFLAGS) $(HOST_CFLAGS))
LD_STAMP := $(call stamp,ld,$(CC) $(HOST_LDFLAGS) $(LIBS))
LIST_STAMP := $(call stamp,list,$(LIB_SRC))

$(BUILD)/obj/%.o: %.c $(CC_STAMP) | $$(@D)/
	$(call msg,CC,$@)
	$(Q)$(CC) $(HOST_CPPFLAGS) $(HOST_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/obj/gen/%.o: $(BUILD)/gen/%.c $(CC_STAMP) | $$(@D)/
	$(call msg,CC,$@)
	$(Q)$(CC) $(HOST_CPPFLAGS) $(HOST_CFLAGS) -MMD -MP -c -o $@ $<

# Before the first build there are no .d files to say who needs a skeleton.
$(filter $(BUILD)/obj/user/host/engine/% $(BUILD)/obj/user/calls/% $(BUILD)/obj/user/host/cost/%,$(LIB_OBJ)): | $(SKELS)

# Names of system calls by number, from the kernel's headers: this processor's, and on x86-64 those of 32-bit programs.
SYSCALLS_H := $(BUILD)/gen/syscalls.h $(BUILD)/gen/syscalls_compat.h
$(BUILD)/gen/syscalls.h: syscalls_in := asm/unistd.h
$(BUILD)/gen/syscalls_compat.h: syscalls_in := $(if $(filter x86_64,$(PROCESSOR)),asm/unistd_32.h,asm/types.h)
$(SYSCALLS_H): $(CC_STAMP) user/user.mk | $$(@D)/
	$(call msg,GEN,$@)
	$(Q)echo '#include <$(syscalls_in)>' | $(CC) -E -dM -x c - | \
		sed -En 's/^#define __NR(3264)?_([a-z][a-z0-9_]*) ([0-9]+)$$/[\3] = "\2",/p' | sort -t'[' -k2n >$@
$(BUILD)/obj/user/host/engine/wait_classes.o: $(SYSCALLS_H)

$(filter $(BUILD)/obj/user/export/% $(BUILD)/obj/user/agent/%,$(LIB_OBJ)): | $(PROTO_H)

$(BUILD)/gen/%.pb-c.c $(BUILD)/gen/%.pb-c.h: user/export/%.proto | $$(@D)/
	$(call msg,PROTOC,$@)
	$(Q)protoc-c --c_out=$(@D) --proto_path=$(<D) $(<F)

# $(call as_c,NAME): converts a text on standard input to the C string NAME
as_c = { echo 'extern const char $1[];'; \
	echo 'const char $1[] = {'; \
	od -An -v -tu1 | sed 's/\([0-9][0-9]*\)/\1,/g'; \
	echo '0 };'; }

# The contents of a file as a string with the name that the source uses.
$(SCHEMA_C): $(SCHEMA)
$(COMPLETION_C): $(BUILD)/gen/completion_%.c: user/completion/bpfprofil.%
$(SCHEMA_C) $(COMPLETION_C): | $$(@D)/
	$(call msg,GEN,$@)
	$(Q)$(call as_c,$(basename $(@F))) <$< >$@

page_parts = user/report/html/$1.html user/report/html/style.css $(PAGE_JS_$1:%=user/report/html/%.js)
page_of = $(patsubst html_%_page.c,%,$(notdir $@))

define page_needs
$(BUILD)/gen/html_$1_page.c: $(call page_parts,$1)
endef
$(foreach p,$(PAGES),$(eval $(call page_needs,$p)))

$(PAGE_C): .make/page user/user.mk | $$(@D)/
	$(call msg,GEN,$@)
	$(Q).make/page $(call page_parts,$(page_of)) | $(call as_c,html_$(page_of)_page) >$@

# The list of sources is a prerequisite and ar starts anew, because the object of a removed file
# must go.
$(LIB): $(LIB_OBJ) $(LIST_STAMP) | $$(@D)/
	$(call msg,AR,$@)
	$(Q)rm -f $@
	$(Q)$(AR) rcsD $@ $(filter %.o,$^)

$(BUILD)/bpfprofil: $(MAIN_OBJ) $(LIB) $(LD_STAMP)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(HOST_CFLAGS) $(HOST_LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS)

# Section 3's have names of their own, for profil.3 is libc's: `man 3bpfprofil profil`.
MAN_PAGES := $(patsubst user/man/%,$(BUILD)/man/%,$(wildcard user/man/*.[1-9] user/man/*.3bpfprofil))
$(MAN_PAGES): $(BUILD)/man/%: user/man/% $(wildcard user/man/shared/*) .make/manual | $$(@D)/
	$(call msg,MAN,$@)
	$(Q).make/manual $< >$@

DEP_FILES += $(patsubst %.o,%.d,$(LIB_OBJ) $(MAIN_OBJ))

-include $(wildcard user/client/client.mk user/static/static.mk)
