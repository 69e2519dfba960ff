import Glibc

/// Reads numbers and short pieces anywhere in a file, a window at a time.
struct FileBytes {
    let length: Int
    private let windowBytes: Int
    private let stepLimit: Int
    private let read: (Range<Int>) async throws -> [UInt8]
    private var window: [UInt8] = []
    private var windowStart = 0
    private var stepCount = 0

    /// The most pieces that are read of a file.
    ///
    /// A JPEG with 2.6 MB of metadata in front of its frame takes 150.
    static let maxSteps = 16_384
    /// The most bytes of a piece.
    static let maxPieceBytes = 64 * 1024

    init(
        length: Int,
        windowBytes: Int,
        stepLimit: Int = FileBytes.maxSteps,
        read: @escaping (Range<Int>) async throws -> [UInt8]
    ) {
        self.length = length
        self.windowBytes = windowBytes
        self.stepLimit = stepLimit
        self.read = read
    }

    /// A piece of the file.
    ///
    /// - Throws: `NoImage` when the file ends before, or when too many pieces or too many bytes are asked for.
    mutating func bytes(at offset: Int, count: Int) async throws -> ArraySlice<UInt8> {
        stepCount += 1
        guard stepCount <= stepLimit, count <= Self.maxPieceBytes, offset >= 0, offset <= length - count else {
            throw NoImage()
        }
        if offset < windowStart || offset + count > windowStart + window.count {
            // Bytes in memory are read without a wait. Others have their turns on the thread in between.
            await Task.yield()
            window = try await read(offset..<min(offset + max(windowBytes, count), length))
            windowStart = offset
            // Fewer bytes than the file's length mean that it was replaced.
            guard window.count >= count else { throw NoImage() }
        }
        return window[(offset - windowStart)..<(offset - windowStart + count)]
    }

    /// The bytes from an offset on: those of the window, or else the next ``maxPieceBytes``.
    ///
    /// - Returns: At least one byte.
    /// - Throws: `NoImage` when the file ends before, or when too many pieces are asked for.
    mutating func bytes(from offset: Int) async throws -> ArraySlice<UInt8> {
        if offset < windowStart || offset >= windowStart + window.count {
            return try await bytes(at: offset, count: min(Self.maxPieceBytes, max(length - offset, 1)))
        }
        return try await bytes(at: offset, count: min(Self.maxPieceBytes, windowStart + window.count - offset))
    }

    /// A byte.
    mutating func byte(at offset: Int) async throws -> UInt8 {
        try await bytes(at: offset, count: 1).first ?? 0
    }

    /// Looks for the bytes that end an image.
    ///
    /// They are the file's last ones, or other bytes follow them, as in a moving photo. Then all from the offset on is
    /// read, ``maxPieceBytes`` at a time, until they are found. The window stays as it is.
    ///
    /// - Parameters:
    ///   - ending: The bytes.
    ///   - offset: Where the image's pixels begin, or any offset before its end.
    /// - Throws: `NoImage` when they are nowhere, or what reading the file throws.
    func findEnding(_ ending: [UInt8], from offset: Int) async throws {
        guard ending.count <= length - offset else { throw NoImage() }
        if try await read((length - ending.count)..<length) == ending { return }
        var start = offset
        while length - start >= ending.count {
            let range = start..<min(start + Self.maxPieceBytes, length)
            let piece = try await read(range)
            guard piece.count == range.count else { throw NoImage() }
            if piece.has(ending) { return }
            // The ending may lie across two pieces.
            start = range.upperBound - (ending.count - 1)
            await Task.yield()
        }
        throw NoImage()
    }
}

extension [UInt8] {
    /// Whether some bytes are among these, one after another.
    fileprivate func has(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first else { return true }
        return withUnsafeBytes { all in
            guard let start = all.baseAddress else { return false }
            var offset = 0
            while all.count - offset >= bytes.count {
                // The C library's search compares many bytes at a time.
                let room = all.count - offset - bytes.count + 1
                guard let found = memchr(start + offset, Int32(first), room) else { return false }
                offset = UnsafeRawPointer(found) - start
                if memcmp(found, bytes, bytes.count) == 0 { return true }
                offset += 1
            }
            return false
        }
    }
}

extension ArraySlice<UInt8> {
    /// The number of some bytes, the highest first.
    ///
    /// - Parameters:
    ///   - offset: Where it begins, from the slice's start.
    ///   - count: How many bytes it has, at most seven.
    /// - Returns: The number.
    func bigEndian(at offset: Int, count: Int) -> Int {
        piece(at: offset, count: count).reduce(0) { $0 << 8 | Int($1) }
    }

    /// The number of some bytes, the lowest first.
    func littleEndian(at offset: Int, count: Int) -> Int {
        piece(at: offset, count: count).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Whether some bytes are these letters.
    func has(_ letters: String, at offset: Int) -> Bool {
        piece(at: offset, count: letters.utf8.count).elementsEqual(letters.utf8)
    }

    /// Some bytes from the slice's start; fewer at its end.
    func piece(at offset: Int, count: Int) -> ArraySlice<UInt8> {
        dropFirst(offset).prefix(count)
    }
}
