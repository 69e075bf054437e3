-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- How many cores each function keeps busy, by the scheduler's account of CPU time.
SELECT
    FunctionNames[1] AS function,
    MappingFileNames[1] AS file,
    sum(arraySum(Values)) / 1e9 / dateDiff('second', $__fromTime, $__toTime) AS cores,
    uniqExact(ServiceName) AS services
FROM otel_profiles
WHERE SampleType = 'cpu' AND $__timeFilter(Timestamp) AND match(ServiceName, '$service')
GROUP BY function, file
ORDER BY cores DESC, function, file
LIMIT 50
