import Glibc

/// Finds the end of a scan's pixels: the first marker that does not belong to them.
///
/// Source: ITU-T T.81, section B.1.1.5: among the pixels, 0xFF is followed by 0, or begins a marker. The markers RST0 to
/// RST7 are among them.
enum JPEGScan {
    /// Where the marker is that ends a scan.
    ///
    /// - Throws: `NoImage` when there is none.
    static func end(of file: inout FileBytes, from start: Int) async throws -> Int {
        var offset = start
        while true {
            let bytes = try await file.bytes(from: offset)
            guard let found = marker(in: bytes) else {
                offset += bytes.count
                continue
            }
            offset += found
            if found < bytes.count - 1 { return offset }
            // The marker's second byte is not read yet.
            _ = try await file.bytes(at: offset, count: 2)
        }
    }

    /// The offset of the first marker that ends a scan, or of the last byte when that is 0xFF.
    private static func marker(in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.withUnsafeBytes { all in
            guard let start = all.baseAddress else { return nil }
            var offset = 0
            while offset < all.count {
                // The C library's search compares many bytes at a time.
                guard let found = memchr(start + offset, 0xFF, all.count - offset) else { return nil }
                offset = UnsafeRawPointer(found) - start
                guard offset < all.count - 1 else { return offset }
                switch all[offset + 1] {
                case 0, JPEGMarker.restarts: offset += 2
                // Any number of these may come before a marker, and a file may be full of them.
                case 0xFF: repeat { offset += 1 } while offset < all.count - 1 && all[offset + 1] == 0xFF
                default: return offset
                }
            }
            return nil
        }
    }
}
