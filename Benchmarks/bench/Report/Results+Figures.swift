extension Results {
    /// The ratios of each round.
    ///
    /// A disturbance of a whole round changes them little.
    var ratios: [Figure] {
        [
            ratio(
                "listToPgbenchAt16Ratio",
                "List to pgbench, requests/s, 16 connections",
                goal: "0.50 or more",
                rounds.map { $0.listAt16.requestsPerSecond / $0.pgbenchAt16.transactionsPerSecond }
            ),
            ratio(
                "listP99ToP50At16Ratio",
                "List, p99 to p50, 16 connections",
                goal: "4 or less",
                rounds.map { $0.listAt16.p99Milliseconds / $0.listAt16.p50Milliseconds }
            ),
            ratio(
                "listAt256ToAt16Ratio",
                "List, requests/s, 256 to 16 connections",
                goal: "0.8 or more",
                rounds.map { $0.listAt256.requestsPerSecond / $0.listAt16.requestsPerSecond }
            ),
            ratio(
                "emptyListToWelcomeAt16Ratio",
                "List of nothing to GET /, requests/s, 16 connections",
                goal: "0.55 or more",
                rounds.map { $0.emptyListAt16.requestsPerSecond / $0.welcomeAt16.requestsPerSecond }
            ),
            ratio(
                "unchangedLongListToListAt16Ratio",
                "Unchanged list of 10,000 photos to the list of 20, requests/s, 16 connections",
                goal: "0.5 or more",
                rounds.map { $0.unchangedLongListAt16.requestsPerSecond / $0.listAt16.requestsPerSecond }
            ),
            ratio(
                "listBesideProbesToAloneRatio",
                "List beside 1,000 probes a second to without, requests/s, 16 connections",
                goal: "0.90 or more",
                rounds.map { $0.operations.besideProbes.requestsPerSecond / $0.listAt16.requestsPerSecond }
            ),
            ratio(
                "newRecordToPgbenchRatio",
                "New record with two readers to pgbench with the same statements, a second, 16 connections",
                goal: "0.30 or more",
                rounds.map {
                    $0.records.creations.requestsPerSecond / $0.records.creationsByPgbench.transactionsPerSecond
                }
            ),
            ratio(
                "pageOfManyToFewTimeRatio",
                "50 records of 1,000,000 to 50 of 100, time, 4 connections",
                goal: "1.3 or less",
                rounds.map { $0.records.pageOfFew.requestsPerSecond / $0.records.pageOfMany.requestsPerSecond }
            ),
        ] + changeRatios + [
            ratio(
                "uploadToDirectPutRatio",
                "Uploads to direct puts of 20 MB, bytes/s, 8 in parallel",
                goal: "0.75 or more",
                rounds.map { $0.photos.uploads.bytesPerSecond / $0.photos.puts.bytesPerSecond }
            ),
            ratio(
                "proxyToPresignedRatio",
                "Photos of 20 MB by proxy to presigned, bytes/s, 8 connections",
                goal: "0.70 or more",
                rounds.map { $0.photos.proxied.requestsPerSecond / $0.photos.presigned.requestsPerSecond }
            ),
            ratio(
                "diskToNginxRatio",
                "Photos of 300 KB from disk to nginx, requests/s, 8 connections",
                goal: "0.55 or more",
                rounds.map { $0.photos.fromDisk.requestsPerSecond / $0.photos.byNginx.requestsPerSecond }
            ),
            ratio(
                "listP99BesideSignInsToAloneRatio",
                "List, p99, beside sign-ins to without",
                goal: "3 or less",
                [signIns.listBesideSignIns.p99Milliseconds / signIns.listAlone.p99Milliseconds]
            ),
        ]
    }

    /// The measured figures.
    var figures: [Figure] {
        load("listAt16", "List, 16 connections", rounds.map(\.listAt16))
            + load("listAt256", "List, 256 connections", rounds.map(\.listAt256))
            + [
                Figure(
                    key: "pgbenchAt16TransactionsPerSecond",
                    title: "pgbench, 16 connections: transactions/s",
                    values: rounds.map(\.pgbenchAt16.transactionsPerSecond)
                ),
                Figure(
                    key: "pgbenchAt16AverageMilliseconds",
                    title: "pgbench, 16 connections: average, ms",
                    values: rounds.map(\.pgbenchAt16.averageMilliseconds)
                ),
            ]
            + load("emptyListAt16", "List of nothing, 16 connections", rounds.map(\.emptyListAt16))
            + load("welcomeAt16", "GET /, 16 connections", rounds.map(\.welcomeAt16))
            + load(
                "unchangedLongListAt16",
                "Unchanged list of 10,000 photos, 16 connections",
                rounds.map(\.unchangedLongListAt16)
            )
            + [
                Figure(
                    key: "uploadBytesPerSecond",
                    title: "Uploads of 20 MB, 8 in parallel: MB/s",
                    values: rounds.map { $0.photos.uploads.bytesPerSecond / 1e6 }
                ),
                Figure(
                    key: "directPutBytesPerSecond",
                    title: "Direct puts of 20 MB, 8 in parallel: MB/s",
                    values: rounds.map { $0.photos.puts.bytesPerSecond / 1e6 }
                ),
            ]
            + load("listBesideProbes", "List beside probes, 16 connections", rounds.map(\.operations.besideProbes))
            + load("probes", "Probes beside the list", rounds.map(\.operations.probes))
            + load("newRecord", "New record with two readers, 16 connections", rounds.map(\.records.creations))
            + [
                Figure(
                    key: "newRecordByPgbenchTransactionsPerSecond",
                    title: "The same statements by pgbench, 16 connections: transactions/s",
                    values: rounds.map(\.records.creationsByPgbench.transactionsPerSecond)
                )
            ]
            + changeFigures
            + load("pageOfFew", "50 records of 100, 4 connections", rounds.map(\.records.pageOfFew))
            + load("pageOfMany", "50 records of 1,000,000, 4 connections", rounds.map(\.records.pageOfMany))
            + load("proxied", "Photo of 20 MB by proxy, 8 connections", rounds.map(\.photos.proxied))
            + load("presigned", "Photo of 20 MB by presigned URL, 8 connections", rounds.map(\.photos.presigned))
            + load("fromDisk", "Photo of 300 KB from disk, 8 connections", rounds.map(\.photos.fromDisk))
            + load("byNginx", "Photo of 300 KB by nginx, 8 connections", rounds.map(\.photos.byNginx))
            + load("signIn", "Sign-ins, 8 connections", [signIns.alone])
            + load("signInBesideList", "Sign-ins beside the list", [signIns.besideList])
            + load("listAlone", "List without sign-ins, 16 connections", [signIns.listAlone])
            + load("listBesideSignIns", "List beside sign-ins, 16 connections", [signIns.listBesideSignIns])
            + load("longList", "List of 10,000 photos, 2 connections", [longList])
            + [
                Figure(key: "idleMebibytes", title: "Memory, idle: MiB", values: [memory.idleMebibytes]),
                Figure(
                    key: "underListLoadMebibytes",
                    title: "Memory, the most under list load: MiB",
                    values: [memory.underListLoadMebibytes]
                ),
                Figure(
                    key: "afterwardsMebibytes",
                    title: "Memory, afterwards: MiB",
                    values: [memory.afterwardsMebibytes]
                ),
                Figure(
                    key: "failureCount",
                    title: "Answers but 2xx, broken connections",
                    values: [Double(failureCount)]
                ),
            ]
    }

    func load(_ key: String, _ title: String, _ figures: [LoadFigures]) -> [Figure] {
        [
            Figure(
                key: key + "RequestsPerSecond",
                title: title + ": requests/s",
                values: figures.map(\.requestsPerSecond)
            ),
            Figure(key: key + "P50Milliseconds", title: title + ": p50, ms", values: figures.map(\.p50Milliseconds)),
            Figure(key: key + "P99Milliseconds", title: title + ": p99, ms", values: figures.map(\.p99Milliseconds)),
        ]
    }

    func ratio(_ key: String, _ title: String, goal: String? = nil, _ values: [Double]) -> Figure {
        Figure(key: key, title: title, values: values, goal: goal)
    }
}
