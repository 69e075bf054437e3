// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/abandoned.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static struct {
	pthread_mutex_t lock;
	pid_t all[ABANDONED_MAX];
	size_t nr;
} abandoned = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* With the lock held. */
static void reap(void)
{
	size_t i, kept = 0;

	for (i = 0; i < abandoned.nr; i++)
		if (!waitpid(abandoned.all[i], NULL, WNOHANG))
			abandoned.all[kept++] = abandoned.all[i];
	abandoned.nr = kept;
}

void abandon_process(pid_t pid)
{
	kill(pid, SIGKILL);
	pthread_mutex_lock(&abandoned.lock);
	reap();
	if (abandoned.nr < ABANDONED_MAX)
		abandoned.all[abandoned.nr++] = pid;
	pthread_mutex_unlock(&abandoned.lock);
}

size_t abandoned_processes(void)
{
	size_t nr;

	pthread_mutex_lock(&abandoned.lock);
	reap();
	nr = abandoned.nr;
	pthread_mutex_unlock(&abandoned.lock);
	return nr;
}
