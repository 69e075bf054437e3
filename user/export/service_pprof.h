/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SERVICE_PPROF_H
#define BPFPROFIL_SERVICE_PPROF_H

#include "export/samples.h"

/*
 * One service as pprof, for backends that have labels of their own for whose it is: its samples add up
 * to all its ticks, as those of OTLP do. Not compressed. 0 or -ENOMEM, beside what the stream says.
 * NULL: all services, each sample with the service's name and cgroup as labels.
 */
int service_pprof_write(const struct samples *samples, const struct sample_service *service,
			FILE *stream);

#endif
