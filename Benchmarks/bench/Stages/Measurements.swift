import Foundation

/// The measurements, in their order.
struct Measurements: Sendable {
    let stage: Stage
    let roundCount: Int
    let seconds: Int
    private let wrk: Wrk
    private let pgbench: Pgbench

    /// How long load runs before it counts.
    ///
    /// Connections are opened, statements prepared and pages read in that time.
    private static let warmUpSeconds = 2
    /// How long the machine's other work is watched, while this run does nothing.
    private static let lookDuration: Duration = .seconds(2)
    private static let maxOthersBusyPercent = 10.0
    private static let signInConnections = 8
    /// How long the disk may still write what was uploaded, which slows lists down.
    private static let diskTime: Duration = .seconds(10)
    private static let probeConnections = 11
    /// One user has no more pages at once.
    private static let pageConnections = 4

    init(stage: Stage, roundCount: Int, seconds: Int) throws {
        self.stage = stage
        self.roundCount = roundCount
        self.seconds = seconds
        wrk = Wrk(folder: stage.folder)
        pgbench = try Pgbench(databaseURL: stage.databaseURL, folder: stage.folder)
    }

    func run() async throws -> Results {
        let versions = await Versions.installed(postgreSQL: stage.serverVersion)
        let busyBefore = try await ProcessorTime.busyPercent(during: Self.lookDuration)
        if busyBefore > Self.maxOthersBusyPercent {
            say("Something else keeps this machine \(Int(busyBefore)) % busy: the results will be poor.")
        }
        var results = Results(
            date: Date(),
            machine: Machine(),
            versions: versions,
            settings: .init(rounds: roundCount, secondsPerMeasurement: seconds, othersBusyPercent: busyBefore)
        )
        let idle = try memory().residentMebibytes
        _ = try await load(.lists, seconds: Self.warmUpSeconds)
        for number in 1...roundCount {
            say("Round \(number) of \(roundCount)")
            try await lists(&results)
            try await records(&results)
            try await ChangeMeasurements(stage: stage, wrk: wrk, seconds: seconds, round: number).run(&results)
            try await photos(&results)
        }
        let peak = try memory().peakMebibytes
        say("Once:")
        try await signIns(&results)
        results.add("idleMebibytes", "Memory, idle: MiB", idle)
        results.add("underListLoadMebibytes", "Memory, the most under list load: MiB", peak)
        results.add("afterwardsMebibytes", "Memory, afterwards: MiB", try memory().residentMebibytes)
        return results
    }

    private func lists(_ results: inout Results) async throws {
        say("  the list, 16 and 256 connections, and its statement by pgbench")
        results.add("listAt16", "List, 16 connections", try await load(.lists))
        results.add("listAt256", "List, 256 connections", try await load(.lists, connections: 256))
        results.add(
            "pgbenchAt16",
            "pgbench, 16 connections",
            try await pgbench.run(.list, connections: 16, seconds: seconds)
        )
        say("  an empty list, GET /, and an unchanged list, 16 connections")
        results.add("emptyListAt16", "Empty list, 16 connections", try await load(.emptyList))
        results.add("welcomeAt16", "GET /, 16 connections", try await load(.welcome))
        // As a client has had it a moment before: a tag is of one day.
        let tag = try await Service.listTag(token: BenchData.longListToken, at: stage.service.origin)
        results.add(
            "unchangedLongListAt16",
            "Unchanged list of 10,000 photos, 16 connections",
            try await load(.unchangedLongList(tag: tag))
        )
        say("  the list with 1,000 probes a second, 16 and \(Self.probeConnections) connections")
        let (list, probes) = try await wrk.run(
            .lists,
            connections: 16,
            beside: .probes,
            connections: Self.probeConnections,
            at: stage.service.origin,
            seconds: seconds
        )
        results.add("listBesideProbes", "List with probes, 16 connections", list)
        results.add("probes", "Probes with the list", probes)
    }

    private func records(_ results: inout Results) async throws {
        say("  new records with two readers, and the same statements by pgbench, 16 connections")
        results.add("newRecord", "New record with two readers, 16 connections", try await load(.newRecords))
        results.add(
            "newRecordByPgbench",
            "The same statements by pgbench, 16 connections",
            try await pgbench.run(.recordCreation, connections: 16, seconds: seconds)
        )
        say("  50 records of \(BenchRecords.fewCount) and of \(BenchRecords.manyCount)")
        results.add("pageOfFew", "50 records of 100, 4 connections", try await page(BenchRecords.fewToken))
        results.add("pageOfMany", "50 records of 1,000,000, 4 connections", try await page(BenchRecords.manyToken))
    }

    private func page(_ token: String) async throws -> LoadMeasurement {
        try await load(.newestRecords(token: token), connections: Self.pageConnections)
    }

    private func photos(_ results: inout Results) async throws {
        let (small, large) = (stage.photos.small, stage.photos.large)
        say("  a photo of 300 KB from disk, and one of 20 MB from S3")
        results.add("fromDisk", "Photo of 300 KB from disk, 8 connections", try await photo(small.selfieURL))
        results.add("byNginx", "Photo of 300 KB by nginx, 8 connections", try await photo(small.otherURL))
        results.add("proxied", "Photo of 20 MB by proxy, 8 connections", try await photo(large.selfieURL))
        results.add("presigned", "Photo of 20 MB by presigned URL, 8 connections", try await photo(large.otherURL))
        say("  uploads of 20 MB, through the service and to the S3 server")
        results.add(
            "upload",
            "Uploads of 20 MB, 8 in parallel",
            try await Transfers.throughService(stage.photos, seconds: seconds)
        )
        results.add(
            "directPut",
            "Direct puts of 20 MB, 8 in parallel",
            try await Transfers.direct(stage.photos, seconds: seconds)
        )
    }

    private func photo(_ url: String) async throws -> LoadMeasurement {
        try await wrk.run(.photo, at: url, connections: PhotoStage.connections, seconds: seconds)
    }

    private func signIns(_ results: inout Results) async throws {
        // A sign-in takes at least a quarter of a second of a core. In less time, there are too few to count.
        let seconds = max(seconds, 5)
        try await Task.sleep(for: Self.diskTime)
        say("  the list without and with sign-ins, 16 and \(Self.signInConnections) connections")
        results.add("listAlone", "List without sign-ins, 16 connections", try await load(.lists, seconds: seconds))
        let (list, signIns) = try await wrk.run(
            .lists,
            connections: 16,
            beside: .signIns,
            connections: Self.signInConnections,
            at: stage.service.origin,
            seconds: seconds
        )
        results.add("listBesideSignIns", "List with sign-ins, 16 connections", list)
        results.add("signInBesideList", "Sign-ins with the list", signIns)
    }

    private func load(_ load: Wrk.Load, connections: Int = 16, seconds: Int? = nil) async throws -> LoadMeasurement {
        try await wrk.run(
            load,
            at: stage.service.origin,
            connections: connections,
            seconds: seconds ?? self.seconds
        )
    }

    private func memory() throws -> Memory {
        try Memory(processID: stage.service.processID)
    }
}
