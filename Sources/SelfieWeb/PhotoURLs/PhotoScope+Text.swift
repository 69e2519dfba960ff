import SelfieAccounts
import SelfieRecords

extension PhotoScope {
    /// As URLs have it: `picture:<reader>:<series>`, or `record:<collection>:<reader>:<series>:<id>`.
    ///
    /// Names of collections and ids of members have no colon.
    var text: String {
        switch shown {
        case .picture: "picture:\(reader.memberID):\(reader.urlSeries)"
        case .record(let collection, let id): "record:\(collection):\(reader.memberID):\(reader.urlSeries):\(id)"
        }
    }

    /// - Parameter text: The text of a URL whose signature is right.
    init?(_ text: String) {
        // Names and ids are ASCII. Others may be slow to compare.
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 4, omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        let shown: Shown
        let reader: ArraySlice<String>
        switch (parts.first, parts.count) {
        case ("picture", 3): (shown, reader) = (.picture, parts[1...])
        case ("record", 5): (shown, reader) = (.record(collection: parts[1], id: parts[4]), parts[2...3])
        default: return nil
        }
        guard let memberID = reader.first, let series = reader.last.flatMap({ Int($0) }) else { return nil }
        self.init(shown, to: PhotoReader(memberID: memberID, urlSeries: series))
    }
}
