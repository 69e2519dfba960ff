import ConnectionTestSupport
import Foundation
import TestSupport

/// A member who writes records and photos, whatever comes of it.
struct StormWriter {
    let member: TestMember
    let members: [TestMember]
    private let ledger: StormLedger
    private var generator: SplitMix64
    private var photos: [String] = []

    /// - Parameters:
    ///   - member: The writer.
    ///   - members: The readers that it chooses from.
    ///   - seed: Makes its choices.
    ///   - ledger: What all writers were told.
    init(member: TestMember, members: [TestMember], seed: UInt64, ledger: StormLedger) {
        (self.member, self.members, self.ledger) = (member, members, ledger)
        generator = SplitMix64(seed: seed)
    }

    /// Writes once.
    mutating func write(_ servers: some StormTarget) async {
        do {
            let id = "r\(Int.random(in: 0..<12, using: &generator))"
            switch Int.random(in: 0..<8, using: &generator) {
            case 0, 1: try await put("threads/\(member.name)-\(id)", #"{"data":{},"readers":[\#(readers())]}"#, servers)
            case 2: try await put("priorities/\(id)", #"{"data":{"name":"x"}}"#, servers)
            case 3: try await delete("threads/\(member.name)-\(id)", refusals: [404], servers)
            // Only who has created it may delete it.
            case 4: try await delete("priorities/\(id)", refusals: [403, 404], servers)
            case 5: try await put("news/\(member.name)-\(id)", #"{"data":{"title":"x"}}"#, servers)
            case 6: try await writePhoto(servers)
            default: try await createThreads(servers)
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

    private func put(_ path: String, _ body: String, _ servers: some StormTarget) async throws {
        let answer = try await send(servers, "PUT", path, body)
        if answer.status == 200, let version = answer.json["version"] as? Int { ledger.wrote(path, version: version) }
    }

    private func delete(_ path: String, refusals: Set<Int>, _ servers: some StormTarget) async throws {
        let least = ledger.least(path)
        let answer = try await send(servers, "DELETE", path, refusals: refusals)
        if answer.status == 200 { ledger.deleted(path, after: least) }
    }

    private mutating func createThreads(_ servers: some StormTarget) async throws {
        let records = (0..<5).map { _ in #"{"data":{},"readers":[\#(readers())]}"# }
        let answer = try await send(servers, "POST", "threads", "[\(records.joined(separator: ","))]")
        guard answer.status == 200 else { return }
        for record in answer.jsonArray ?? [] {
            if let id = record["id"] as? String, let version = record["version"] as? Int {
                ledger.wrote("threads/\(id)", version: version)
            }
        }
    }

    private mutating func writePhoto(_ servers: some StormTarget) async throws {
        let (service, token) = (try servers.any, member.token)
        if photos.count > 5 {
            let id = photos.removeFirst()
            ledger.deletes(photo: id)
            _ = try await noted(servers, "delete photo") { try await service.delete(id, token: token) }
        } else {
            let answer = try await noted(servers, "upload photo") { try await service.upload(token: token) }
            guard answer.status == 200, let id = answer.json["random_id"] as? String else { return }
            ledger.uploaded(id)
            photos.append(id)
        }
    }

    private func send(
        _ servers: some StormTarget,
        _ method: String,
        _ path: String,
        _ body: String? = nil,
        refusals: Set<Int> = []
    ) async throws -> HTTPAnswer {
        let service = try servers.any
        return try await noted(servers, "\(method) \(path.prefix { $0 != "/" })", refusals: refusals) {
            try await service.send(
                method,
                "/api/records/\(path)",
                headers: [("Authorization", "Bearer \(member.token)"), ("Content-Type", "application/json")],
                body: body.map { Data($0.utf8) }
            )
        }
    }

    /// Sends a call, and lets the servers take note of what became of it.
    private func noted(
        _ servers: some StormTarget,
        _ name: String,
        refusals: Set<Int> = [],
        _ call: () async throws -> HTTPAnswer
    ) async throws -> HTTPAnswer {
        let start = Date()
        do {
            let answer = try await call()
            servers.note(StormCall(name: name, start: start, end: Date(), answer: answer, refusals: refusals))
            return answer
        } catch {
            servers.note(StormCall(name: name, start: start, end: Date(), answer: nil))
            throw error
        }
    }
}
