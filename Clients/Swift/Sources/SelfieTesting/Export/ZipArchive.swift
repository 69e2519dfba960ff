import Foundation
import SelfieClient

/// A ZIP archive whose files are stored as they are (PKWARE, APPNOTE.TXT 6.3.10).
///
/// It is in memory, so it needs no Zip64.
struct ZipArchive {
    private var files = Data()
    private var directory = Data()
    private var count = 0
    /// What `sha256sum -c` reads: a line for each file.
    private(set) var manifest = ""

    /// Adds a file.
    ///
    /// - Parameters:
    ///   - bytes: Its bytes.
    ///   - name: Its name, which the archive does not have yet.
    ///   - date: The time of its last change.
    mutating func add(_ bytes: Data, as name: String, modified date: Date) {
        var common = Data()
        // 4.4.4 and 4.4.5: names are UTF-8, and the bytes are stored.
        common.append(1 << 11, bytes: 2)
        common.append(0, bytes: 2)
        common.append(Self.dosTime(date), bytes: 4)
        common.append(Int(Self.crc32(bytes)), bytes: 4)
        common.append(bytes.count, bytes: 4)
        common.append(bytes.count, bytes: 4)
        common.append(name.utf8.count, bytes: 2)
        common.append(0, bytes: 2)
        // 4.3.12: the entry in the directory. A plain file that only its owner may read and write.
        directory.append(0x0201_4B50, bytes: 4)
        directory.append(3 << 8 | 20, bytes: 2)
        directory.append(10, bytes: 2)
        directory += common
        directory.append(0, bytes: 6)
        directory.append(0o100600 << 16, bytes: 4)
        directory.append(files.count, bytes: 4)
        directory += Data(name.utf8)
        // 4.3.7: the header in front of the file.
        files.append(0x0403_4B50, bytes: 4)
        files.append(10, bytes: 2)
        files += common + Data(name.utf8) + bytes
        count += 1
        manifest += SHA256.digest(of: bytes).map { String(format: "%02x", $0) }.joined() + "  \(name)\n"
    }

    /// The whole archive.
    var data: Data {
        var end = Data()
        // 4.3.16.
        end.append(0x0605_4B50, bytes: 4)
        end.append(0, bytes: 4)
        end.append(count, bytes: 2)
        end.append(count, bytes: 2)
        end.append(directory.count, bytes: 4)
        end.append(files.count, bytes: 4)
        end.append(0, bytes: 2)
        return files + directory + end
    }

    /// 4.4.6: a time of MS-DOS, here in UTC.
    private static func dosTime(_ date: Date) -> Int {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
        let day = ((parts.year ?? 1980) - 1980) << 9 | (parts.month ?? 1) << 5 | (parts.day ?? 1)
        return day << 16 | (parts.hour ?? 0) << 11 | (parts.minute ?? 0) << 5 | (parts.second ?? 0) / 2
    }

    /// 4.4.7.
    private static func crc32(_ bytes: Data) -> UInt32 {
        var crc = UInt32.max
        for byte in bytes { crc = crc >> 8 ^ crcTable[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] }
        return ~crc
    }

    private static let crcTable: [UInt32] = (0..<256).map { index in
        var crc = UInt32(index)
        for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : (crc >> 1) ^ 0xEDB8_8320 }
        return crc
    }
}

extension Data {
    /// Adds a number, its lowest byte first.
    fileprivate mutating func append(_ number: Int, bytes: Int) {
        for position in 0..<bytes { append(UInt8(truncatingIfNeeded: number >> (8 * position))) }
    }
}
