-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- How much of each service's ticks the kernel has. With --mode charged all of them are the programs'.
SELECT
    ServiceName AS service,
    sumIf(arraySum(Values), SampleAttributes['profile.frame.type'] = 'kernel') AS kernel,
    sum(arraySum(Values)) AS ticks,
    kernel / ticks AS share
FROM otel_profiles
WHERE SampleType = 'samples' AND $__timeFilter(Timestamp) AND match(ServiceName, '$service')
GROUP BY service
ORDER BY kernel DESC, service
