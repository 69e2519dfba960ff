import Foundation

extension Sequence<UInt8> {
    /// Whether the bytes of a text are among these.
    func contains(bytesOf text: String) -> Bool {
        Data(self).range(of: Data(text.utf8)) != nil
    }
}
