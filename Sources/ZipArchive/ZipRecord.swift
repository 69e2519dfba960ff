import Glibc

/// The records of an archive, as bytes.
///
/// Numbers in comments are those of sections of APPNOTE.TXT.
enum ZipRecord {
    /// 4.4.4: names are UTF-8.
    private static let flags: UInt16 = 1 << 11
    /// 4.4.5: stored.
    private static let method: UInt16 = 0
    /// 4.4.3: of a plain file, and of one with Zip64.
    private static let (plainVersion, zip64Version): (UInt16, UInt16) = (10, 45)
    /// 4.4.2: Unix, so that the attributes have its permissions.
    private static let madeBy: UInt16 = 3 << 8 | zip64Version
    /// A plain file that only its owner may read and write.
    private static let attributes: UInt32 = 0o100600 << 16
    /// A field of 32 bits says with it that Zip64 has the number.
    private static let max32 = Int(UInt32.max)
    private static let max16 = Int(UInt16.max)

    /// 4.3.7: the header in front of a file.
    static func header(of file: ZipFile) -> [UInt8] {
        let isLarge = file.length >= max32
        // 4.5.3: in a header, both lengths.
        let extra = timestamp(file.modified) + (isLarge ? zip64([file.length, file.length]) : [])
        var record: [UInt8] = []
        record.add32(0x0403_4B50)
        record.add16(isLarge ? zip64Version : plainVersion)
        addCommon(of: file, extraCount: extra.count, to: &record)
        return record + file.name.text.utf8 + extra
    }

    /// 4.3.12: the entry of a file in the directory.
    static func directoryEntry(of file: ZipFile, at offset: Int) -> [UInt8] {
        // 4.5.3: only what does not fit, in this order.
        let large = (file.length >= max32 ? [file.length, file.length] : []) + (offset >= max32 ? [offset] : [])
        let extra = timestamp(file.modified) + (large.isEmpty ? [] : zip64(large))
        var record: [UInt8] = []
        record.add32(0x0201_4B50)
        record.add16(madeBy)
        record.add16(large.isEmpty ? plainVersion : zip64Version)
        addCommon(of: file, extraCount: extra.count, to: &record)
        // The comment's length, the disk, and whether it is a text.
        for _ in 0..<3 { record.add16(0) }
        record.add32(attributes)
        record.add32(UInt32(min(offset, max32)))
        return record + file.name.text.utf8 + extra
    }

    private static func addCommon(of file: ZipFile, extraCount: Int, to record: inout [UInt8]) {
        record.add16(flags)
        record.add16(method)
        let (date, time) = dosTime(file.modified)
        record.add16(time)
        record.add16(date)
        record.add32(file.crc32)
        let length = UInt32(min(file.length, max32))
        record.add32(length)
        record.add32(length)
        record.add16(UInt16(file.name.text.utf8.count))
        record.add16(UInt16(extraCount))
    }

    /// 4.3.14 to 4.3.16: the end of the archive, with Zip64 if a number does not fit.
    static func end(fileCount: Int, directoryLength: Int, directoryOffset: Int) -> [UInt8] {
        var record: [UInt8] = []
        if fileCount >= max16 || directoryLength >= max32 || directoryOffset >= max32 {
            record.add32(0x0606_4B50)
            // The length of what follows in this record.
            record.add64(44)
            record.add16(madeBy)
            record.add16(zip64Version)
            record.add32(0)
            record.add32(0)
            record.add64(fileCount)
            record.add64(fileCount)
            record.add64(directoryLength)
            record.add64(directoryOffset)
            // The locator of that record.
            record.add32(0x0706_4B50)
            record.add32(0)
            record.add64(directoryOffset + directoryLength)
            record.add32(1)
        }
        record.add32(0x0605_4B50)
        record.add16(0)
        record.add16(0)
        record.add16(UInt16(min(fileCount, max16)))
        record.add16(UInt16(min(fileCount, max16)))
        record.add32(UInt32(min(directoryLength, max32)))
        record.add32(UInt32(min(directoryOffset, max32)))
        record.add16(0)
        return record
    }

    /// 4.5.3: the numbers that do not fit into 32 bits.
    private static func zip64(_ numbers: [Int]) -> [UInt8] {
        var field: [UInt8] = []
        field.add16(0x0001)
        field.add16(UInt16(8 * numbers.count))
        for number in numbers { field.add64(number) }
        return field
    }

    /// The time in seconds, which needs no time zone (Info-ZIP's "extended timestamp").
    private static func timestamp(_ seconds: Int) -> [UInt8] {
        var field: [UInt8] = []
        field.add16(0x5455)
        field.add16(5)
        // It has the time of the last change alone.
        field.append(1)
        field.add32(UInt32(bitPattern: Int32(clamping: seconds)))
        return field
    }

    /// 4.4.6: a time of MS-DOS, here in UTC.
    ///
    /// It has steps of two seconds, and the years 1980 to 2107.
    private static func dosTime(_ seconds: Int) -> (date: UInt16, time: UInt16) {
        // The first and the last second that it has.
        var (seconds, parts) = (min(max(seconds, 315_532_800), 4_354_819_199), tm())
        gmtime_r(&seconds, &parts)
        let date = (parts.tm_year - 80) << 9 | (parts.tm_mon + 1) << 5 | parts.tm_mday
        let time = parts.tm_hour << 11 | parts.tm_min << 5 | parts.tm_sec / 2
        return (UInt16(date), UInt16(time))
    }
}

extension [UInt8] {
    fileprivate mutating func add16(_ number: UInt16) { add(number) }
    fileprivate mutating func add32(_ number: UInt32) { add(number) }
    fileprivate mutating func add64(_ number: Int) { add(UInt64(number)) }

    /// Adds a number, its lowest byte first.
    private mutating func add(_ number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
