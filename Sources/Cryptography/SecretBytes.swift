import CLibCrypto

/// Bytes that are cleared before their memory is given back.
package final class SecretBytes: Sendable {
    private nonisolated(unsafe) let bytes: UnsafeMutableRawBufferPointer

    /// Takes a number of bytes that a closure writes.
    package init(count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws -> Void) rethrows {
        bytes = .allocate(byteCount: count, alignment: 1)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        try fill(bytes)
    }

    /// Copies bytes.
    package convenience init(_ source: some Collection<UInt8>) {
        self.init(count: source.count) { bytes in bytes.copyBytes(from: source) }
    }

    deinit {
        OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        bytes.deallocate()
    }

    /// Passes the bytes.
    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(bytes))
    }
}

extension SecretBytes: CustomStringConvertible, CustomReflectable {
    /// Only the type's name.
    package var description: String { "SecretBytes(redacted)" }

    /// A mirror without children, so that `dump` and reflecting loggers find nothing.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Passes a collection's bytes without a copy, if it has them in one piece.
func withBytes<Result>(
    of bytes: some Collection<UInt8>,
    _ body: (UnsafeRawBufferPointer) throws -> Result
) rethrows -> Result {
    if let result = try bytes.withContiguousStorageIfAvailable({ try body(UnsafeRawBufferPointer($0)) }) {
        return result
    }
    return try Array(bytes).withUnsafeBytes(body)
}
