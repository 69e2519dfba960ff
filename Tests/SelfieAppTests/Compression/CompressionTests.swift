import ConnectionTestSupport
import Foundation
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp

@Suite("Compressed answers", .timeLimit(.minutes(2)))
struct CompressionTests {
    private static func list(
        _ service: TestService,
        _ token: String,
        accept: String?,
        _ headers: [(String, String)] = []
    ) async throws -> HTTPAnswer {
        let accepted = accept.map { [("Accept-Encoding", $0)] } ?? []
        let authorization = [("Authorization", tokenHeader(token))]
        return try await service.send("GET", "/api/get_photos", headers: authorization + accepted + headers)
    }

    @Test("A list of more than a KiB is compressed on request, and means the same")
    func list() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            for _ in 0..<2 { _ = try await service.upload(token: token) }
            let short = try await Self.list(service, token, accept: "gzip")
            #expect(short.headers["content-encoding"] == nil && short.jsonArray?.count == 2)
            for _ in 0..<10 { _ = try await service.upload(token: token) }
            let plain = try await Self.list(service, token, accept: nil)
            #expect(plain.headers["content-encoding"] == nil)
            #expect(plain.headers["vary"] == "Accept-Encoding")
            let tag = try #require(plain.headers["etag"])
            for accept in ["gzip", "br, GZIP;q=0.5", "*", "deflate, gzip; q=1.0"] {
                let small = try await Self.list(service, token, accept: accept)
                #expect(small.headers["content-encoding"] == "gzip", "\(accept)")
                #expect(small.headers["etag"] == "W/\(tag)")
                #expect(small.headers["content-length"] == "\(small.body.count)")
                #expect(small.body.count < plain.body.count / 2)
                #expect(try await small.body.gunzipped() == plain.body)
            }
            for accept in ["identity", "gzip;q=0", "gzip; q=0.000, *", "br", ""] {
                #expect(try await Self.list(service, token, accept: accept).body == plain.body, "\(accept)")
            }
            let known = try await Self.list(service, token, accept: "gzip", [("If-None-Match", "W/\(tag)")])
            #expect(known.status == 304 && known.headers["vary"] == "Accept-Encoding")
            let log = try #require(service.log.entries.last { $0.contains("endpoint=/api/get_photos") })
            #expect(log.contains("bytes=0"))
        }
    }

    @Test("A long list is compressed while it is sent, and means the same for all parallel clients")
    func longList() async throws {
        try await TestService.run { service in
            let token = try await service.addSession()
            try await service.addRows(3_000)
            let plain = try await Self.list(service, token, accept: nil)
            #expect(plain.body.count > 500_000)
            let answers = try await withThrowingTaskGroup(of: HTTPAnswer.self) { group in
                for _ in 0..<12 { group.addTask { try await Self.list(service, token, accept: "gzip") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.contains { $0.headers["content-encoding"] == "gzip" })
            for answer in answers {
                let isCompressed = answer.headers["content-encoding"] == "gzip"
                #expect(try await (isCompressed ? answer.body.gunzipped() : answer.body) == plain.body)
            }
        }
    }
}

extension Data {
    /// The bytes that `gunzip` makes of these.
    fileprivate func gunzipped() async throws -> Data {
        try await TemporaryFolder.with { folder in
            let file = folder.appending(path: "body.gz")
            try write(to: file)
            let process = Process()
            process.executableURL = URL(filePath: "/bin/gunzip")
            process.arguments = [file.path]
            try process.run()
            process.waitUntilExit()
            return try Data(contentsOf: folder.appending(path: "body"))
        }
    }
}
