/// The binary format of arrays of at most one dimension (`array_send` in PostgreSQL's `utils/adt/arrayfuncs.c`).
///
/// All numbers are 32 bits. First come the number of dimensions, whether there are NULLs, and the elements' type. Each
/// dimension has its length and its lower bound. Then comes each element after its length, which is -1 for NULL.
enum PostgresArrayFormat {
    /// The server's MAXDIM.
    private static let maxDimensions = 6

    /// Writes elements as an array, nil as NULL; an empty one has no dimensions.
    static func encode(_ elements: some Collection<[UInt8]?>, as type: PostgresType) -> PostgresValue {
        var header: [UInt8] = []
        var body: [UInt8] = []
        var hasNull = false
        for element in elements {
            guard let element else {
                hasNull = true
                body += Int32(-1).bigEndianBytes
                continue
            }
            body += length(element.count)
            body += element
        }
        header += Int32(elements.isEmpty ? 0 : 1).bigEndianBytes
        header += Int32(hasNull ? 1 : 0).bigEndianBytes
        header += (type.element?.rawValue ?? 0).bigEndianBytes
        if !elements.isEmpty {
            header += length(elements.count)
            header += Int32(1).bigEndianBytes
        }
        return PostgresValue(type: type, bytes: header + body)
    }

    /// A length that does not fit is beyond the server's limit of 1 GB, so the server refuses the value.
    private static func length(_ count: Int) -> [UInt8] {
        Int32(clamping: count).bigEndianBytes
    }

    /// Hands out an array's elements in order.
    ///
    /// The lower bound is ignored.
    ///
    /// - Parameters:
    ///   - bytes: The whole array.
    ///   - type: The array's type.
    ///   - body: Takes an element's bytes, nil for NULL, and its type.
    /// - Throws: `UnreadableCell` for bytes in any other format, and what `body` throws.
    static func decode(
        _ bytes: ArraySlice<UInt8>,
        of type: PostgresType,
        _ body: (ArraySlice<UInt8>?, PostgresType) throws(UnreadableCell) -> Void
    ) throws(UnreadableCell) {
        var rest = bytes
        let dimensions = try integer(&rest)
        let hasNull = try integer(&rest)
        let elementType = PostgresType(rawValue: UInt32(truncatingIfNeeded: try integer(&rest)))
        guard 0...maxDimensions ~= dimensions, 0...1 ~= hasNull, elementType == type.element else {
            throw .malformed
        }
        guard dimensions <= 1 else { throw .dimensions(dimensions) }
        if dimensions == 1 {
            let count = try integer(&rest)
            _ = try integer(&rest)
            guard count >= 0 else { throw .malformed }
            // Each turn takes bytes or throws, so a false count ends with the bytes.
            for _ in 0..<count {
                let length = try integer(&rest)
                if length == -1, hasNull == 1 {
                    try body(nil, elementType)
                } else {
                    try body(try take(length, from: &rest), elementType)
                }
            }
        }
        guard rest.isEmpty else { throw .malformed }
    }

    private static func integer(_ rest: inout ArraySlice<UInt8>) throws(UnreadableCell) -> Int {
        try Int(postgresBytes: take(4, from: &rest), type: .int4)
    }

    private static func take(
        _ count: Int,
        from rest: inout ArraySlice<UInt8>
    ) throws(UnreadableCell) -> ArraySlice<UInt8> {
        guard 0...rest.count ~= count else { throw .malformed }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}
