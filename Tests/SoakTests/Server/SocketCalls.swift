import ConnectionTestSupport
import Postgres
import ServerProcesses
import ServiceTestSupport
import Testing

extension RawConnection {
    /// Reads one answer, a refusal with which the connection ends.
    mutating func expectLastRefusal(_ status: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let answer = try #require(try await readResponse(), sourceLocation: sourceLocation)
        #expect(answer.status == status, "\(answer.text)", sourceLocation: sourceLocation)
        #expect(answer.json["status"] as? Int == status, sourceLocation: sourceLocation)
        #expect(answer.headers["connection"] == "close", sourceLocation: sourceLocation)
        #expect(try await readToEnd().isEmpty, sourceLocation: sourceLocation)
    }
}

extension TestService {
    /// Checks that no photo and no object was left behind.
    func expectNoPhoto(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await poll("nothing is left of the upload") {
            guard objects.keys().isEmpty else { return false }
            return try await count("SELECT count(*) FROM photos") == 0
        }
        #expect(try await count("SELECT count(*) FROM object_deletions") == 0, sourceLocation: sourceLocation)
    }
}
