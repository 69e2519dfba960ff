package import Foundation
package import SelfieClient
package import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

/// A client of a test's service, as an app has it, with a folder of its own.
package struct TestClient: Sendable {
    package let selfie: Selfie
    package let folder: URL
    package let log: ClientLog

    /// What a client told its app's log handler.
    package final class ClientLog: Sendable {
        private let entries = Mutex<[LogEntry]>([])

        func add(_ entry: LogEntry) { entries.withLock { $0.append(entry) } }

        package var text: String { entries.withLock { "\($0)" } }
    }

    /// - Parameters:
    ///   - service: The service.
    ///   - folder: Where it keeps its files.
    ///   - port: The port of a proxy before the service; nil for the service's own.
    ///   - member: Who is signed in; nil for nobody.
    ///   - adjust: Changes the configuration.
    /// - Throws: An error of the file system's.
    package init(
        _ service: TestService,
        folder: URL,
        port: Int? = nil,
        as member: TestMember? = nil,
        adjust: (inout SelfieConfiguration) -> Void = { _ in }
    ) throws {
        let (store, log) = (MemoryTokenStore(), ClientLog())
        if let member { store.write(Data(#"{"token":"\#(member.token)","userID":"\#(member.id)"}"#.utf8)) }
        var configuration = SelfieConfiguration(tokenStore: store, folder: folder)
        configuration.log = { log.add($0) }
        adjust(&configuration)
        (self.folder, self.log) = (folder, log)
        selfie = Selfie(
            url: try #require(URL(string: "http://127.0.0.1:\(port ?? service.port)")),
            apiCredential: APICredential(name: TestService.apiName, password: TestService.apiPassword),
            configuration: configuration
        )
    }

    /// Runs a body with a service and a client.
    package static func run<Result: Sendable>(
        settings: [String: String] = [:],
        _ body: @Sendable (TestService, TestClient) async throws -> Result
    ) async throws -> Result {
        try await TestService.runWithSchema(settings: settings) { service in
            try await TemporaryFolder.with { folder in
                let client = try TestClient(service, folder: folder)
                let result = try await body(service, client)
                service.secrets.expectNone(in: client.log.text)
                return result
            }
        }
    }
}
