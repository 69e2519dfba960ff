import Curl
import NIOHTTP1

extension FuzzTarget {
    /// The head of an answer comes out once, with names that mean something and values without line ends, or not at all.
    static func readHead(_ bytes: [UInt8]) throws {
        var parser = ResponseHeadParser()
        var heads = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            switch parser.read(line: line + [UInt8(ascii: "\n")]) {
            case .more: break
            case .head(let head):
                heads += 1
                try require((200..<1_000).contains(head.status.code), "a final status")
                for (name, value) in head.headers {
                    try require(!name.isEmpty && !name.contains(":"), "a name")
                    try require(!value.utf8.contains(UInt8(ascii: "\n")), "a value in one line")
                }
            case .tooLarge, .malformed: return
            }
        }
        try require(heads <= 1, "one head")
    }
}
