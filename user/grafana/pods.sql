-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- Cores per function of each namespace's pods: choose a namespace by the service, as ^shop/.
-- Time is the scheduler's, from the sample type cpu. If a profile has no such type, it is ticks times their period.
SELECT
    ResourceAttributes['k8s.namespace.name'] AS namespace,
    ResourceAttributes['k8s.pod.name'] AS pod,
    ResourceAttributes['k8s.container.name'] AS container,
    FunctionNames[1] AS function,
    sum(arraySum(Values) * if(SampleType = 'cpu', 1, Period)) / 1e9 / dateDiff('second', $__fromTime, $__toTime) AS cores
FROM otel_profiles
WHERE $__timeFilter(Timestamp) AND match(ServiceName, '$service') AND pod != ''
    AND (SampleType = 'cpu' OR SampleType = 'samples' AND (ServiceName, ResourceAttributes['host.name'], Timestamp) NOT IN (
        SELECT ServiceName, ResourceAttributes['host.name'], Timestamp FROM otel_profiles
        WHERE SampleType = 'cpu' AND $__timeFilter(Timestamp)))
GROUP BY namespace, pod, container, function
ORDER BY cores DESC, namespace, pod, container, function
LIMIT 100
