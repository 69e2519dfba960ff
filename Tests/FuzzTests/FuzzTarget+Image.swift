@testable import ImageFiles

extension FuzzTarget {
    /// A file is an image or none, however little of it is read at a time, and more of it changes nothing.
    static func readImage(_ bytes: [UInt8]) async throws {
        let image = try await read(bytes, windowBytes: 16 * 1024)
        try require(try await read(bytes, windowBytes: 1) == image, "the same with the smallest windows")
        let whole = try await read(bytes, windowBytes: 16 * 1024, mustBeWhole: true)
        try require(whole == nil || whole == image, "a whole image is the same one")
        let wholeOfWindows = try await read(bytes, windowBytes: 1, mustBeWhole: true)
        try require(wholeOfWindows == whole, "as whole with the smallest windows")
        guard let image else { return }
        try require(image.size.width > 0 && image.size.height > 0, "a size of some pixels")
        try require(image.format == ImageFormat(leadingBytes: bytes), "the format of the leading bytes")
    }

    private static func read(_ bytes: [UInt8], windowBytes: Int, mustBeWhole: Bool = false) async throws -> ImageFile? {
        try await ImageFile.read(length: bytes.count, windowBytes: windowBytes, mustBeWhole: mustBeWhole) { range in
            guard range.upperBound <= bytes.count else { throw FuzzViolation(what: "no byte beyond the end") }
            return Array(bytes[range])
        }
    }
}
