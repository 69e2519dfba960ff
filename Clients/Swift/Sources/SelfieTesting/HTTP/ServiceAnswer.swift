import Foundation
import SelfieClient

/// What a call answers.
struct ServiceAnswer: Sendable {
    var response: TransportResponse
    /// When a call that found nothing new answers at the latest; nil if it answers at once.
    var waitsUntil: ContinuousClock.Instant?

    init(_ response: TransportResponse) { self.response = response }

    /// Such as `{"status":200,"message":"Image deleted"}`.
    static func message(_ text: String) -> ServiceAnswer {
        .json(["status": 200, "message": .string(text)])
    }

    static func json(_ value: JSONValue, status: Int = 200, headers: [String: String] = [:]) -> ServiceAnswer {
        // A JSON value that was made here has no number that JSON lacks.
        let body = (try? JSONCoding.encode(value)) ?? Data()
        let headers = ["Content-Type": "application/json"].merging(headers) { $1 }
        return ServiceAnswer(TransportResponse(status: status, headers: headers, body: body))
    }

    static func refusal(_ refusal: ServiceRefusal, headers: [String: String] = [:]) -> ServiceAnswer {
        .json(
            [
                "status": .integer(Int64(refusal.status)), "message": .string(refusal.message),
                "code": .string(refusal.code),
            ],
            status: refusal.status,
            headers: headers
        )
    }
}

extension JSONValue {
    /// A text, or null.
    init(_ text: String?) { self = text.map { .string($0) } ?? .null }

    /// A time, or null.
    init(_ date: Date?) { self.init(date.map(JSONCoding.text)) }

    /// A number, or null.
    init(_ number: Int?) { self = number.map { .integer(Int64($0)) } ?? .null }

    init(_ texts: [String]) { self = .array(texts.map { .string($0) }) }

    /// The members of an object; nil if this is none.
    var members: [String: JSONValue]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// The texts of an array; nil if this is none of texts alone.
    var texts: [String]? {
        guard case .array(let elements) = self else { return nil }
        let texts = elements.compactMap(\.text)
        return texts.count == elements.count ? texts : nil
    }
}
