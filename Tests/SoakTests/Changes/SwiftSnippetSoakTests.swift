import Foundation
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

/// Foundation on Linux lacks `URLSession.bytes(for:)`, so the test adds one that reads as Apple's does.
@Suite("Swift's code of the page about changes", .timeLimit(.minutes(5)))
struct SwiftSnippetSoakTests {
    private static let bytes = """
        @_exported import Foundation
        @_exported import FoundationNetworking

        final class Reader: NSObject, URLSessionDataDelegate, @unchecked Sendable {
            let (bytes, bytesEnd) = AsyncThrowingStream.makeStream(of: UInt8.self)
            let (answers, answersEnd) = AsyncThrowingStream.makeStream(of: URLResponse.self)

            func urlSession(
                _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
                completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
            ) {
                answersEnd.yield(response)
                completionHandler(.allow)
            }

            func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
                for byte in data { bytesEnd.yield(byte) }
            }

            func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
                answersEnd.finish(throwing: error)
                bytesEnd.finish(throwing: error)
            }
        }

        extension URLSession {
            func bytes(for request: URLRequest) async throws -> (AsyncThrowingStream<UInt8, any Error>, URLResponse) {
                let reader = Reader()
                let session = URLSession(configuration: .ephemeral, delegate: reader, delegateQueue: nil)
                session.dataTask(with: request).resume()
                for try await answer in reader.answers { return (reader.bytes, answer) }
                throw URLError(.badServerResponse)
            }
        }
        """

    private static let main = """
        import Foundation

        nonisolated(unsafe) var rest = 3
        try await followChanges(
            of: URL(string: CommandLine.arguments[1])!,
            token: CommandLine.arguments[2],
            after: "AgEAAAA",
            onChange: { change, cursor in
                print(String(decoding: change, as: UTF8.self))
                rest -= 1
                if rest == 0 { exit(0) }
            },
            onCursor: { _ in },
            onReset: { print("reset") }
        )
        """

    @Test("It begins again where it must, and reads texts with any characters")
    func follow() async throws {
        try await TestService.runWithSchema { service in
            try await TemporaryFolder.with { folder in
                try Self.bytes.write(to: folder.appending(path: "Bytes.swift"), atomically: true, encoding: .utf8)
                try Self.main.write(to: folder.appending(path: "main.swift"), atomically: true, encoding: .utf8)
                let built = try await ProgramOutcome.run(
                    URL(filePath: "/usr/bin/env"),
                    [
                        "swiftc", "-o", "follow", "Bytes.swift", "main.swift",
                        ProjectFolder.root.appending(path: "docs/changes/FollowChanges.swift").path,
                    ],
                    directory: folder
                )
                #expect(built.status == 0, "\(built.errors)")
                let ada = try await service.addMember("ada")
                let texts = ["a", "line\u{2028}line", "new\u{85}line"]
                for (number, text) in texts.enumerated() {
                    try await service.put("houses/h\(number)", as: ada, #"{"data":{"address":"\#(text)"}}"#)
                }
                let ran = try await ProgramOutcome.run(
                    folder.appending(path: "follow"),
                    [service.origin, ada.token],
                    directory: folder,
                    patience: .seconds(60)
                )
                let lines = ran.output.split(separator: "\n")
                #expect(ran.status == 0 && lines.first == "reset" && lines.count == 4, "\(ran)")
                for (line, text) in zip(lines.dropFirst(), texts) { #expect(line.contains(text)) }
            }
        }
    }
}
