-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- Each container, unit or control group of each host: its CPU time, and its share of all.
-- Time is the scheduler's, from the sample type cpu. If a profile has no such type, it is ticks times their period.
SELECT
    ResourceAttributes['host.name'] AS host,
    ServiceName AS service,
    ResourceAttributes['container.id'] AS container,
    ResourceAttributes['k8s.pod.uid'] AS pod,
    ResourceAttributes['process.linux.cgroup'] AS cgroup,
    sum(arraySum(Values) * if(SampleType = 'cpu', 1, Period)) / 1e9 AS seconds,
    seconds / sum(seconds) OVER () AS share
FROM otel_profiles
WHERE $__timeFilter(Timestamp) AND match(ServiceName, '$service')
    AND (SampleType = 'cpu' OR SampleType = 'samples' AND (ServiceName, ResourceAttributes['host.name'], Timestamp) NOT IN (
        SELECT ServiceName, ResourceAttributes['host.name'], Timestamp FROM otel_profiles
        WHERE SampleType = 'cpu' AND $__timeFilter(Timestamp)))
GROUP BY host, service, container, pod, cgroup
ORDER BY seconds DESC, host, service, cgroup
