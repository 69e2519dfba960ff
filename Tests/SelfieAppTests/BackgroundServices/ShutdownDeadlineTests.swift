import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Logging
import Postgres
import ServiceLifecycle
import ServiceTestSupport
import TestSupport
import Testing
import UnixSignals

@testable import SelfieApp
@testable import SelfieConfiguration

@Suite("The end of the time for a graceful shutdown", .timeLimit(.minutes(2)))
struct ShutdownDeadlineTests {
    @Test("A process that gets SIGTERM has 25 s for running requests")
    func timeout() {
        let configuration = ServiceGroupConfiguration.untilSignal([], logger: TestLog().logger(level: .info))
        #expect(configuration.maximumGracefulShutdownDuration == .seconds(25))
        #expect(configuration.gracefulShutdownSignals == [.sigterm, .sigint])
        #expect(configuration.maximumCancellationDuration == nil)
    }

    @Test("A request that never ends is cut when the time is over, and leaves nothing")
    func endlessUpload() async throws {
        try await TestCluster.withDatabase { databaseURL in
            try await ServedSelfie.withObjects(.disk) { objects in
                let values = TestService.settings(databaseURL: databaseURL, objects: objects)
                let (ports, port) = AsyncStream.makeStream(of: Int.self)
                let logger = TestLog().logger(level: .info)
                let photoService = SelfieService(
                    configuration: try ServiceConfiguration(from: ConfigurationSource(values: values)),
                    hostname: "127.0.0.1",
                    port: 0,
                    logger: logger,
                    onRunning: { port.yield($0) }
                )
                var configuration = ServiceGroupConfiguration.untilSignal(
                    [photoService],
                    logger: logger,
                    shutdownTimeout: .milliseconds(20)
                )
                // Signals would reach the tests' own process.
                configuration.gracefulShutdownSignals = []
                let group = ServiceGroup(configuration: configuration)
                let running = Task {
                    defer { port.finish() }
                    try await group.run()
                }
                let listening = try #require(await ports.first { _ in true })
                try await TestCluster.withClient(databaseURL) { postgres in
                    let service = ServedSelfie.attach(
                        port: listening,
                        databaseURL: databaseURL,
                        objects: objects,
                        postgres: postgres
                    )
                    let token = try await service.addSession()
                    try await RawConnection.open(port: listening) { connection in
                        try await connection.sendUploadHead(
                            token: token,
                            "Content-Length: 1000000",
                            "Expect: 100-continue"
                        )
                        #expect(try await connection.readResponse()?.status == 100)
                        try await connection.send(Data(repeating: 0x61, count: 1000))
                        await group.triggerGracefulShutdown()
                        // The request is still under way, and yet this ends.
                        try await running.value
                    }
                    #expect(try await service.count("SELECT count(*) FROM photos") == 0)
                    #expect(objects.keys().isEmpty)
                }
            }
        }
    }
}
