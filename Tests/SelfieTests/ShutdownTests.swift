import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

@Suite("selfie serve, after SIGTERM", .timeLimit(.minutes(2)))
struct ShutdownTests {
    private final class Sent: Sendable {
        let count = Atomic(0)
    }

    @Test(
        "Idle, it exits with status 0, though a connection is kept open without a request",
        arguments: [SIGTERM, SIGINT]
    )
    func idle(signal: Int32) async throws {
        try await ServedSelfie.run { served async throws in
            try await RawConnection.open(port: served.service.port) { connection in
                try await connection.send("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                #expect(try await connection.readResponse()?.status == 200)
                served.process.signal(signal)
                #expect(try await connection.readToEnd().isEmpty, "the server closes it")
                #expect(try await served.process.waitForExit() == 0)
            }
        }
    }

    @Test("Connections that wait to be accepted at that moment are answered, and none is reset")
    func waitingConnections() async throws {
        try await ServedSelfie.run { served in
            // The system takes connections for a process that is halted.
            served.process.signal(SIGSTOP)
            let (count, sent, port) = (200, Sent(), served.service.port)
            let statuses = try await withThrowingTaskGroup(of: Int?.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        try await RawConnection.open(port: port) { connection in
                            var connection = connection
                            try await connection.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                            sent.count.add(1, ordering: .relaxed)
                            return try await connection.readResponse()?.status
                        }
                    }
                }
                try await poll("all are sent") { sent.count.load(ordering: .relaxed) == count }
                served.process.signal(SIGTERM)
                served.process.signal(SIGCONT)
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.allSatisfy { $0 == 200 }, "\(statuses.count { $0 != 200 }) were not answered")
            #expect(try await served.process.waitForExit() == 0)
        }
    }

    @Test(
        "It stops accepting, lets an upload that is under way finish, and exits with status 0",
        arguments: TestStore.allCases
    )
    func runningUpload(store: TestStore) async throws {
        try await ServedSelfie.run(store: store) { served in
            let token = try await served.service.makeToken()
            let image = TestImage.png(bytes: 300_000)
            let body = TestMultipart.body(image: image, title: "slow")
            try await RawConnection.open(port: served.service.port) { connection in
                try await Self.begin(body, token: token, on: &connection)
                served.process.signal(SIGTERM)
                try await poll("no connection is taken") { await !Self.takesConnections(port: served.service.port) }
                for chunk in stride(from: 1000, to: body.count, by: 60_000) {
                    #expect(try await served.service.count("SELECT count(*) FROM photos") == 0)
                    try await connection.send(body[chunk..<min(chunk + 60_000, body.count)])
                }
                let answer = try #require(try await connection.readResponse())
                #expect(answer.status == 200, "\(answer.text)")
                #expect(try await served.process.waitForExit() == 0)
                let randomID = try #require(answer.json["random_id"] as? String)
                #expect(served.service.objects.keys() == [randomID])
                #expect(served.service.objects.bytes(key: randomID) == image)
                #expect(try await served.service.count("SELECT count(*) FROM photos WHERE state = 'ready'") == 1)
            }
        }
    }

    /// Begins an upload and waits until the server reads it, which it says by asking for the body.
    private static func begin(_ body: Data, token: String, on connection: inout RawConnection) async throws {
        try await connection.send(
            RawRequest.uploadHeader(token: token, bodyBytes: body.count, extra: "Expect: 100-continue\r\n")
        )
        #expect(try await connection.readResponse()?.status == 100)
        try await connection.send(body[..<1000])
    }

    private static func takesConnections(port: Int) async -> Bool {
        do {
            return try await RawConnection.open(port: port) { _ in true }
        } catch {
            return false
        }
    }
}
