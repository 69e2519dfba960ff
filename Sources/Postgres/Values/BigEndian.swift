extension FixedWidthInteger {
    /// The bytes in the order in which PostgreSQL sends integers.
    var bigEndianBytes: [UInt8] {
        withUnsafeBytes(of: bigEndian) { Array($0) }
    }
}
