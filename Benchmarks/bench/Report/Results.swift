import Foundation

/// Everything that a run measured, as in `results.json`.
struct Results: Codable, Sendable {
    struct Settings: Codable, Sendable {
        let rounds: Int
        let secondsPerMeasurement: Int
        /// How busy other programs kept the machine before the first measurement.
        let othersBusyPercent: Double
    }

    struct Round: Codable, Sendable {
        let listAt16: LoadFigures
        let listAt256: LoadFigures
        let pgbenchAt16: DatabaseFigures
        let emptyListAt16: LoadFigures
        let welcomeAt16: LoadFigures
        let unchangedLongListAt16: LoadFigures
        let operations: Operations
        let records: Records
        let changes: Changes
        let photos: Photos

        /// All that a load generator has measured.
        fileprivate var loads: [LoadFigures] {
            [
                listAt16, listAt256, emptyListAt16, welcomeAt16, unchangedLongListAt16,
                operations.besideProbes, operations.probes,
                records.creations, records.pageOfFew, records.pageOfMany,
                changes.creations, changes.silentCreations, changes.listAlone,
                changes.listBesideWrites, changes.listBesideFewerStreams, changes.listBesideBoth,
                changes.writes, changes.writesBesideStreams,
                photos.fromDisk, photos.byNginx, photos.proxied, photos.presigned,
            ]
        }
    }

    /// The list beside probes, 16 connections.
    struct Operations: Codable, Sendable {
        let besideProbes: LoadFigures
        let probes: LoadFigures
    }

    /// Records that are created by 16 connections and listed by 4.
    struct Records: Codable, Sendable {
        let creations: LoadFigures
        let creationsByPgbench: DatabaseFigures
        let pageOfFew: LoadFigures
        let pageOfMany: LoadFigures
    }

    /// The feed, with a stream of each of 10,000 users where nothing else is said.
    struct Changes: Codable, Sendable {
        /// New records of 16 connections, with and without notifications.
        let creations: LoadFigures
        let silentCreations: LoadFigures
        /// From a write's answer to its event at another process, and from PostgreSQL's write to its notification.
        let events: TimeFigures
        let notifications: TimeFigures
        let kibibytesPerIdleConnection: Double
        let kibibytesPerStream: Double
        /// From a write to its event at all clients, and from an order to the same bytes at all clients.
        let fanOut: TimeFigures
        let rawFanOut: TimeFigures
        /// The list with 10 ms after each answer: alone, beside 300 writes a second, 5,000 streams, and 10,000 with writes.
        let listAlone: LoadFigures
        let listBesideWrites: LoadFigures
        let listBesideFewerStreams: LoadFigures
        let listBesideBoth: LoadFigures
        let writes: LoadFigures
        let writesBesideStreams: LoadFigures
    }

    struct Photos: Codable, Sendable {
        let fromDisk: LoadFigures
        let byNginx: LoadFigures
        let proxied: LoadFigures
        let presigned: LoadFigures
        let uploads: TransferFigures
        let puts: TransferFigures
    }

    struct SignIns: Codable, Sendable {
        let alone: LoadFigures
        let besideList: LoadFigures
        let listAlone: LoadFigures
        let listBesideSignIns: LoadFigures
    }

    struct MemoryFigures: Codable, Sendable {
        let idleMebibytes: Double
        let underListLoadMebibytes: Double
        let afterwardsMebibytes: Double
    }

    let date: Date
    let machine: Machine
    let versions: Versions
    let settings: Settings
    let rounds: [Round]
    let signIns: SignIns
    let longList: LoadFigures
    let memory: MemoryFigures

    /// The number of requests in all measurements without a 2xx answer.
    var failureCount: Int {
        let once = [signIns.alone, signIns.besideList, signIns.listAlone, signIns.listBesideSignIns, longList]
        let loads = rounds.flatMap(\.loads)
        let uploads = rounds.reduce(0) { $0 + $1.photos.uploads.failureCount + $1.photos.puts.failureCount }
        return (once + loads).reduce(uploads) { $0 + $1.failureCount }
    }
}
