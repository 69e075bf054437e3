# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What other programs link or preload: libbpfprofil.so.0, libbpfprofil.a, libbpfprofil-preload.so.
#
# All three use the same objects, which require nothing of the program: no sanitizer runtime, no
# fortified functions of glibc (the archive serves musl too), position independent.

CLIENT_ABI := 0
CLIENT_SO := $(BUILD)/libbpfprofil.so.$(CLIENT_ABI)
CLIENT_A := $(BUILD)/libbpfprofil.a
CLIENT_PRELOAD := $(BUILD)/libbpfprofil-preload.so
CLIENT_LIBS := $(CLIENT_SO) $(CLIENT_A) $(CLIENT_PRELOAD)

CLIENT_PRELOAD_SRC := $(addprefix user/client/,preload.c preload_gmon.c gmon_file.c)
CLIENT_ARCHIVE_SRC := user/client/wrap.c
CLIENT_CALLS_SRC := user/client/profil.c
CLIENT_CORE_SRC := $(filter-out $(CLIENT_PRELOAD_SRC) $(CLIENT_ARCHIVE_SRC) $(CLIENT_CALLS_SRC),$(CLIENT_SRC))
client_obj = $(patsubst %.c,$(BUILD)/obj/%.o,$1)
CLIENT_OBJ := $(call client_obj,$(CLIENT_SRC))

# profil() is declared with a buffer that is never NULL, although NULL ends it, so gcc must not rely
# on that.
CLIENT_CFLAGS := -fPIC -fvisibility=hidden -fno-delete-null-pointer-checks
CLIENT_CPPFLAGS := -U_FORTIFY_SOURCE
CLIENT_PATH := -DBPFPROFIL_PATH='"$(PREFIX)/bin/bpfprofil"'
CLIENT_LDFLAGS = -shared -Wl,-z,relro,-z,now,-z,defs $(CFLAGS) $(LDFLAGS)
CLIENT_STAMP := $(call stamp,client,$(CLIENT_CFLAGS) $(CLIENT_CPPFLAGS) $(CLIENT_SRC))

$(CLIENT_OBJ): private HOST_CFLAGS += $(CLIENT_CFLAGS)
$(CLIENT_OBJ): private HOST_CPPFLAGS += $(CLIENT_CPPFLAGS)
$(CLIENT_OBJ): private SAN_FLAGS :=
$(CLIENT_OBJ): $(CLIENT_STAMP)
$(BUILD)/obj/user/client/settings.o: private HOST_CPPFLAGS += $(CLIENT_PATH)
$(BUILD)/obj/user/client/settings.o: $(call stamp,client_path,$(CLIENT_PATH))

$(CLIENT_SO): $(call client_obj,$(CLIENT_CORE_SRC) $(CLIENT_CALLS_SRC)) user/client/libbpfprofil.map
$(CLIENT_PRELOAD): $(call client_obj,$(CLIENT_CORE_SRC) $(CLIENT_PRELOAD_SRC)) user/client/preload.map
$(CLIENT_SO) $(CLIENT_PRELOAD): $(CLIENT_STAMP) $(LD_STAMP)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CLIENT_LDFLAGS) -Wl,-soname,$(@F) -Wl,--version-script,$(filter %.map,$^) -o $@ \
		$(filter %.o,$^)

$(CLIENT_A): $(call client_obj,$(CLIENT_CORE_SRC) $(CLIENT_CALLS_SRC) $(CLIENT_ARCHIVE_SRC)) $(CLIENT_STAMP)
	$(call msg,AR,$@)
	$(Q)rm -f $@
	$(Q)$(AR) rcsD $@ $(filter %.o,$^)

all: $(CLIENT_LIBS)

# --- install --------------------------------------------------------------------------------------

CLIENT_HEADERS := $(wildcard include/bpfprofil/*.h include/bpfprofil/*/*.h)
CLIENT_PC := $(LIBDIR)/pkgconfig/libbpfprofil.pc
# Not affected by LIBDIR, because `run --preload` looks for it beside bin/.
CLIENT_PRIVATE := $(PREFIX)/lib/bpfprofil
CLIENT_INSTALLED = $(LIBDIR)/$(notdir $(CLIENT_SO)) $(LIBDIR)/libbpfprofil.so $(LIBDIR)/$(notdir $(CLIENT_A)) \
	$(CLIENT_PRIVATE)/$(notdir $(CLIENT_PRELOAD)) $(CLIENT_PC) \
	$(CLIENT_HEADERS:include/%=$(INCLUDEDIR)/%)

install-client: $(CLIENT_LIBS)
	$(Q)install -D -m 644 -t $(DESTDIR)$(LIBDIR) $(CLIENT_SO) $(CLIENT_A)
	$(Q)ln -sf $(notdir $(CLIENT_SO)) $(DESTDIR)$(LIBDIR)/libbpfprofil.so
	$(Q)install -D -m 644 -t $(DESTDIR)$(CLIENT_PRIVATE) $(CLIENT_PRELOAD)
	$(Q)for header in $(CLIENT_HEADERS:include/%=%); do \
		install -D -m 644 include/$$header $(DESTDIR)$(INCLUDEDIR)/$$header || exit; \
	done
	$(Q)install -D -m 644 user/client/libbpfprofil.pc.in $(DESTDIR)$(CLIENT_PC)
	$(Q)version=$$(sed -n 's/.*BPFPROFIL_VERSION "\(.*\)".*/\1/p' include/bpfprofil/version.h); \
		sed -i -e "s|@VERSION@|$$version|" -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
			-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' $(DESTDIR)$(CLIENT_PC)

.PHONY: install-client

DEP_FILES += $(CLIENT_OBJ:.o=.d)
