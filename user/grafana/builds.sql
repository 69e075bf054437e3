-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- The builds of each file: since when, until when and on how many hosts they ran, and their share of its time.
-- Time is the scheduler's, from the sample type cpu. If a profile has no such type, it is ticks times their period.
SELECT
    MappingFileNames[1] AS file,
    SampleAttributes['process.executable.build_id.gnu'] AS build,
    min(Timestamp) AS since,
    max(Timestamp) AS until,
    uniqExact(ResourceAttributes['host.name']) AS hosts,
    sum(arraySum(Values) * if(SampleType = 'cpu', 1, Period)) / 1e9 AS seconds,
    seconds / sum(seconds) OVER (PARTITION BY file) AS share
FROM otel_profiles
WHERE $__timeFilter(Timestamp) AND match(ServiceName, '$service') AND build != ''
    AND (SampleType = 'cpu' OR SampleType = 'samples' AND (ServiceName, ResourceAttributes['host.name'], Timestamp) NOT IN (
        SELECT ServiceName, ResourceAttributes['host.name'], Timestamp FROM otel_profiles
        WHERE SampleType = 'cpu' AND $__timeFilter(Timestamp)))
GROUP BY file, build
ORDER BY sum(seconds) OVER (PARTITION BY file) DESC, file, since DESC, build
LIMIT 100
