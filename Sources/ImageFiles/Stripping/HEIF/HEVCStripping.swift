/// Overwrites user data in HEVC, such as the name and the options of an encoder.
///
/// Source: ITU-T H.265, sections 7.3.1 (NAL units), 7.3.2.4 and 7.3.5 (SEI), and D.2.
enum HEVCStripping {
    /// SEI in front of a picture, and behind it.
    private static let informationTypes: Set<UInt8> = [39, 40]
    /// User data that is registered by ITU-T T.35, and data that is not registered.
    private static let userDataTypes: Set<Int> = [4, 5]

    /// Overwrites the user data of a NAL unit, if it is SEI.
    ///
    /// - Throws: `NoImage` for SEI of more than ``CodedData/windowBytes``.
    static func stripUnit(
        _ unit: Range<Int>,
        of data: CodedData,
        _ file: inout FileBytes,
        _ edits: inout FileEdits
    ) async throws {
        var data = data
        guard unit.count > 2 else { return }
        let type = try await data.bytes(at: unit.lowerBound, count: 1, &file).first.map { $0 >> 1 & 0x3F }
        guard let type, informationTypes.contains(type) else { return }
        let bytes = Array(try await data.bytes(at: unit.lowerBound, count: unit.count, &file))
        let stripped = strip(bytes)
        if stripped != bytes { try data.overwrite(at: unit.lowerBound, with: stripped, &edits) }
    }

    /// SEI whose user data is 0xFF.
    ///
    /// All of it becomes that when a message does not fit, since no picture needs it. Two zeros in front of an emulation
    /// prevention byte stay, so that the byte stays one.
    static func strip(_ unit: [UInt8]) -> [UInt8] {
        // Where each byte of the messages is, without emulation prevention bytes.
        var (offsets, fixed, zeroCount) = ([Int](), Set<Int>(), 0)
        for offset in 2..<unit.count {
            if zeroCount >= 2, unit[offset] == 3 {
                fixed.formUnion([offset - 2, offset - 1])
                zeroCount = 0
            } else {
                zeroCount = unit[offset] == 0 ? zeroCount + 1 : 0
                offsets.append(offset)
            }
        }
        var stripped = unit
        for index in userData(offsets.map { unit[$0] }) ?? Array(offsets.indices) where !fixed.contains(offsets[index])
        {
            stripped[offsets[index]] = 0xFF
        }
        return stripped
    }

    /// Which bytes of messages are user data; nil when a message does not fit.
    private static func userData(_ messages: [UInt8]) -> [Int]? {
        var (userData, index) = ([Int](), 0)
        // The last byte says only that the messages end.
        while index < messages.count - 1 {
            guard let type = number(at: &index, of: messages), let count = number(at: &index, of: messages),
                index + count <= messages.count
            else { return nil }
            if userDataTypes.contains(type) { userData += index..<(index + count) }
            index += count
        }
        return userData
    }

    /// A type or a length: the sum of bytes, of which the last one is less than 255.
    private static func number(at index: inout Int, of messages: [UInt8]) -> Int? {
        var sum = 0
        while index < messages.count {
            let byte = messages[index]
            index += 1
            sum += Int(byte)
            if byte != 0xFF { return sum }
        }
        return nil
    }
}
