import ConnectionTestSupport
import Foundation
import NIOCore
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

/// The numbers are those that the service promises.
@Suite("Uploads that begin with a burst and then trickle", .timeLimit(.minutes(4)))
struct TricklingUploadsSoakTests {
    private static let memberCount = 50
    private static let uploadsPerMember = 4
    private static let photoBytes = 3_000_000
    private static let burstBytes = 2_000_000
    /// How many bytes follow, one a second.
    private static let trickledBytes = 20

    @Test("Fifty members with four each use all permits, take 200 MiB at most, and the memory comes back")
    func memory() async throws {
        try await ServedSelfie.run { served in
            let (service, processID) = (served.service, served.process.processID)
            var tokens: [String] = []
            for number in 0..<Self.memberCount { tokens.append(try await service.addSession(name: "m\(number)")) }
            // What comes first makes statements and opens connections.
            #expect(try await service.upload(token: tokens[0]).status == 200)
            let body = TestMultipart.body(image: TestImage.png(bytes: Self.photoBytes), title: "Slow")
            let burst = ByteBuffer(bytes: body.prefix(Self.burstBytes))
            let before = try ProcessMemory(of: processID).resident
            var statuses: [Int?] = []
            let growth = try await ProcessMemory.growth(of: processID) {
                statuses = try await withThrowingTaskGroup(of: Int?.self) { uploads in
                    for token in tokens {
                        for _ in 0..<Self.uploadsPerMember {
                            uploads.addTask {
                                try await Self.trickle(burst, of: body.count, to: service, token: token)
                            }
                        }
                    }
                    return try await uploads.reduce(into: []) { $0.append($1) }
                }
            }
            print("\(growth) MiB")
            #expect(growth <= 200)
            // A member gets at most as many permits as are free, so up to three of the 200 stay free.
            let (refused, ended) = (statuses.count { $0 == 503 }, statuses.count { $0 == 400 })
            #expect(ended >= 197 && ended + refused == 200, "\(statuses)")
            try await poll("the memory comes back") { try ProcessMemory(of: processID).resident <= before + 48 << 10 }
            #expect(try await service.count("SELECT count(*) FROM photos") == 1)
            #expect(service.objects.keys().count == 1)
        }
    }

    /// Sends the first part of an upload at once, then a byte every second, and not the rest.
    ///
    /// - Returns: The status of the answer; nil when the connection is closed without one.
    private static func trickle(
        _ burst: ByteBuffer,
        of byteCount: Int,
        to service: TestService,
        token: String
    ) async throws -> Int? {
        try await RawConnection.open(port: service.port) { connection in
            try await connection.sendUploadHead(token: token, "Content-Length: \(byteCount)")
            // A refused client may find the connection closed.
            try? await connection.send(burst)
            try? await connection.trickle(Data(repeating: 0x78, count: trickledBytes), pause: .seconds(1)).value
            connection.finish()
            return try? await connection.readResponse()?.status
        }
    }
}
