import Foundation
import NIOCore

@testable import SelfieWeb

extension FuzzTarget {
    /// A JSON body is refused, or gives at most as many parameters as are allowed.
    static func readJSON(_ bytes: [UInt8]) throws {
        guard let values = try? JSONParameters.parse(ByteBuffer(bytes: bytes)).texts else { return }
        try require(values.count <= 256, "no more parameters than allowed")
        // What was read is text, so written as JSON again it is read as the same.
        let written = try JSONSerialization.data(withJSONObject: values)
        try require(
            try JSONParameters.parse(ByteBuffer(bytes: written)).texts == values,
            "the same when it is written again"
        )
    }

    /// A form is refused, or means the same when it is written anew.
    static func readForm(_ bytes: [UInt8]) throws {
        guard let values = try? FormParameters.parse(bytes) else { return }
        try require(values.count <= 256, "no more parameters than allowed")
        let pairs = values.map { name, value in "\(encoded(name))=\(encoded(value))" }
        let again = try FormParameters.parse(Array(pairs.joined(separator: "&").utf8))
        try require(again == values, "the same when it is written again")
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "%0\(digits)" : "%\(digits)"
        }.joined()
    }
}
