import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Glibc
import Postgres
import ProcessTestSupport
import ServerProcesses
import TestSupport
import Testing

/// Apps that are killed at each step of their outbox, while the service is killed, too: each photo is there once, and each
/// record.
package struct ClientKills: Sendable {
    /// How often an app is killed.
    let count: Int
    /// Each how many-th app loses the service, too.
    let serverKills: Int
    /// By how many steps one kill is later than the one before.
    let stride: Int

    private static let photosAtOnce = 2

    package init(count: Int, serverKills: Int, stride: Int = 1) {
        (self.count, self.serverKills, self.stride) = (count, serverKills, stride)
    }

    /// Kills apps, and expects that nothing is lost or doubled.
    package func run() async throws {
        try await TestCluster.withDatabase { url in
            try await TestObjects.with(.disk) { objects in
                try await TestCluster.withClient(url) { postgres in
                    func start() async throws -> ServedSelfie {
                        try await ServedSelfie.start(
                            databaseURL: url,
                            objects: objects,
                            settings: ["RATE_LIMITS": "off", "RECORDS_QUOTA_MB": "1000"],
                            postgres: postgres
                        )
                    }
                    var served = try await start()
                    let relay = try await ConnectionRelay.start(target: served.service.port)
                    try await served.service.apply(try TestService.exampleSchema)
                    let ada = try await served.service.addMember("ada")
                    var steps = 0
                    for number in 0..<count {
                        // Without a kill, to know how many steps there are.
                        let isFirst = number == 0
                        let step = isFirst ? 0 : (number - 1) * stride % steps + 1
                        try await TemporaryFolder.with { folder in
                            let names = try (0..<Self.photosAtOnce).map { photo in
                                let name = "\(number)-\(photo)"
                                try TestImage.png(bytes: 20_000, seed: UInt8(number % 250)).write(
                                    to: folder.appending(path: name)
                                )
                                return name
                            }
                            let words = ["http://127.0.0.1:\(relay.port)", folder.path, ada.token, ada.id]
                            let killed = try await Self.app(words + ["\(step)"] + names, folder)
                            #expect(killed.status == (isFirst ? 0 : SIGKILL), "\(killed.errors)")
                            if isFirst { steps = Self.steps(killed.output) }
                            if serverKills > 0, number % serverKills == serverKills - 1 {
                                served.process.signal(SIGKILL)
                                _ = try await served.process.waitForExit()
                                served = try await start()
                                relay.pass(to: served.service.port)
                            }
                            let again = try await Self.app(words + ["0"] + names, folder)
                            #expect(again.status == 0 && again.output.hasSuffix("refused: 0\n"), "\(step): \(again)")
                            try await expect(names, folder, served.service)
                        }
                    }
                    #expect(steps > 20)
                    #expect(try await served.service.count("SELECT count(*) FROM photos") == count * Self.photosAtOnce)
                    print("\(steps) steps")
                    try await relay.close()
                }
            }
        }
    }

    private static func app(_ arguments: [String], _ folder: URL) async throws -> ProgramOutcome {
        let program = try SelfieProcess.executable.deletingLastPathComponent().appending(path: "client-process")
        return try await ProgramOutcome.run(program, arguments, directory: folder)
    }

    private static func steps(_ output: String) -> Int {
        output.firstMatch(of: /steps: (\d+)/).flatMap { Int($0.1) } ?? 0
    }

    private func expect(_ names: [String], _ folder: URL, _ service: TestService) async throws {
        for name in names {
            let photos = try await service.count(
                "SELECT count(*) FROM photos WHERE title = \(name) AND state = 'ready'"
            )
            let records = try await service.count("SELECT count(*) FROM records WHERE id = \(name) AND version = 1")
            #expect(photos == 1 && records == 1, "\(name): \(photos) photos, \(records) records")
        }
        let files = FileManager.default.enumerator(atPath: folder.appending(path: "selfie").path)?.allObjects ?? []
        let left = files.compactMap { $0 as? String }.filter { $0.contains("/uploads/") }
        #expect(left.isEmpty, "\(left)")
    }
}
