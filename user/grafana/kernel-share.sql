-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- How much of each service's CPU time the kernel has. With --mode charged all of it is the programs'.
-- Time is the scheduler's, of the sample type cpu; ticks times their period where a profile has no such type.
SELECT
    ServiceName AS service,
    sumIf(arraySum(Values) * if(SampleType = 'cpu', 1, Period), SampleAttributes['profile.frame.type'] = 'kernel') / 1e9 AS kernel,
    sum(arraySum(Values) * if(SampleType = 'cpu', 1, Period)) / 1e9 AS seconds,
    kernel / seconds AS share
FROM otel_profiles
WHERE $__timeFilter(Timestamp) AND match(ServiceName, '$service')
    AND (SampleType = 'cpu' OR SampleType = 'samples' AND (ServiceName, ResourceAttributes['host.name'], Timestamp) NOT IN (
        SELECT ServiceName, ResourceAttributes['host.name'], Timestamp FROM otel_profiles
        WHERE SampleType = 'cpu' AND $__timeFilter(Timestamp)))
GROUP BY service
ORDER BY kernel DESC, service
