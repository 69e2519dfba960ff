import ConnectionTestSupport
import Foundation
import TestSupport

/// A member who writes records and photos, whatever comes of it.
struct StormWriter {
    let member: TestMember
    let members: [TestMember]
    private var generator: SplitMix64
    private var photos: [String] = []

    init(member: TestMember, members: [TestMember], seed: UInt64) {
        (self.member, self.members) = (member, members)
        generator = SplitMix64(seed: seed)
    }

    /// Writes once.
    mutating func write(_ servers: some StormTarget) async {
        do {
            let service = try servers.any
            let id = "r\(Int.random(in: 0..<12, using: &generator))"
            switch Int.random(in: 0..<8, using: &generator) {
            case 0, 1:
                try await send(
                    service,
                    "PUT",
                    "threads/\(member.name)-\(id)",
                    #"{"data":{},"readers":[\#(readers())]}"#
                )
            case 2: try await send(service, "PUT", "priorities/\(id)", #"{"data":{"name":"x"}}"#)
            case 3: try await send(service, "DELETE", "threads/\(member.name)-\(id)")
            case 4: try await send(service, "DELETE", "priorities/\(id)")
            case 5: try await send(service, "PUT", "news/\(member.name)-\(id)", #"{"data":{"title":"x"}}"#)
            case 6: try await writePhoto(service)
            default:
                let records = (0..<5).map { _ in #"{"data":{},"readers":[\#(readers())]}"# }
                try await send(service, "POST", "threads", "[\(records.joined(separator: ","))]")
            }
        } catch {
            // A process is being started.
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    private mutating func readers() -> String {
        (0..<3).map { _ in "\"\(members[Int.random(in: 0..<members.count, using: &generator)].id)\"" }.joined(
            separator: ","
        )
    }

    private func send(_ service: TestService, _ method: String, _ path: String, _ body: String? = nil) async throws {
        _ = try await service.send(
            method,
            "/api/records/\(path)",
            headers: [("Authorization", "Bearer \(member.token)"), ("Content-Type", "application/json")],
            body: body.map { Data($0.utf8) }
        )
    }

    private mutating func writePhoto(_ service: TestService) async throws {
        if photos.count > 5 {
            _ = try await service.delete(photos.removeFirst(), token: member.token)
        } else if let id = try await service.upload(token: member.token).json["random_id"] as? String {
            photos.append(id)
        }
    }
}
