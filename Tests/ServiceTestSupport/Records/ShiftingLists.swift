import ConnectionTestSupport
import Foundation
import TestSupport
import Testing

/// Pages of lists while others insert, move and delete records of them.
package struct ShiftingLists: Sendable {
    private let time: Duration
    private static let schema = #"""
        {"roles":{"team":{}},"collections":{"bugs":{"access":"shared","role":"team","delete":"members",
        "indexes":["points","updated_at"],"fields":{"points":{"type":"integer"}}}}}
        """#
    private static let lastingCount = 100

    /// - Parameter time: How long they write.
    package init(time: Duration) { self.time = time }

    /// Expects that each list shows each record that stays as it is once, in its order.
    ///
    /// - Returns: How many lists were read.
    /// - Throws: What a call throws.
    @discardableResult
    package func run() async throws -> Int {
        try await TestService.runTwoWithSchema(Self.schema) { first, second in
            let (ada, bob) = (
                try await first.addMember("ada", role: "team"), try await first.addMember("bob", role: "team")
            )
            let lasting = (0..<Self.lastingCount).map { #"{"id":"s\#($0)","data":{"points":\#($0 / 5 * 10)}}"# }
            let made = try await first.call("POST", "/api/records/bugs", as: ada, "[\(lasting.joined(separator: ","))]")
            #expect(made.status == 200)
            return try await withThrowingTaskGroup(of: Int.self) { tasks in
                for writer in 0..<8 {
                    let service = writer % 2 == 0 ? first : second
                    tasks.addTask {
                        try await Self.write(writer, service, as: ada, until: .now + time)
                        return 0
                    }
                }
                for (order, service) in [
                    ("points", first), ("-points", second), ("created", first), ("-updated_at", second),
                ] {
                    tasks.addTask { try await Self.read(order, service, as: bob, until: .now + time) }
                }
                return try await tasks.reduce(0, +)
            }
        }
    }

    private static func write(
        _ writer: Int,
        _ service: TestService,
        as member: TestMember,
        until end: ContinuousClock.Instant
    ) async throws {
        var random = SplitMix64(seed: UInt64(writer))
        while .now < end {
            let path = "/api/records/bugs/w\(writer)-\(Int.random(in: 0..<10, using: &random))"
            let points = Int.random(in: 0..<200, using: &random)
            if points % 5 == 0 {
                _ = try await service.call("DELETE", path, as: member)
            } else {
                let answer = try await service.call("PUT", path, as: member, #"{"data":{"points":\#(points)}}"#)
                #expect(answer.status == 200, "\(answer.text)")
            }
        }
    }

    private static func read(
        _ order: String,
        _ service: TestService,
        as member: TestMember,
        until end: ContinuousClock.Instant
    ) async throws -> Int {
        let ascending = (0..<lastingCount).map { "s\($0)" }
        let expected = order.hasPrefix("-") ? ascending.reversed() : ascending
        var count = 0
        while .now < end {
            let found = try await service.ids("bugs", as: member, query: "&order=\(order)")
            #expect(found.filter { $0.hasPrefix("s") } == expected, "\(order)")
            count += 1
        }
        return count
    }
}
