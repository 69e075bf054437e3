-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- The hottest functions of the fleet, by build id: a row is one function of one build, on all hosts.
-- Time is the scheduler's, from the sample type cpu. If a profile has no such type, it is ticks times their period.
SELECT
    FunctionNames[1] AS function,
    MappingFileNames[1] AS file,
    SampleAttributes['process.executable.build_id.gnu'] AS build,
    sum(arraySum(Values) * if(SampleType = 'cpu', 1, Period)) / 1e9 AS seconds,
    seconds / sum(seconds) OVER () AS share,
    uniqExact(ResourceAttributes['host.name']) AS hosts
FROM otel_profiles
WHERE $__timeFilter(Timestamp) AND match(ServiceName, '$service')
    AND (SampleType = 'cpu' OR SampleType = 'samples' AND (ServiceName, ResourceAttributes['host.name'], Timestamp) NOT IN (
        SELECT ServiceName, ResourceAttributes['host.name'], Timestamp FROM otel_profiles
        WHERE SampleType = 'cpu' AND $__timeFilter(Timestamp)))
GROUP BY function, file, build
ORDER BY seconds DESC, function, file, build
LIMIT 50
