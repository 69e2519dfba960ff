import ConnectionTestSupport
import Foundation
import NIOCore
import Postgres
import ServerProcesses
import ServiceTestSupport
import Testing

extension RawConnection {
    /// Reads one answer and checks that it is a refusal in the contract's form.
    @discardableResult
    mutating func expectRefusal(
        _ status: Int,
        about request: String = "",
        closes: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> HTTPAnswer {
        let answer = try #require(try await readResponse(), "no answer \(request)", sourceLocation: sourceLocation)
        #expect(answer.status == status, "\(request)", sourceLocation: sourceLocation)
        #expect(answer.json["status"] as? Int == status, "\(answer.text)", sourceLocation: sourceLocation)
        #expect(answer.message?.isEmpty == false, sourceLocation: sourceLocation)
        #expect(answer.hasRefusalsMembers, sourceLocation: sourceLocation)
        #expect(answer.headers["content-type"] == "application/json; charset=utf-8", sourceLocation: sourceLocation)
        #expect(answer.headers["x-content-type-options"] == "nosniff", sourceLocation: sourceLocation)
        #expect(answer.headers["x-request-id"]?.isEmpty == false, sourceLocation: sourceLocation)
        if closes {
            #expect(answer.headers["connection"] == "close", sourceLocation: sourceLocation)
            #expect(try await readToEnd().isEmpty, sourceLocation: sourceLocation)
        } else {
            #expect(answer.headers["connection"] != "close", sourceLocation: sourceLocation)
        }
        return answer
    }
}

extension TestService {
    /// Checks that no photo and no object was left behind, and that the service answers.
    func expectNothingStored(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await poll("nothing is left of the upload") {
            guard objects.keys().isEmpty else { return false }
            return try await count("SELECT count(*) FROM photos") == 0
        }
        #expect(try await count("SELECT count(*) FROM object_deletions") == 0, sourceLocation: sourceLocation)
        #expect(try await send("GET", "/").status == 200, sourceLocation: sourceLocation)
    }
}
