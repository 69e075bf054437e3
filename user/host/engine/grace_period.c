// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/grace_period.h"

#include <bpf/bpf.h>
#include <stdint.h>

#include "base/util.h"

void grace_period_init(struct grace_period *grace)
{
	*grace = (struct grace_period){ .fd = -1, .inner_fd = -1 };
}

static int make(struct grace_period *grace)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);

	grace->inner_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "bpfprofil_turn", 4, 4, 1, NULL);
	if (grace->inner_fd < 0)
		return grace->inner_fd;
	opts.inner_map_fd = grace->inner_fd;
	grace->fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "bpfprofil_grace", 4, 4, 1, &opts);
	if (grace->fd >= 0)
		return 0;
	close_fd(&grace->inner_fd);
	return grace->fd;
}

int grace_period_wait(struct grace_period *grace)
{
	uint32_t key = 0;
	int ret = grace->fd < 0 ? make(grace) : 0;

	return ret ? ret : bpf_map_update_elem(grace->fd, &key, &grace->inner_fd, BPF_ANY);
}

void grace_period_free(struct grace_period *grace)
{
	close_fd(&grace->fd);
	close_fd(&grace->inner_fd);
}
