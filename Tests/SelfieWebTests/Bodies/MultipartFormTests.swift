import Multipart
import NIOCore
import Testing

@testable import SelfieWeb

@Suite("Multipart parameters")
struct MultipartFormTests {
    private func fields(_ events: [MultipartSequence.Element]) throws -> [String: String] {
        var form = MultipartForm()
        for event in events { try form.append(event) }
        return form.fields
    }

    private func text(_ name: String, _ pieces: String...) -> [MultipartSequence.Element] {
        [.partBegin(MultipartPart(name: name, filename: nil, contentType: nil))]
            + pieces.map { .partBytes(ByteBuffer(string: $0)) } + [.partEnd]
    }

    private func file(_ name: String) -> [MultipartSequence.Element] {
        [
            .partBegin(MultipartPart(name: name, filename: "a.png", contentType: nil)),
            .partBytes(ByteBuffer(string: "bytes")), .partEnd,
        ]
    }

    @Test("A text comes in pieces, and of duplicates the last wins, be it a text or a file")
    func duplicates() throws {
        #expect(try fields(text("a", "1", "2") + text("b")) == ["a": "12", "b": ""])
        #expect(try fields(text("a", "1") + text("a", "2")) == ["a": "2"])
        #expect(try fields(text("a", "1") + file("a")).isEmpty)
        #expect(try fields(file("a") + text("a", "1")) == ["a": "1"])
    }

    @Test("A text that is not UTF-8 is malformed")
    func notUTF8() {
        #expect(throws: ServiceError.malformedParameters) {
            try fields([
                .partBegin(MultipartPart(name: "a", filename: nil, contentType: nil)),
                .partBytes(ByteBuffer(bytes: [0xC3])), .partEnd,
            ])
        }
        // A character may come in two pieces.
        #expect(throws: Never.self) {
            try fields([
                .partBegin(MultipartPart(name: "a", filename: nil, contentType: nil)),
                .partBytes(ByteBuffer(bytes: [0xC3])), .partBytes(ByteBuffer(bytes: [0xBC])), .partEnd,
            ])
        }
    }
}
