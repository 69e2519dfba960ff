import Foundation
import Glibc
import ServerProcesses
import TestSupport

/// A receiver of webhooks that verifies with the reference library (`webhook_receiver.py`).
package struct WebhookReceiver: Sendable {
    package struct Received: Decodable, Sendable {
        /// In seconds since 1970.
        package let time: Double
        package let path: String
        package let id: String
        package let timestamp: Int
        package let signatures: [String]
        package let isVerified: Bool
        package let contentType: String
        package let body: String
        /// What was answered.
        package let status: Int
    }

    /// What it answers.
    package struct Replies: Encodable, Sendable {
        package var secret: String?
        package var status = 200
        package var headers: [String: String] = [:]
        /// How many tries of each event are answered 503 first.
        package var fails = 0

        package init(secret: String? = nil, status: Int = 200, headers: [String: String] = [:], fails: Int = 0) {
            (self.secret, self.status, self.headers, self.fails) = (secret, status, headers, fails)
        }
    }

    package let port: Int
    private let folder: URL

    package var url: String { "http://127.0.0.1:\(port)/hook" }

    /// Runs a body with a receiver.
    package static func with<Result>(_ body: (WebhookReceiver) async throws -> Result) async throws -> Result {
        try await TemporaryFolder.with { folder in
            let process = try ServerProcess("webhooks")
            defer { process.stop() }
            let command = try PythonScript.command("webhook_receiver.py") + [folder.path]
            let port = try await process.launch(command) { output in
                output.firstMatch(of: /listening on (\d+)\n/).flatMap { Int($0.1) }
            }
            return try await body(WebhookReceiver(port: port, folder: folder))
        }
    }

    /// What it answers from now on.
    ///
    /// - Throws: An error of Foundation's, or `NotInTime` when the file can't be replaced.
    package func reply(_ replies: Replies) throws {
        let partial = folder.appending(path: "replies.part")
        try JSONEncoder().encode(replies).write(to: partial)
        guard rename(partial.path, folder.appending(path: "replies.json").path) == 0 else {
            throw NotInTime(what: "replies")
        }
    }

    /// Whether somebody has followed a redirect.
    package var isFollowed: Bool { FileManager.default.fileExists(atPath: folder.appending(path: "followed").path) }

    /// All requests so far, in their order.
    package func requests() throws -> [Received] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let numbers = names.filter { $0.hasSuffix(".json") }.compactMap { Int($0.dropLast(5)) }.sorted()
        return try numbers.map { number in
            try JSONDecoder().decode(Received.self, from: Data(contentsOf: folder.appending(path: "\(number).json")))
        }
    }

    /// Waits for so many requests.
    ///
    /// - Throws: `NotInTime`.
    package func requests(count: Int) async throws -> [Received] {
        try await poll("\(count) requests", within: .seconds(60)) { try requests().count >= count }
        return try requests()
    }
}
