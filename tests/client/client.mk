# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The tests of user/client link its sources as separate objects: with the build's sanitizers,
# shorter timeouts, and a private server that belongs to the tests. The programs below use the
# libraries as they are installed, each linked in one of the possible ways.

CT_SRC := tests/client/programs
CT_OUT := $(BUILD)/tests/client
CT_TEST_SRC := $(filter-out user/client/preload%.c user/client/wrap.c,$(CLIENT_SRC))
CT_TEST_OBJ := $(CT_TEST_SRC:%.c=$(CT_OUT)/obj/%.o)
CT_CFLAGS := -O1 -g -Wall -Wextra -Iinclude $(if $(WERROR),-Werror)
CT_STAMP := $(call stamp,client_tests,$(CC) $(CXX) $(CT_CFLAGS) $(HOST_CPPFLAGS) $(HOST_CFLAGS) $(CT_TEST_SRC))

# Debian has no musl for another processor than the machine's.
CT_PROGRAMS := caller_c89 caller_c99 caller_c11 caller_cxx98 caller_cxx17 caller_static \
	$(if $(CROSS),,caller_musl caller_musl_static caller_musl_so) fallback pg_both pg_pie pg_nopie pg_static private
CT_BIN := $(CT_PROGRAMS:%=$(CT_OUT)/%)

LAYER_NEEDS_client := $(CT_BIN) $(CLIENT_LIBS)
LAYER_CPPFLAGS_client := -DCLIENT_PROGRAMS='"$(CURDIR)/$(CT_OUT)"' \
	-DCLIENT_PRELOAD='"$(CURDIR)/$(CLIENT_PRELOAD)"' -DCLIENT_LIBDIR='"$(CURDIR)/$(BUILD)"'

$(BUILD)/tests/test_client: $(CT_TEST_OBJ)

$(CT_OUT)/obj/%.o: %.c $(CT_STAMP) | $$(@D)/
	$(call msg,CC,$@)
	$(Q)$(CC) $(HOST_CPPFLAGS) $(HOST_CFLAGS) -fno-delete-null-pointer-checks \
		-DCLIENT_PATIENCE_SECONDS=1 -DBPFPROFIL_PATH='"/nonexistent/bpfprofil"' -MMD -MP -c -o $@ $<

define CT_CC
$(call msg,CC,$@)
$(Q)$1 $(CT_CFLAGS) -MMD -MP -MF $@.d -MT $@
endef
$(CT_BIN): $(CT_STAMP) | $$(@D)/

# With the shared library, by compiler options that users may have. The source's first line is a
# comment that C89 does not allow.
$(CT_OUT)/caller_c89: $(CT_SRC)/caller.c $(CLIENT_SO)
	$(call CT_CC,sed 1d $< | $(CC) -x c - -std=c89 -pedantic -Iinclude/bpfprofil -DSYSTEM_HEADER_FIRST -D_DEFAULT_SOURCE) \
		-o $@ -x none $(CLIENT_SO)
$(CT_OUT)/caller_c99: $(CT_SRC)/caller.c $(CLIENT_SO)
	$(call CT_CC,$(CC) -std=c99 -pedantic) -o $@ $< $(CLIENT_SO)
$(CT_OUT)/caller_c11: $(CT_SRC)/caller.c $(CLIENT_SO)
	$(call CT_CC,$(CC) -std=c11 -pedantic -DSYSTEM_HEADER_FIRST -D_DEFAULT_SOURCE) -o $@ $< $(CLIENT_SO)
$(CT_OUT)/caller_cxx98: $(CT_SRC)/caller.c $(CLIENT_SO)
	$(call CT_CC,$(CXX) -x c++ -std=c++98) -o $@ $< -x none $(CLIENT_SO)
$(CT_OUT)/caller_cxx17: $(CT_SRC)/caller.c $(CLIENT_SO)
	$(call CT_CC,$(CXX) -x c++ -std=c++17 -pedantic -DSYSTEM_HEADER_LAST) -o $@ $< -x none $(CLIENT_SO)

# With the archive; the one that was compiled for glibc serves musl too.
$(CT_OUT)/caller_static: $(CT_SRC)/caller.c $(CLIENT_A)
	$(call CT_CC,$(CC) -static) -o $@ $< $(CLIENT_A)
$(CT_OUT)/caller_musl: $(CT_SRC)/caller.c $(CLIENT_A)
	$(call CT_CC,musl-gcc -DNO_SYSTEM_PROFIL) -o $@ $< $(CLIENT_A)
$(CT_OUT)/caller_musl_static: $(CT_SRC)/caller.c $(CLIENT_A)
	$(call CT_CC,musl-gcc -static -Iinclude/bpfprofil -DSYSTEM_HEADER_FIRST -DNO_SYSTEM_PROFIL) -o $@ $< $(CLIENT_A)

# And a musl distribution's own library, from the same sources.
$(CT_OUT)/libbpfprofil-musl.so: $(filter-out user/client/preload%.c user/client/gmon_file.c user/client/wrap.c,$(CLIENT_SRC)) \
		user/client/libbpfprofil.map | $$(@D)/
	$(call CT_CC,musl-gcc -std=gnu11 -Iuser -D_GNU_SOURCE= $(CLIENT_CFLAGS) $(CLIENT_CPPFLAGS) $(CLIENT_PATH) -shared) \
		-Wl$(comma)--version-script$(comma)user/client/libbpfprofil.map -o $@ $(filter %.c,$^)
$(CT_OUT)/caller_musl_so: $(CT_SRC)/caller.c $(CT_OUT)/libbpfprofil-musl.so
	$(call CT_CC,musl-gcc -DNO_SYSTEM_PROFIL) -o $@ $< $(CT_OUT)/libbpfprofil-musl.so

# Programs for LD_PRELOAD: built with -pg, and without knowledge of us; also a static one.
$(CT_OUT)/pg_pie: $(CT_SRC)/pg.c
	$(call CT_CC,$(CC) -pg -fPIE -pie -pthread) -o $@ $<
# Linked with us too, as a program that uses sprofil() and -pg.
$(CT_OUT)/pg_both: $(CT_SRC)/pg.c $(CLIENT_SO)
	$(call CT_CC,$(CC) -pg -fPIE -pie -pthread) -o $@ $< -Wl$(comma)--no-as-needed $(CLIENT_SO)
$(CT_OUT)/fallback: $(CT_SRC)/fallback.c
	$(call CT_CC,$(CC) -D_GNU_SOURCE= -Wno-nonnull) -o $@ $<
$(CT_OUT)/pg_nopie: $(CT_SRC)/pg.c
	$(call CT_CC,$(CC) -pg -fno-pie -no-pie -pthread) -o $@ $<
$(CT_OUT)/pg_static: $(CT_SRC)/pg.c $(CLIENT_A)
	$(call CT_CC,$(CC) -pg -static -pthread) -Wl$(comma)--wrap=__profil$(comma)-u$(comma)__wrap___profil \
		-o $@ $< $(CLIENT_A)

$(CT_OUT)/private: $(CT_SRC)/private.c
	$(call CT_CC,$(CC) -D_GNU_SOURCE=) -o $@ $<

DEP_FILES += $(CT_TEST_OBJ:.o=.d) $(CT_BIN:%=%.d)
