// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Calls every function once, compiled as C and as C++, and prints the results. */
#ifdef SYSTEM_HEADER_FIRST
#include <sys/profil.h>
#include <unistd.h>
#endif
#include <bpfprofil/profil.h>
#ifdef SYSTEM_HEADER_LAST
#include <sys/profil.h>
#include <unistd.h>
#endif

#include <errno.h>
#include <stdio.h>
#include <string.h>

static unsigned short counters[64];
static uintptr_t samples[16];

/* For a server that replies 0 to everything, with a period of 10 ms. */
static int all_calls(void)
{
	struct prof region;
	struct timeval tick;
	bpfprofil_status_t status;
	int bad = PROFIL_MAX != 4096;

	memset(&region, 0, sizeof(region));
	region.pr_base = counters;
	region.pr_size = sizeof(counters);
	region.pr_off = 0x1000;
	region.pr_scale = 0x10000;
	tick.tv_sec = 7;
	errno = ENOTTY;
	bad |= bpfprofil_dialect("irix") != 0;
	bad |= (profil(counters, sizeof(counters), 0x1000, 0x10000) != 0) << 1;
	bad |= (sprofil(&region, 1, &tick, PROF_UINT | PROF_FAST | PROF_USHORT) != 0) << 2;
	bad |= (tick.tv_sec != 0 || tick.tv_usec != 10000) << 3;
	bad |= (pcsample(samples, 16) != 0) << 4;
	bad |= (bpfprofil_sync() != 0) << 5;
	bad |= (bpfprofil_status(&status, sizeof(status)) != 0) << 6;
	bad |= (status.on != BPFPROFIL_PROFIL || status.stopped != BPFPROFIL_STOPPED_NOT) << 7;
	bad |= (errno != ENOTTY) << 8;
	bad |= (bpfprofil_dialect("esperanto") != -1 || errno != EINVAL) << 9;
	return bad;
}

int main(void)
{
	int bad = all_calls();

	printf(bad ? "bad 0x%x\n" : "good\n", (unsigned int)bad);
	return bad != 0;
}
