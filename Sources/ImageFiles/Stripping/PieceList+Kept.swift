extension PieceList {
    /// Adds bytes in the place of a range: keeps the range where it has these very bytes.
    ///
    /// So a file with nothing to strip stays one piece.
    mutating func add(_ bytes: [UInt8], insteadOf range: Range<Int>, of file: inout FileBytes) async throws {
        if range.count == bytes.count,
            try await file.bytes(at: range.lowerBound, count: range.count).elementsEqual(bytes)
        {
            try keep(range)
        } else {
            try add(bytes)
        }
    }

    /// Adds all pieces of another list.
    mutating func add(_ other: PieceList) throws(NoImage) {
        for piece in other.pieces {
            switch piece {
            case .file(let range): try keep(range)
            case .bytes(let bytes): try add(bytes)
            case .zeros(let count): try addZeros(count)
            }
        }
    }
}

extension Int {
    /// The number's lowest bytes, the highest first.
    func bigEndianBytes(_ count: Int) -> [UInt8] { littleEndianBytes(count).reversed() }

    /// The number's lowest bytes, the lowest first.
    func littleEndianBytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) }
    }
}
