-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- Of each file whose newest two builds ran in this time: what share of its ticks each function has in
-- either. Shares, because a release is on some hosts first.
WITH
    places AS (
        SELECT
            MappingFileNames[1] AS file,
            SampleAttributes['process.executable.build_id.gnu'] AS build,
            FunctionNames[1] AS function,
            sum(arraySum(Values)) AS ticks,
            min(Timestamp) AS since
        FROM otel_profiles
        WHERE SampleType = 'samples' AND $__timeFilter(Timestamp) AND match(ServiceName, '$service')
            AND build != ''
        GROUP BY file, build, function
    ),
    builds AS (
        SELECT
            file,
            build,
            sum(ticks) AS all,
            row_number() OVER (PARTITION BY file ORDER BY min(since) DESC, build) AS age,
            count() OVER (PARTITION BY file) AS nr
        FROM places
        GROUP BY file, build
    )
SELECT
    function,
    file,
    sumIf(ticks / all, age = 2) AS before,
    sumIf(ticks / all, age = 1) AS after,
    after - before AS change
FROM places
INNER JOIN builds USING (file, build)
WHERE age <= 2 AND nr >= 2
GROUP BY function, file
ORDER BY abs(change) DESC, function, file
LIMIT 50
