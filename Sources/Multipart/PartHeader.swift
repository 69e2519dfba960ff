import Encodings

/// The header of one part, gathered byte by byte until the empty line that ends it.
///
/// It keeps the one line that is being read and the two fields that matter; all others are checked
/// and dropped.
struct PartHeader: Sendable {
    /// The value of Content-Disposition, without blanks around it; nil if there is none.
    private(set) var contentDisposition: ArraySlice<UInt8>?
    /// The value of Content-Type, without blanks around it; nil if there is none.
    private(set) var contentType: ArraySlice<UInt8>?

    private var line: [UInt8] = []
    private var isAfterCarriageReturn = false
    private var bytesLeft: Int

    /// Starts an empty header.
    ///
    /// - Parameter maxBytes: How many bytes it may take, line ends included.
    init(maxBytes: Int) {
        bytesLeft = maxBytes
    }

    /// Takes one more byte.
    ///
    /// - Parameter byte: The next byte of the body.
    /// - Throws: `MultipartError.headerTooLarge` or `malformedHeader`.
    /// - Returns: Whether this byte ended the header.
    mutating func append(_ byte: UInt8) throws(MultipartError) -> Bool {
        guard bytesLeft > 0 else { throw .headerTooLarge }
        bytesLeft -= 1
        if isAfterCarriageReturn {
            guard byte == ASCII.lineFeed else { throw .malformedHeader }
            isAfterCarriageReturn = false
            if line.isEmpty { return true }
            try endLine()
            return false
        }
        switch byte {
        case ASCII.carriageReturn: isAfterCarriageReturn = true
        case ASCII.lineFeed, 0: throw .malformedHeader
        default: line.append(byte)
        }
        return false
    }

    private mutating func endLine() throws(MultipartError) {
        let name = line.prefix { $0 != ASCII.colon }
        // A folded line (RFC 9112, section 5.2) begins with a blank, which is no token either.
        guard name.isToken, name.count < line.count else { throw .malformedHeader }
        let value = line[(name.count + 1)...].trimmed
        line = []
        switch name.asciiLowercased {
        case "content-disposition": try Self.set(&contentDisposition, to: value)
        case "content-type": try Self.set(&contentType, to: value)
        default: break
        }
    }

    private static func set(_ field: inout ArraySlice<UInt8>?, to value: ArraySlice<UInt8>) throws(MultipartError) {
        guard field == nil else { throw .malformedHeader }
        field = value
    }
}
