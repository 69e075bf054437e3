// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "bpfprofil/profil.h"

#include "client/calls.h"

EXPORT int profil(unsigned short *buf, size_t bufsiz, size_t offset, unsigned int scale)
{
	struct outcome outcome = client_profil(DIALECT_CURRENT, buf, bufsiz, offset, scale);

	return (int)client_return(&outcome);
}

EXPORT int sprofil(struct prof *profp, int profcnt, struct timeval *tvp, unsigned int flags)
{
	struct outcome outcome = client_sprofil(DIALECT_CURRENT, profp, profcnt, tvp, flags);

	return (int)client_return(&outcome);
}

EXPORT long pcsample(uintptr_t samples[], long nsamples)
{
	struct outcome outcome = client_pcsample(samples, nsamples);

	return client_return(&outcome);
}
