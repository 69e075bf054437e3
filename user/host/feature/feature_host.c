// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What the process may do and how the host is configured, found without BPF. */
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "host/cost/calibrate.h"
#include "host/cost/lateness.h"
#include "host/engine/sampler.h"
#include "host/engine/sched_tick.h"
#include "host/engine/session.h"
#include "host/feature/feature_probes.h"

#define DEFAULT_HZ 997
#define TICKS_NS 300000000 /* how long the scheduler's ticks are measured */

void feature_answer_set(struct feature_answer *answer, enum feature_state state, const char *mend,
			const char *format, ...)
{
	va_list args;

	answer->state = state;
	va_start(args, format);
	vsnprintf(answer->detail, sizeof(answer->detail), format, args);
	va_end(args);
	snprintf(answer->mend, sizeof(answer->mend), "%s", mend ? mend : "");
}

static bool capable(unsigned int capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, data))
		return false;
	return data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

/* Reads a kernel setting; -errno if it cannot be read. */
static int read_setting(const char *path, int64_t *result)
{
	char line[32];
	int ret = read_first_line(path, line, sizeof(line));

	if (ret)
		return ret;
	return sscanf(line, "%" SCNd64, result) == 1 ? 0 : -EINVAL;
}

/* How this program can be given the right without being root. */
static void setcap_mend(char *mend, size_t size)
{
	char path[128];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path));

	if (length <= 0 || (size_t)length == sizeof(path))
		length = snprintf(path, sizeof(path), "$(command -v bpfprofil)");
	snprintf(mend, size, "sudo, or: sudo setcap cap_bpf,cap_perfmon+ep %.*s", (int)length,
		 path);
}

void probe_privilege(struct feature_answer *answer)
{
	bool bpf = capable(CAP_BPF), perfmon = capable(CAP_PERFMON);
	const char *why = geteuid() ? "not root, and without CAP_BPF and CAP_PERFMON" :
				      "root, but without CAP_BPF and CAP_PERFMON";
	char mend[192];

	if (capable(CAP_SYS_ADMIN)) {
		feature_answer_set(answer, FEATURE_OK, NULL, "CAP_SYS_ADMIN");
		return;
	}
	if (bpf && perfmon) {
		feature_answer_set(answer, FEATURE_OK, NULL, "CAP_BPF and CAP_PERFMON");
		return;
	}
	if (bpf || perfmon)
		why = bpf ? "CAP_BPF is there, CAP_PERFMON is missing" :
			    "CAP_PERFMON is there, CAP_BPF is missing";
	if (geteuid())
		setcap_mend(mend, sizeof(mend));
	else
		snprintf(mend, sizeof(mend),
			 "a container with --cap-add BPF --cap-add PERFMON, or --privileged");
	feature_answer_set(answer, FEATURE_MISSING, mend, "%s", why);
}

void probe_perf_event(struct feature_answer *answer)
{
	int cpu = sched_getcpu();
	/* Any process on this CPU, as a session opens it on every CPU. */
	cleanup_fd int fd = cpu_clock_open(1000000000, -1, cpu < 0 ? 0 : cpu);
	int64_t paranoid = -1;

	if (fd >= 0) {
		feature_answer_set(answer, FEATURE_OK, NULL, "the CPU clock opens");
		return;
	}
	read_setting("/proc/sys/kernel/perf_event_paranoid", &paranoid);
	if (fd == -ENOSYS || fd == -ENOENT)
		feature_answer_set(answer, FEATURE_MISSING, "a kernel with CONFIG_PERF_EVENTS=y",
				   "the kernel has no perf events");
	else if (fd != -EACCES && fd != -EPERM)
		feature_answer_set(answer, FEATURE_MISSING, NULL, "perf_event_open: %s",
				   strerror(-fd));
	else if (paranoid > 2 && !capable(CAP_SYS_ADMIN))
		/*
		 * Debian's and Ubuntu's kernels: at 3 an event cannot be opened even with
		 * CAP_PERFMON.
		 */
		feature_answer_set(answer, FEATURE_MISSING,
				   "sudo, or: sudo sysctl kernel.perf_event_paranoid=2",
				   "kernel.perf_event_paranoid is %" PRId64
				   ", which refuses perf events even with CAP_PERFMON",
				   paranoid);
	else if (!capable(CAP_PERFMON) && !capable(CAP_SYS_ADMIN))
		feature_answer_set(answer, FEATURE_MISSING, "sudo",
				   "perf_event_open needs CAP_PERFMON or CAP_SYS_ADMIN");
	else
		feature_answer_set(answer, FEATURE_MISSING,
				   "the container's --privileged or its seccomp profile",
				   "perf_event_open is refused although CAP_PERFMON is there");
}

void probe_btf(struct feature_answer *answer)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";

	if (!access(path, R_OK))
		feature_answer_set(answer, FEATURE_OK, NULL, "%s", path);
	else if (errno == ENOENT)
		feature_answer_set(answer, FEATURE_MISSING,
				   "a kernel with CONFIG_DEBUG_INFO_BTF=y, and /sys mounted",
				   "%s: the kernel has no BTF", path);
	else
		feature_answer_set(answer, FEATURE_MISSING, NULL, "%s: %s", path, strerror(errno));
}

void probe_jit(struct feature_answer *answer)
{
	int64_t on = 0;
	int ret;

	ret = read_setting("/proc/sys/net/core/bpf_jit_enable", &on);
	if (ret == -EACCES)
		feature_answer_set(answer, FEATURE_UNKNOWN, NULL,
				   "net.core.bpf_jit_enable is for root's eyes");
	else if (ret)
		feature_answer_set(answer, FEATURE_LIMITED, "a kernel with CONFIG_BPF_JIT=y",
				   "no net.core.bpf_jit_enable: ticks cost several times more");
	else if (!on)
		feature_answer_set(answer, FEATURE_LIMITED, "sudo sysctl net.core.bpf_jit_enable=1",
				   "off: ticks cost several times more");
	else
		feature_answer_set(answer, FEATURE_OK, NULL, "on");
}

void probe_max_rate(struct feature_answer *answer)
{
	int64_t rate = 0;

	if (read_setting("/proc/sys/kernel/perf_event_max_sample_rate", &rate))
		feature_answer_set(answer, FEATURE_UNKNOWN, NULL,
				   "kernel.perf_event_max_sample_rate cannot be read");
	else if (rate < DEFAULT_HZ)
		feature_answer_set(answer, FEATURE_LIMITED,
				   "sudo sysctl kernel.perf_event_max_sample_rate=100000",
				   "at most %" PRId64 " ticks per second: below the default rate",
				   rate);
	else
		feature_answer_set(answer, FEATURE_OK, NULL, "%" PRId64 " ticks per second", rate);
}

void probe_lateness(struct feature_answer *answer)
{
	struct lateness lateness;
	char late[64] = "";
	struct error err;

	if (lateness_measure(&lateness, &err)) {
		feature_answer_set(answer, FEATURE_UNKNOWN, NULL, "not measured: %.160s", err.text);
		return;
	}
	if (lateness.ticks)
		snprintf(late, sizeof(late), "%.0f us late, 1 in 100 by %.0f; ",
			 lateness.median_ns / 1000, lateness.p99_ns / 1000);
	feature_answer_set(answer, FEATURE_OK, NULL,
			   "%ssamples see %.0f, %.0f, %.0f %% of bursts of %u, %u, %u us, and are "
			   "weighed",
			   late, 100 * lateness.bursts[0].seen, 100 * lateness.bursts[1].seen,
			   100 * lateness.bursts[2].seen, lateness.bursts[0].on_us,
			   lateness.bursts[1].on_us, lateness.bursts[2].on_us);
}

void probe_sched_tick(struct feature_answer *answer)
{
	struct sched_tick tick;
	struct error err;

	if (sched_tick_find(&tick, &err))
		feature_answer_set(answer, FEATURE_LIMITED, NULL, "none: %.160s", err.text);
	else
		feature_answer_set(answer, FEATURE_OK, NULL, "%.6g a second",
				   1e9 / (double)sched_tick_period_ns());
}

void probe_clock_cost(struct feature_answer *answer)
{
	double ns = calibrate_busy_tick_ns();

	if (ns <= 0)
		feature_answer_set(
			answer, FEATURE_UNKNOWN, NULL,
			"not measured: the host is too busy, or its clock does not open");
	else
		feature_answer_set(answer, FEATURE_OK, NULL, "%.1f us, which is %.1f %% at %d Hz",
				   ns / 1000, ns * DEFAULT_HZ / 1e7, DEFAULT_HZ);
}

/* Samples this process by the scheduler's tick while it is busy. */
static int measure_ticks(struct session_cost *result, struct error *err)
{
	const struct target self = { .kind = TARGET_PID, .name = "doctor", .pid = getpid() };
	const struct session_options options = {
		.source = SOURCE_TICK,
		.period_ns = sched_tick_period_ns(),
		.mode = MODE_CHARGED,
		.memory = 4 << 20,
		.measure = true,
		.targets = &self,
		.nr_targets = 1,
	};
	struct session *session = NULL;
	uint64_t until;
	int ret = session_open(&options, &session, err);

	if (!ret)
		ret = session_start(session, err);
	for (until = monotonic_ns() + TICKS_NS; !ret && monotonic_ns() < until;)
		;
	if (!ret)
		session_cost(session, result);
	session_close(session);
	return ret;
}

void probe_tick_cost(struct feature_answer *answer)
{
	struct session_cost cost = { 0 };
	struct error err = { 0 };

	if (measure_ticks(&cost, &err))
		feature_answer_set(answer, FEATURE_UNKNOWN, NULL, "not measured: %.160s", err.text);
	else if (!cost.runs || !cost.time_ns)
		feature_answer_set(answer, FEATURE_UNKNOWN, "sudo",
				   "not measured: the kernel's BPF statistics need CAP_SYS_ADMIN");
	else
		feature_answer_set(
			answer, FEATURE_OK, NULL,
			"%.2f us a timer, of which there were %.0f a second: %.3f %% of a CPU",
			(double)cost.ticking_ns / 1e3 / (double)cost.runs,
			1e9 * (double)cost.runs / (double)cost.time_ns,
			100 * (double)cost.ticking_ns / (double)cost.time_ns);
}

void probe_ptrace(struct feature_answer *answer)
{
	if (capable(CAP_SYS_PTRACE))
		feature_answer_set(answer, FEATURE_OK, NULL, "CAP_SYS_PTRACE");
	else
		feature_answer_set(answer, FEATURE_LIMITED, "sudo",
				   "without CAP_SYS_PTRACE files of other users' processes may "
				   "stay without names");
}

void probe_kallsyms(struct feature_answer *answer)
{
	cleanup_file FILE *file = fopen("/proc/kallsyms", "re");
	uint64_t address = 0;
	int line;

	if (!file) {
		feature_answer_set(answer, FEATURE_LIMITED, "a kernel with CONFIG_KALLSYMS=y",
				   "/proc/kallsyms: %s", strerror(errno));
		return;
	}
	/* Hidden addresses are all 0. Otherwise only the first per-CPU variable is at 0. */
	for (line = 0; line < 16 && !address; line++) {
		if (fscanf(file, "%" SCNx64 "%*[^\n]", &address) != 1)
			break;
	}
	if (address)
		feature_answer_set(answer, FEATURE_OK, NULL, "addresses are shown");
	else
		feature_answer_set(answer, FEATURE_LIMITED,
				   "sudo, or: sudo sysctl kernel.kptr_restrict=0",
				   "addresses are hidden: kernel functions stay without names");
}
