-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- Which host differs: where a function has another share of its service's time than on the other hosts. The
-- excess is in seconds, so that what matters is on top.
-- Time is the scheduler's, of the sample type cpu; ticks times their period where a profile has no such type.
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
