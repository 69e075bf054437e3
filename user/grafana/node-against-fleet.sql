-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- Hosts on which a function has another share of its service's time than on the others. The
-- excess is in seconds, so that the largest differences are on top.
-- Time is the scheduler's, from the sample type cpu. If a profile has no such type, it is ticks times their period.
WITH
    places AS (
        SELECT
            ResourceAttributes['host.name'] AS host,
            ServiceName AS service,
            FunctionNames[1] AS function,
            sum(arraySum(Values) * if(SampleType = 'cpu', 1, Period)) / 1e9 AS seconds
        FROM otel_profiles
        WHERE $__timeFilter(Timestamp) AND match(ServiceName, '$service')
            AND (SampleType = 'cpu' OR SampleType = 'samples' AND (ServiceName, ResourceAttributes['host.name'], Timestamp) NOT IN (
                SELECT ServiceName, ResourceAttributes['host.name'], Timestamp FROM otel_profiles
                WHERE SampleType = 'cpu' AND $__timeFilter(Timestamp)))
        GROUP BY host, service, function
    ),
    sums AS (
        SELECT
            *,
            sum(seconds) OVER (PARTITION BY host, service) AS of_host,
            sum(seconds) OVER (PARTITION BY service) AS of_all,
            sum(seconds) OVER (PARTITION BY service, function) AS of_function
        FROM places
    )
SELECT
    host,
    service,
    function,
    seconds / of_host AS here,
    (of_function - seconds) / (of_all - of_host) AS elsewhere,
    (here - elsewhere) * of_host AS excess
FROM sums
WHERE of_all > of_host
ORDER BY abs(excess) DESC, host, service, function
LIMIT 50
