-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- The ten hottest functions of last night, from ten in the evening to six, whatever time the dashboard shows.
-- Time is the scheduler's, from the sample type cpu. If a profile has no such type, it is ticks times their period.
SELECT
    FunctionNames[1] AS function,
    MappingFileNames[1] AS file,
    sum(arraySum(Values) * if(SampleType = 'cpu', 1, Period)) / 1e9 AS seconds,
    seconds / sum(seconds) OVER () AS share,
    seconds / 28800 AS cores,
    uniqExact(ServiceName) AS services
FROM otel_profiles
WHERE Timestamp >= toStartOfDay(now()) - INTERVAL 2 HOUR AND Timestamp < toStartOfDay(now()) + INTERVAL 6 HOUR
    AND match(ServiceName, '$service')
    AND (SampleType = 'cpu' OR SampleType = 'samples' AND (ServiceName, ResourceAttributes['host.name'], Timestamp) NOT IN (
        SELECT ServiceName, ResourceAttributes['host.name'], Timestamp FROM otel_profiles
        WHERE SampleType = 'cpu' AND Timestamp >= toStartOfDay(now()) - INTERVAL 2 HOUR))
GROUP BY function, file
ORDER BY seconds DESC, function, file
LIMIT 10
