import Curl

/// Why no answer came, when the network reported no error.
package enum S3NoAnswer: Error, Hashable {
    /// The store took and sent no byte for the time that ``S3Deadlines`` allows.
    case silent
    /// The whole call took longer than ``S3Deadlines`` allows.
    case overdue
    /// The answer lacks what S3 always sends, such as the body's length, or is no document of S3's.
    case malformed
    /// The store has other bytes under the key than were sent.
    case otherBytes
}

extension S3NoAnswer {
    /// What an error of the transfer means; other errors stay as they are.
    init(_ error: CurlError) {
        self =
            switch error {
            case .silent: .silent
            case .overdue: .overdue
            default: .malformed
            }
    }
}
