import DatabaseTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import TestSupport
import Testing

/// Random schemas, records and lists of 8 clients while others write, beside a model in Python.
package struct ListModelRun: Sendable {
    /// What one schema gets.
    private struct Round: Encodable {
        let origins: [String]
        let members: [Member]
        let strangers: [Member]
        let collections: [String: Collection]
        let seed: Int
        let records: Int
        let queries: Int
    }

    private struct Member: Encodable {
        let id: String
        let token: String
        let hasRole: Bool

        enum CodingKeys: String, CodingKey {
            case id, token
            case hasRole = "has_role"
        }
    }

    private struct Collection: Encodable {
        let access: String
        let fields: [String: String]
        let indexes: [String]
    }

    /// How many records each schema gets, and how many lists are asked for.
    private let (recordCount, queryCount): (Int, Int)

    /// - Parameters:
    ///   - recordCount: How many records each schema gets.
    ///   - queryCount: How many lists each schema is asked for.
    package init(recordCount: Int, queryCount: Int) {
        (self.recordCount, self.queryCount) = (recordCount, queryCount)
    }

    /// Applies a random schema, and compares all lists with the model's.
    ///
    /// - Parameters:
    ///   - seed: Which schema, and which records.
    ///   - services: The processes, on one database.
    /// - Returns: What the model says of the run.
    /// - Throws: The script's output, with each list that differs.
    @discardableResult
    package func run(seed: Int, at services: [TestService]) async throws -> String {
        let service = try #require(services.first)
        var random = SplitMix64(seed: UInt64(seed))
        let collections = Self.collections(seed: seed, &random)
        try await service.postgres.write("DELETE FROM role_members")
        try await service.apply(try Self.schema(collections))
        var (members, strangers): ([Member], [Member]) = ([], [])
        for number in 0..<10 {
            let hasRole = number < 4
            let member = try await service.addMember("m\(seed)-\(number)", role: hasRole ? "team" : nil)
            let written = Member(id: member.id, token: member.token, hasRole: hasRole)
            if number < 8 { members.append(written) } else { strangers.append(written) }
        }
        let round = Round(
            origins: services.map(\.origin),
            members: members,
            strangers: strangers,
            collections: collections,
            seed: seed,
            records: recordCount,
            queries: queryCount
        )
        return try await PythonScript.run(
            "list_model.py",
            input: String(decoding: JSONEncoder().encode(round), as: UTF8.self)
        )
    }

    private static let types = ["string", "integer", "number", "boolean", "timestamp", "any"]

    private static func collections(seed: Int, _ random: inout SplitMix64) -> [String: Collection] {
        let access = ["private", "acl", "shared", "published", "inbox"].shuffled(using: &random)
        return Dictionary(
            uniqueKeysWithValues: access.prefix(3).enumerated().map { number, access in
                let fields = ["a", "b", "c", "d"].map { ($0, types.randomElement(using: &random) ?? "any") }
                let times = ["created_at", "updated_at"].filter { _ in Bool.random(using: &random) }
                let indexes = (fields.map(\.0) + times).shuffled(using: &random).prefix(4)
                let collection = Collection(
                    access: access,
                    fields: Dictionary(uniqueKeysWithValues: fields),
                    indexes: Array(indexes)
                )
                return ("c\(seed)-\(number)", collection)
            }
        )
    }

    /// The schema file; a field of any type is none of its own.
    private static func schema(_ collections: [String: Collection]) throws -> String {
        let written = collections.mapValues { collection -> [String: Any] in
            var members: [String: Any] = [
                "access": collection.access, "indexes": collection.indexes, "open": true,
                "fields": collection.fields.filter { $0.value != "any" }.mapValues { ["type": $0] },
            ]
            if collection.access == "shared" { members["role"] = "team" }
            return members
        }
        let schema: [String: Any] = ["roles": ["team": [String: Any]()], "collections": written]
        return String(decoding: try JSONSerialization.data(withJSONObject: schema), as: UTF8.self)
    }
}
