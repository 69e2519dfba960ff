import Foundation

/// All that a run measured, as `results.json` holds it.
struct Results: Codable, Sendable {
    struct Settings: Codable, Sendable {
        let rounds: Int
        let secondsPerMeasurement: Int
        let listBytes: Int
        /// How busy other programs kept the machine before the first measurement.
        let othersBusyPercent: Double
    }

    struct Round: Codable, Sendable {
        let listAt16: LoadFigures
        let listAt256: LoadFigures
        let pgbenchAt16: DatabaseFigures
        let staticAt16: LoadFigures
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

    /// How many requests of all measurements were not answered with 2xx.
    var failureCount: Int {
        let once = [signIns.alone, signIns.besideList, signIns.listAlone, signIns.listBesideSignIns, longList]
        return (once + rounds.flatMap { [$0.listAt16, $0.listAt256, $0.staticAt16] }).reduce(0) { $0 + $1.failureCount }
    }
}
