/// Finds the elements of a JSON array without reading them, so that each can be read by itself.
package enum JSONElements {
    /// Splits an array.
    ///
    /// - Parameters:
    ///   - text: The text in UTF-8.
    ///   - maxCount: How many elements are wanted. One more is found, which shows that there are too many.
    /// - Returns: The text of each element; nil when the text is no array. An element may still be no JSON.
    package static func split(_ text: [UInt8], maxCount: Int) -> [ArraySlice<UInt8>]? {
        guard let begin = text.firstIndex(where: { !isSpace($0) }), text[begin] == UInt8(ascii: "["),
            let end = text.lastIndex(where: { !isSpace($0) }), end > begin, text[end] == UInt8(ascii: "]")
        else { return nil }
        let content = text[(begin + 1)..<end]
        if content.allSatisfy(isSpace) { return [] }
        var elements: [ArraySlice<UInt8>] = []
        var start = content.startIndex
        var (depth, isInString, isEscaped) = (0, false, false)
        for index in content.indices {
            let byte = content[index]
            if isInString {
                if !isEscaped, byte == UInt8(ascii: "\"") { isInString = false }
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: ",") where depth == 0:
                elements.append(content[start..<index])
                if elements.count > maxCount { return elements }
                start = index + 1
            default: break
            }
        }
        elements.append(content[start...])
        return elements
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }
}
