-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- Services without names: containers and pods with only an id, and the share of each service
-- that is in functions without a name.
-- Time is the scheduler's, from the sample type cpu. If a profile has no such type, it is ticks times their period.
SELECT
    ServiceName AS service,
    ResourceAttributes['host.name'] AS host,
    (ResourceAttributes['container.id'] != '' OR ResourceAttributes['k8s.pod.uid'] != '')
        AND ResourceAttributes['k8s.pod.name'] = '' AND ResourceAttributes['container.name'] = '' AS nameless,
    sum(arraySum(Values) * if(SampleType = 'cpu', 1, Period)) / 1e9 AS seconds,
    sumIf(arraySum(Values) * if(SampleType = 'cpu', 1, Period), FunctionNames[1] IN ('', '[unknown]')) / 1e9 AS unknown,
    unknown / seconds AS share
FROM otel_profiles
WHERE $__timeFilter(Timestamp) AND match(ServiceName, '$service')
    AND (SampleType = 'cpu' OR SampleType = 'samples' AND (ServiceName, ResourceAttributes['host.name'], Timestamp) NOT IN (
        SELECT ServiceName, ResourceAttributes['host.name'], Timestamp FROM otel_profiles
        WHERE SampleType = 'cpu' AND $__timeFilter(Timestamp)))
GROUP BY service, host, nameless
HAVING nameless OR unknown > 0
ORDER BY nameless DESC, unknown DESC, service, host
LIMIT 50
