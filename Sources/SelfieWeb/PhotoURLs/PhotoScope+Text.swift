import SelfieCore

extension PhotoScope {
    /// As URLs have it: `picture`, or `record:<collection>:<reader>:<id>`.
    ///
    /// Names of collections and ids of members have no colon.
    var text: String {
        switch self {
        case .picture: "picture"
        case .record(let collection, let id, let reader): "record:\(collection):\(reader):\(id)"
        }
    }

    /// - Parameter text: The text of a URL whose signature is right.
    init?(_ text: String) {
        if text == "picture" {
            self = .picture
            return
        }
        let parts = text.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false).map { String($0) }
        guard parts.count == 4, parts[0] == "record" else { return nil }
        self = .record(collection: parts[1], id: parts[3], reader: parts[2])
    }
}
