-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- Each container, unit or control group of each host: its ticks, and its share of all.
SELECT
    ResourceAttributes['host.name'] AS host,
    ServiceName AS service,
    ResourceAttributes['container.id'] AS container,
    ResourceAttributes['k8s.pod.uid'] AS pod,
    ResourceAttributes['process.linux.cgroup'] AS cgroup,
    sum(arraySum(Values)) AS ticks,
    ticks / sum(ticks) OVER () AS share
FROM otel_profiles
WHERE SampleType = 'samples' AND $__timeFilter(Timestamp) AND match(ServiceName, '$service')
GROUP BY host, service, container, pod, cgroup
ORDER BY ticks DESC, host, service, cgroup
