// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/sampler.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/util.h"

#define ONLINE_CPUS "/sys/devices/system/cpu/online"
#define MAX_SAMPLE_RATE "/proc/sys/kernel/perf_event_max_sample_rate"

/* CPU hotplug is reported on the kernel's uevent socket; sysfs attributes cannot be waited for. */
static int uevent_open(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * A suspension to memory removes CPUs and brings them back, without an event on that socket. At its
 * end, and when the clock is set, a timer of this kind is cancelled.
 */
static int resume_open(void)
{
	const struct itimerspec never = { .it_value.tv_sec = INT64_MAX / SECOND_NS };
	int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0 &&
	    timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* One descriptor to wait for both. */
static int changes_open(const struct sampler *sampler)
{
	const int fds[] = { sampler->uevent_fd, sampler->resume_fd };
	int fd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = { .events = EPOLLIN };
	size_t i;

	for (i = 0; fd >= 0 && i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			epoll_ctl(fd, EPOLL_CTL_ADD, fds[i], &event);
	return fd;
}

int sampler_init(struct sampler *sampler, uint64_t period_ns, uint32_t cpus, struct error *err)
{
	size_t i;

	memset(sampler, 0, sizeof(*sampler));
	sampler->uevent_fd = sampler->resume_fd = sampler->changes_fd = -1;
	sampler->programs = (struct sampler_programs){ .clock_fd = -1, .tick_fd = -1 };
	sampler->tick_link_fd = -1;
	grace_period_init(&sampler->grace);
	sampler->period_ns = period_ns;
	sampler->events = calloc((size_t)cpus * SAMPLER_CLOCKS, sizeof(*sampler->events));
	sampler->left_out = calloc(cpus, sizeof(*sampler->left_out));
	if (!sampler->events || !sampler->left_out)
		return error_no_memory(err, "events");
	sampler->nr_events = (size_t)cpus * SAMPLER_CLOCKS;
	for (i = 0; i < sampler->nr_events; i++)
		sampler->events[i] = (struct sampler_event){ .fd = -1, .link_fd = -1 };
	sampler->uevent_fd = uevent_open();
	sampler->resume_fd = resume_open();
	sampler->changes_fd = changes_open(sampler);
	return 0;
}

bool cpu_list_next(struct cpu_list *list, uint32_t *cpu)
{
	char *end;

	while (list->next >= list->end) {
		if (*list->rest < '0' || *list->rest > '9')
			return false;
		list->next = list->end = strtoul(list->rest, &end, 10);
		if (*end == '-')
			list->end = strtoul(end + 1, &end, 10);
		list->end++;
		list->rest = *end == ',' ? end + 1 : end;
	}
	*cpu = (uint32_t)list->next++;
	return true;
}

/*
 * The rates of the clocks, in thirds of a millionth of the whole. No two have a ratio near small
 * numbers to each other, to the whole or to its third, because a program's own period may be one of
 * these. They add up to the rate of period_ns.
 */
static uint64_t clock_period(uint64_t period_ns, unsigned int clock)
{
	static const uint64_t rates[SAMPLER_CLOCKS] = { 921700, 1021400, 1056900 };

	return (period_ns * 3000000 + rates[clock] / 2) / rates[clock];
}

int cpu_clock_open(uint64_t period_ns, pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		/*
		 * Idle ticks belong to no thread. They would also count against the throttle, which
		 * the scheduler's tick resets, and idle CPUs stop that tick: after some 400 idle
		 * ticks the clock would stop until a jiffy after the next wake-up.
		 */
		.exclude_idle = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int sampler_choose_cpus(struct sampler *sampler, const char *list, struct error *err)
{
	const uint32_t cpus = (uint32_t)(sampler->nr_events / SAMPLER_CLOCKS);
	char text[8192];
	struct cpu_list chosen = { .rest = list }, online = { .rest = text };
	int64_t absent = -1;
	bool some_online = false;
	uint32_t cpu;
	int ret;

	memset(sampler->left_out, true, cpus * sizeof(*sampler->left_out));
	while (cpu_list_next(&chosen, &cpu))
		if (cpu < cpus)
			sampler->left_out[cpu] = false;
		else if (absent < 0)
			absent = cpu;
	ret = read_first_line(ONLINE_CPUS, text, sizeof(text));
	if (ret)
		return error_errno(err, ret, ONLINE_CPUS);
	while (cpu_list_next(&online, &cpu))
		some_online |= cpu < cpus && !sampler->left_out[cpu];
	if (absent < 0 && some_online)
		return 0;
	if (absent < 0)
		error_set(err, -EINVAL, "--cpu %.200s: none of them is online", list);
	else
		error_set(err, -EINVAL, "--cpu %.200s: there is no CPU %" PRId64, list, absent);
	error_hint(err, "some of %.200s", text);
	return -EINVAL;
}

static void event_close(struct sampler_event *event)
{
	close_fd(&event->link_fd);
	close_fd(&event->fd);
}

/*
 * Ticks that the throttle withheld: the event's time advanced while its count stood still, at least
 * until the end of a jiffy. A difference below a millisecond only means that the two clocks are
 * read one after the other.
 */
static uint64_t event_withheld(const struct sampler_event *event)
{
	struct {
		uint64_t count, enabled, running;
	} values;

	if (read(event->fd, &values, sizeof(values)) != sizeof(values))
		return 0;
	if (values.running < values.count + 1000000)
		return 0;
	return (values.running - values.count) / event->period_ns;
}

static bool is_clocked(const struct sampler_programs *programs, uint32_t cpu)
{
	if (programs->tick_fd < 0)
		return true;
	return cpu < TICKLESS_CPUS && programs->tickless[cpu / 64] >> cpu % 64 & 1;
}

static int open_clock(struct sampler *sampler, uint32_t cpu, unsigned int clock, struct error *err)
{
	struct sampler_event *event = &sampler->events[cpu * SAMPLER_CLOCKS + clock];
	int fd;

	event->period_ns = clock_period(sampler->period_ns, clock);
	fd = cpu_clock_open(event->period_ns, -1, (int)cpu);
	if (fd == -ENODEV || fd == -ENXIO)
		return 0; /* the CPU went away after the list was read */
	if (fd < 0)
		return error_errno(err, fd, "perf_event_open: CPU clock of CPU %u", cpu);
	event->fd = fd;
	event->link_fd = bpf_link_create(sampler->programs.clock_fd, fd, BPF_PERF_EVENT, NULL);
	if (event->link_fd < 0)
		return error_errno(err, event->link_fd,
				   "attaching the program to the clock of CPU %u", cpu);
	return 0;
}

static int start_clock(struct sampler *sampler, uint32_t cpu, unsigned int clock, struct error *err)
{
	struct sampler_event *event = &sampler->events[cpu * SAMPLER_CLOCKS + clock];
	int ret = event->fd < 0 ? open_clock(sampler, cpu, clock, err) : 0;

	if (!ret && event->fd >= 0 && ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0))
		ret = error_errno(err, -errno, "enabling the clock of CPU %u", cpu);
	return ret;
}

static int start_cpu(struct sampler *sampler, uint32_t cpu, struct error *err)
{
	unsigned int clock;
	int ret = 0;

	if (cpu >= sampler->nr_events / SAMPLER_CLOCKS || sampler->left_out[cpu] ||
	    !is_clocked(&sampler->programs, cpu))
		return 0;
	for (clock = 0; !ret && clock < SAMPLER_CLOCKS; clock++)
		ret = start_clock(sampler, cpu, clock, err);
	return ret;
}

static int start_online(struct sampler *sampler, struct error *err)
{
	char text[8192];
	struct cpu_list online = { .rest = text };
	int ret = read_first_line(ONLINE_CPUS, text, sizeof(text));
	uint32_t cpu;

	if (ret)
		return error_errno(err, ret, ONLINE_CPUS);
	while (!ret && cpu_list_next(&online, &cpu))
		ret = start_cpu(sampler, cpu, err);
	return ret;
}

static int start_tick(struct sampler *sampler, struct error *err)
{
	sampler->tick_link_fd = bpf_raw_tracepoint_open(NULL, sampler->programs.tick_fd);
	if (sampler->tick_link_fd < 0)
		return error_errno(err, sampler->tick_link_fd,
				   "attaching the program to the scheduler's tick");
	return 0;
}

int sampler_start(struct sampler *sampler, const struct sampler_programs *programs,
		  struct error *err)
{
	int ret = 0;

	sampler->programs = *programs;
	if (programs->tick_fd >= 0)
		ret = start_tick(sampler, err);
	if (!ret)
		ret = start_online(sampler, err);
	if (ret)
		sampler_stop(sampler);
	sampler->running = !ret;
	return ret;
}

/* Closes the events of a CPU that went offline, because they do not work again (bpftrace #3125). */
static void forget_cpu(struct sampler *sampler, unsigned long cpu)
{
	struct sampler_event *event;
	unsigned int clock;

	if (cpu >= sampler->nr_events / SAMPLER_CLOCKS)
		return;
	for (clock = 0; clock < SAMPLER_CLOCKS; clock++) {
		event = &sampler->events[cpu * SAMPLER_CLOCKS + clock];
		if (event->fd < 0)
			continue;
		sampler->withheld += event_withheld(event);
		event_close(event);
	}
}

/*
 * Whether a suspension may have ended since the last call, after which clocks are dead. If only the
 * time was set, or the suspension was aborted, they are opened anew for nothing.
 */
static bool may_have_slept(const struct sampler *sampler)
{
	uint64_t expired;

	/* Reading resets the timer. */
	return sampler->resume_fd >= 0 && read(sampler->resume_fd, &expired, sizeof(expired)) < 0 &&
	       errno == ECANCELED;
}

int sampler_follow_cpus(struct sampler *sampler, struct error *err)
{
	static const char offline[] = "offline@/devices/system/cpu/cpu";
	bool changed = may_have_slept(sampler);
	char event[4096];
	ssize_t got;
	size_t cpu;

	for (cpu = 0; changed && cpu < sampler->nr_events / SAMPLER_CLOCKS; cpu++)
		forget_cpu(sampler, cpu);
	while ((got = recv(sampler->uevent_fd, event, sizeof(event) - 1, 0)) > 0) {
		event[got] = '\0';
		changed = true;
		if (!strncmp(event, offline, strlen(offline)))
			forget_cpu(sampler, strtoul(event + strlen(offline), NULL, 10));
	}
	return changed && sampler->running ? start_online(sampler, err) : 0;
}

/*
 * Waits for programs on other CPUs. Only the tick needs this: once perf's clock is off, no program
 * runs.
 */
static void stop_tick(struct sampler *sampler)
{
	if (sampler->tick_link_fd < 0)
		return;
	close_fd(&sampler->tick_link_fd);
	if (grace_period_wait(&sampler->grace))
		usleep(10000); /* the program takes microseconds */
}

static void disable_clocks(struct sampler *sampler)
{
	size_t i;

	for (i = 0; i < sampler->nr_events; i++)
		if (sampler->events[i].fd >= 0)
			ioctl(sampler->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

void sampler_stop(struct sampler *sampler)
{
	size_t i;

	stop_tick(sampler);
	disable_clocks(sampler);
	for (i = 0; i < sampler->nr_events; i++) {
		if (sampler->events[i].fd < 0)
			continue;
		sampler->withheld += event_withheld(&sampler->events[i]);
		event_close(&sampler->events[i]);
	}
	sampler->running = false;
}

void sampler_free(struct sampler *sampler)
{
	free(sampler->left_out);
	sampler->left_out = NULL;
	if (!sampler->events)
		return;
	sampler_stop(sampler);
	grace_period_free(&sampler->grace);
	close_fd(&sampler->changes_fd);
	close_fd(&sampler->resume_fd);
	close_fd(&sampler->uevent_fd);
	free(sampler->events);
	sampler->events = NULL;
	sampler->nr_events = 0;
}

double sampler_max_hz(void)
{
	char text[32];

	if (read_first_line(MAX_SAMPLE_RATE, text, sizeof(text)))
		return INFINITY; /* the kernel has no such limit */
	return (double)strtoull(text, NULL, 10);
}

int sampler_check_rate(double hz, struct error *err)
{
	double limit = sampler_max_hz();

	if (hz <= limit)
		return 0;
	error_set(err, -EINVAL,
		  "-F %.6g: above kernel.perf_event_max_sample_rate, which is %.0f here", hz,
		  limit);
	error_hint(err, "-F %.0f, or sysctl kernel.perf_event_max_sample_rate=%.0f", limit, hz);
	return -EINVAL;
}
