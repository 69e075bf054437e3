-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- How many cores each function keeps busy.
-- Time is the scheduler's, from the sample type cpu. If a profile has no such type, it is ticks times their period.
SELECT
    FunctionNames[1] AS function,
    MappingFileNames[1] AS file,
    sum(arraySum(Values) * if(SampleType = 'cpu', 1, Period)) / 1e9 / dateDiff('second', $__fromTime, $__toTime) AS cores,
    uniqExact(ServiceName) AS services
FROM otel_profiles
WHERE $__timeFilter(Timestamp) AND match(ServiceName, '$service')
    AND (SampleType = 'cpu' OR SampleType = 'samples' AND (ServiceName, ResourceAttributes['host.name'], Timestamp) NOT IN (
        SELECT ServiceName, ResourceAttributes['host.name'], Timestamp FROM otel_profiles
        WHERE SampleType = 'cpu' AND $__timeFilter(Timestamp)))
GROUP BY function, file
ORDER BY cores DESC, function, file
LIMIT 50
