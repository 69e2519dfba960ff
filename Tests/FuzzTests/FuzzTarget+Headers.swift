import Foundation
import HTTPTypes

@testable import Encodings
@testable import S3
@testable import SelfieWeb

extension FuzzTarget {
    /// A header names a credential, a token or nothing.
    static func readAuthorization(_ bytes: [UInt8]) throws {
        let value = String(decoding: bytes, as: UTF8.self)
        if let token = AuthorizationHeader.token(in: value) {
            try require(!token.allSatisfy(\.isWhitespace), "no blank token")
            try require(value.contains(token), "a token that was sent")
        }
        guard let (name, password) = AuthorizationHeader.basicCredential(in: value) else { return }
        try require(!name.contains(":"), "split at the first colon")
        let encoded = Data("\(name):\(password)".utf8).base64EncodedString()
        let again = AuthorizationHeader.basicCredential(in: "bAsIc   \(encoded)")
        try require(again?.name == name && again?.password == password, "the same when it is written again")
    }

    /// A range lies within what there is; the first two bytes say how much that is.
    static func readRange(_ bytes: [UInt8]) throws {
        let length = bytes.prefix(2).reduce(0) { $0 << 8 | Int($1) }
        let header = String(decoding: bytes.dropFirst(2), as: UTF8.self)
        switch RequestedRange(header, length: length) {
        case .whole: break
        case .unsatisfiable: try require(header.lowercased().hasPrefix("bytes="), "a range of bytes")
        case .part(let range):
            try require(
                !range.isEmpty && range.lowerBound >= 0 && range.upperBound <= length,
                "a part of what there is"
            )
        }
    }

    /// Each line is the value of one of the headers on which a request may depend.
    static func readConditions(_ bytes: [UInt8]) throws {
        let names: [HTTPField.Name] = [.ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange]
        var headers = HTTPFields()
        for (name, line) in zip(names, bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)) {
            let value = String(decoding: line, as: UTF8.self)
            if HTTPField.isValidValue(value) { headers[name] = value }
        }
        let conditions = Preconditions(tag: EntityTag("photo"), lastModified: 784_111_777)
        _ = conditions.allowsRange(headers)
        let outcome = conditions.outcome(headers)
        if headers.isEmpty { try require(outcome == .proceed, "nothing that was not asked for") }
        if outcome == .failed {
            try require(headers[.ifMatch] != nil || headers[.ifUnmodifiedSince] != nil, "a condition that can fail")
        }
        for name in names {
            guard let text = headers[name], let seconds = HTTPDate.seconds(of: text, now: 1_800_000_000) else {
                continue
            }
            try require(
                HTTPDate.seconds(of: HTTPDate.text(of: seconds)) == seconds,
                "the same when it is written again"
            )
        }
    }
}
