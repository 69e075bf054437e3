-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- A flame graph: services, their pods, their programs, and the calls of these if agents have --callers. A row is
-- a frame, in the order of Grafana's panel. Frames below a five thousandth of the time are left out.
-- Time is the scheduler's, from the sample type cpu. If a profile has no such type, it is ticks times their period.
SELECT
    length(path) AS level,
    if(level = 0, 'all', path[level]) AS label,
    sum(seconds) AS value,
    sumIf(seconds, level = length(stack)) AS self
FROM (
    SELECT
        arrayConcat([ServiceName],
            arrayFilter(name -> name != '', [ResourceAttributes['k8s.pod.name'], SampleAttributes['process.executable.name']]),
            arrayReverse(FunctionNames)) AS stack,
        sum(arraySum(Values) * if(SampleType = 'cpu', 1, Period)) / 1e9 AS seconds
    FROM otel_profiles
    WHERE $__timeFilter(Timestamp) AND match(ServiceName, '$service')
        AND (SampleType = 'cpu' OR SampleType = 'samples' AND (ServiceName, ResourceAttributes['host.name'], Timestamp) NOT IN (
            SELECT ServiceName, ResourceAttributes['host.name'], Timestamp FROM otel_profiles
            WHERE SampleType = 'cpu' AND $__timeFilter(Timestamp)))
    GROUP BY stack)
ARRAY JOIN arrayMap(n -> arraySlice(stack, 1, n), range(length(stack) + 1)) AS path
GROUP BY path
QUALIFY value * 5000 >= max(value) OVER ()
ORDER BY path
