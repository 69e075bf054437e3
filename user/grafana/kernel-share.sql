-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- The kernel's share of each service's CPU time. With --mode charged all of it belongs to the programs.
-- Time is the scheduler's, from the sample type cpu. If a profile has no such type, it is ticks times their period.
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
