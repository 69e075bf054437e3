// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "client/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/lib-names.h>
#include <stdio.h>
#include <string.h>

#include "client/settings.h"

static struct real_calls real;

/* Which of libc's functions is counting. Each can be ended only once, and only by itself. */
static enum { LIBC_OFF, LIBC_PROFIL, LIBC_SPROFIL } libc_counts;

/*
 * Look in libc and not in the next library: in a program that is linked with libbpfprofil the next
 * library has our own functions.
 */
__attribute__((constructor)) static void find_real(void)
{
	void *libc = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);

	if (!libc)
		return;
	real.profil = dlsym(libc, "profil");
	real.sprofil = dlsym(libc, "sprofil");
	real.monstartup = dlsym(libc, "__monstartup");
	real.moncontrol = dlsym(libc, "moncontrol");
	real.mcleanup = dlsym(libc, "_mcleanup");
	dlclose(libc);
}

/* If a library before us calls in its constructor, ours has not run yet. */
const struct real_calls *preload_real(void)
{
	if (!real.profil)
		find_real();
	return &real;
}

void preload_report_fallback(const char *call, int error)
{
	static int reported;
	int before = errno, verbose = client_settings()->verbose;

	if (verbose > 0 || (verbose < 0 && !__atomic_exchange_n(&reported, 1, __ATOMIC_RELAXED)))
		dprintf(2, "bpfprofil: %s: no server: %s; libc counts\n", call, strerror(error));
	errno = before;
}

static void end_libc_counting(void)
{
	const struct real_calls *libc = preload_real();

	if (libc_counts == LIBC_PROFIL && libc->profil)
		libc->profil(NULL, 0, 0, 0);
	else if (libc_counts == LIBC_SPROFIL && libc->sprofil)
		libc->sprofil(NULL, 0, NULL, 0);
	libc_counts = LIBC_OFF;
}

EXPORT int profil(unsigned short *buf, size_t bufsiz, size_t offset, unsigned int scale)
{
	struct outcome outcome = client_profil(DIALECT_CURRENT, buf, bufsiz, offset, scale);

	if (client_may_fall_back(&outcome) && preload_real()->profil) {
		preload_report_fallback("profil", outcome.error);
		end_libc_counting();
		libc_counts = LIBC_PROFIL;
		return preload_real()->profil(buf, bufsiz, offset, scale);
	}
	end_libc_counting();
	return (int)client_return(&outcome);
}

EXPORT int sprofil(struct prof *profp, int profcnt, struct timeval *tvp, unsigned int flags)
{
	struct outcome outcome = client_sprofil(DIALECT_CURRENT, profp, profcnt, tvp, flags);

	if (client_may_fall_back(&outcome) && preload_real()->sprofil) {
		preload_report_fallback("sprofil", outcome.error);
		end_libc_counting();
		libc_counts = profcnt > 0 ? LIBC_SPROFIL : LIBC_OFF;
		return preload_real()->sprofil(profp, profcnt, tvp, flags);
	}
	end_libc_counting();
	return (int)client_return(&outcome);
}

/* libc has no such function to fall back on. */
EXPORT long pcsample(uintptr_t samples[], long nsamples)
{
	struct outcome outcome = client_pcsample(samples, nsamples);

	if (outcome.served || !outcome.error)
		end_libc_counting();
	return client_return(&outcome);
}
