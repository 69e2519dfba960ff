/// Finds the elements of a JSON array while its text arrives, without parsing them, so that each can be parsed by
/// itself.
package struct JSONElements {
    /// How many elements are wanted.
    ///
    /// One more is found, which shows that there are too many.
    private let maxCount: Int
    private var length = 0
    /// Where the first byte is that is no white space, and what it is.
    private var begin: (index: Int, byte: UInt8)?
    /// Where the last such byte is, and what it is.
    private var end: (index: Int, byte: UInt8)?
    /// How many bytes are no white space between values.
    private var solidCount = 0
    /// Where commas are between elements.
    private var commas: [Int] = []
    private var (depth, isInString, isEscaped) = (0, false, false)

    /// - Parameter maxCount: How many elements are wanted. One more is found, which shows that there are too many.
    package init(maxCount: Int) {
        self.maxCount = maxCount
    }

    /// Takes the next bytes of the text.
    ///
    /// It takes a span, since each step of a generic sequence would be a call from module to module.
    ///
    /// - Parameter bytes: The bytes, in UTF-8.
    package mutating func push(_ bytes: Span<UInt8>) {
        for index in bytes.indices {
            let byte = bytes[index]
            defer { length += 1 }
            if isInString {
                solidCount += 1
                if !isEscaped, byte == UInt8(ascii: "\"") { isInString = false }
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                end = (length, byte)
                continue
            }
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: continue
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: ",") where depth == 1 && commas.count <= maxCount: commas.append(length)
            default: break
            }
            solidCount += 1
            if begin == nil { begin = (length, byte) }
            end = (length, byte)
        }
    }

    /// The elements, once all of the text has arrived.
    ///
    /// - Parameter text: The whole text.
    /// - Returns: The text of each element; nil when the text is no array. An element may still be no JSON.
    package func elements(of text: [UInt8]) -> [ArraySlice<UInt8>]? {
        guard let begin, let end, begin.byte == UInt8(ascii: "["), end.byte == UInt8(ascii: "]"),
            end.index > begin.index
        else { return nil }
        let content = text[(begin.index + 1)..<end.index]
        let inner = commas.filter { $0 < end.index }
        // Nothing but the brackets.
        if solidCount == 2 { return [] }
        let starts = [content.startIndex] + inner.map { $0 + 1 }
        return zip(starts, inner + [content.endIndex]).map { text[$0..<$1] }
    }
}
