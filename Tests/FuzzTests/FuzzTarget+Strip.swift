@testable import ImageFiles

extension FuzzTarget {
    /// What stays of an image is an image of the same format and size, with nothing more to strip.
    static func stripImage(_ bytes: [UInt8]) async throws {
        let image = try await strip(bytes, windowBytes: 16 * 1024)
        try require(try await strip(bytes, windowBytes: 1) == image, "the same with the smallest windows")
        guard let image else { return }
        var stripped: [UInt8] = []
        for piece in image.pieces {
            switch piece {
            case .file(let range):
                try require(range.lowerBound >= 0 && range.upperBound <= bytes.count, "a range within the file")
                stripped += bytes[range]
            case .bytes(let new): stripped += new
            case .zeros(let count): stripped += Array(repeating: 0, count: count)
            }
        }
        try require(stripped.count == image.byteCount, "as many bytes as the pieces have")
        // A file with a broken part that goes is refused before it is stripped.
        if let before = try await read(bytes) {
            try require(try await read(stripped) == before, "the same format and size")
        }
        let again = try await strip(stripped, windowBytes: 16 * 1024)
        try require(again?.isWhole(ofLength: stripped.count) == true, "nothing more to strip")
    }

    private static func strip(_ bytes: [UInt8], windowBytes: Int) async throws -> StrippedImage? {
        try await StrippedImage.read(length: bytes.count, windowBytes: windowBytes) { range in
            guard range.upperBound <= bytes.count else { throw FuzzViolation(what: "no byte beyond the end") }
            return Array(bytes[range])
        }
    }

    private static func read(_ bytes: [UInt8]) async throws -> ImageFile? {
        try await ImageFile.read(length: bytes.count, mustBeWhole: true) { Array(bytes[$0]) }
    }
}
