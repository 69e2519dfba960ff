import ArgumentParser
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// A server that does only HTTP: it sends the same body for every list request.
struct StaticServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "static-server",
        abstract: "Answer list requests with a fixed body, for comparison; `run` starts it.",
        shouldDisplay: false
    )

    @Option(help: "How many bytes the body has.")
    var bodyBytes: Int

    func run() async throws {
        let buffer = ByteBuffer(repeating: UInt8(ascii: "x"), count: bodyBytes)
        let router = Router()
        router.get("/api/get_photos") { _, _ in
            Response(
                status: .ok,
                headers: [.contentType: "application/json; charset=utf-8"],
                body: ResponseBody(byteBuffer: buffer)
            )
        }
        let application = Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0), backlog: 1024),
            logger: Logger(label: "static")
        )
        try await application.runService()
    }

    /// Starts this server as a process of its own, runs `body` and ends it.
    static func with<Result: Sendable>(
        bodyBytes: Int,
        _ body: (RunningServer) async throws -> Result
    ) async throws -> Result {
        try await RunningServer.with(
            "bench",
            ["static-server", "--body-bytes", String(bodyBytes)],
            body
        )
    }
}
