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
    private static let longListConnections = 2
    private static let probeConnections = 11
    /// One user has no more pages at once.
    private static let pageConnections = 4

    init(stage: Stage, roundCount: Int, seconds: Int) throws {
        self.stage = stage
        self.roundCount = roundCount
        self.seconds = seconds
        wrk = try Wrk(folder: stage.folder)
        pgbench = try Pgbench(databaseURL: stage.databaseURL, folder: stage.folder)
    }

    func run() async throws -> Results {
        let busyBefore = try await ProcessorTime.busyPercent(during: Self.lookDuration)
        if busyBefore > Self.maxOthersBusyPercent {
            say("Something else keeps this machine \(Int(busyBefore)) % busy: the figures will be poor.")
        }
        let idle = try memory().residentMebibytes
        _ = try await lists(connections: 16, seconds: Self.warmUpSeconds)
        var rounds: [Results.Round] = []
        for number in 1...roundCount {
            say("Round \(number) of \(roundCount)")
            rounds.append(try await round(number))
        }
        let peak = try memory().peakMebibytes
        say("Once:\n  the list of \(BenchData.longListCount) photos, \(Self.longListConnections) connections")
        let longList = try await wrk.run(
            .longList,
            at: stage.service.origin,
            connections: Self.longListConnections,
            seconds: seconds
        )
        let signIns = try await signIns()
        return Results(
            date: Date(),
            machine: Machine(),
            versions: await Versions.installed(postgreSQL: stage.serverVersion),
            settings: .init(
                rounds: roundCount,
                secondsPerMeasurement: seconds,
                othersBusyPercent: busyBefore
            ),
            rounds: rounds,
            signIns: signIns,
            longList: longList,
            memory: .init(
                idleMebibytes: idle,
                underListLoadMebibytes: peak,
                afterwardsMebibytes: try memory().residentMebibytes
            )
        )
    }

    private func round(_ number: Int) async throws -> Results.Round {
        say("  the list, 16 connections")
        let listAt16 = try await lists(connections: 16)
        say("  the list, 256 connections")
        let listAt256 = try await lists(connections: 256)
        say("  the list's statement by pgbench, 16 connections")
        let pgbenchAt16 = try await pgbench.run(.list, connections: 16, seconds: seconds)
        say("  the list of nothing, GET /, and an unchanged list, 16 connections")
        let emptyListAt16 = try await load(.emptyList)
        let welcomeAt16 = try await load(.welcome)
        // As a client has had it a moment before: a tag is of one day.
        let tag = try await Service.listTag(token: BenchData.longListToken, at: stage.service.origin)
        let unchangedLongListAt16 = try await load(.unchangedLongList(tag: tag))
        return Results.Round(
            listAt16: listAt16,
            listAt256: listAt256,
            pgbenchAt16: pgbenchAt16,
            emptyListAt16: emptyListAt16,
            welcomeAt16: welcomeAt16,
            unchangedLongListAt16: unchangedLongListAt16,
            operations: try await operations(),
            records: try await records(),
            changes: try await ChangeMeasurements(stage: stage, wrk: wrk, seconds: seconds, round: number).run(),
            photos: try await photos()
        )
    }

    private func operations() async throws -> Results.Operations {
        say("  the list beside 1,000 probes a second, 16 and \(Self.probeConnections) connections")
        // The probes begin a second before the lists and end after them.
        async let probes = wrk.run(
            .probes,
            at: stage.service.origin,
            connections: Self.probeConnections,
            seconds: seconds + 2
        )
        try await Task.sleep(for: .seconds(1))
        let besideProbes = try await lists(connections: 16)
        return Results.Operations(besideProbes: besideProbes, probes: try await probes)
    }

    private func records() async throws -> Results.Records {
        say("  new records with two readers, and the same statements by pgbench, 16 connections")
        let creations = try await load(.newRecords)
        let statements = try await pgbench.run(.recordCreation, connections: 16, seconds: seconds)
        say(
            "  50 records of \(BenchRecords.fewCount) and of \(BenchRecords.manyCount), \(Self.pageConnections) connections"
        )
        return Results.Records(
            creations: creations,
            creationsByPgbench: statements,
            pageOfFew: try await page(BenchRecords.fewToken),
            pageOfMany: try await page(BenchRecords.manyToken)
        )
    }

    private func page(_ token: String) async throws -> LoadFigures {
        try await wrk.run(
            .newestRecords(token: token),
            at: stage.service.origin,
            connections: Self.pageConnections,
            seconds: seconds
        )
    }

    private func load(_ load: Wrk.Load) async throws -> LoadFigures {
        try await wrk.run(load, at: stage.service.origin, connections: 16, seconds: seconds)
    }

    private func photos() async throws -> Results.Photos {
        let (small, large) = (stage.photos.small, stage.photos.large)
        say("  a photo of 300 KB from disk, by the service and by nginx, \(PhotoStage.connections) connections")
        let fromDisk = try await photo(small.selfieURL)
        let byNginx = try await photo(small.otherURL)
        say("  a photo of 20 MB from S3, through the service and from the S3 server")
        let proxied = try await photo(large.selfieURL)
        let presigned = try await photo(large.otherURL)
        say("  uploads of 20 MB, through the service and to the S3 server")
        return Results.Photos(
            fromDisk: fromDisk,
            byNginx: byNginx,
            proxied: proxied,
            presigned: presigned,
            uploads: try await Transfers.throughService(stage.photos, seconds: seconds),
            puts: try await Transfers.direct(stage.photos, seconds: seconds)
        )
    }

    private func photo(_ url: String) async throws -> LoadFigures {
        try await wrk.run(.photo, at: url, connections: PhotoStage.connections, seconds: seconds)
    }

    private func signIns() async throws -> Results.SignIns {
        // Before any sign-in: the service goes on with those that wrk gave up.
        say("  the list alone, 16 connections")
        let listAlone = try await lists(connections: 16)
        say("  sign-ins alone, \(Self.signInConnections) connections")
        let alone = try await signIns(seconds: signInSeconds)
        say("  the list beside sign-ins, 16 and \(Self.signInConnections) connections")
        // The sign-ins begin a second before the lists and end after them.
        async let beside = signIns(seconds: signInSeconds + 2)
        try await Task.sleep(for: .seconds(1))
        let listBeside = try await lists(connections: 16)
        return Results.SignIns(
            alone: alone,
            besideList: try await beside,
            listAlone: listAlone,
            listBesideSignIns: listBeside
        )
    }

    /// A sign-in takes at least a quarter of a second of a core.
    ///
    /// In less time, there are too few to count.
    private var signInSeconds: Int { max(seconds, 5) }

    private func lists(connections: Int, seconds: Int? = nil) async throws -> LoadFigures {
        try await wrk.run(
            .lists,
            at: stage.service.origin,
            connections: connections,
            seconds: seconds ?? self.seconds
        )
    }

    private func signIns(seconds: Int) async throws -> LoadFigures {
        try await wrk.run(
            .signIns,
            at: stage.service.origin,
            connections: Self.signInConnections,
            seconds: seconds
        )
    }

    private func memory() throws -> Memory {
        try Memory(processID: stage.service.processID)
    }
}
