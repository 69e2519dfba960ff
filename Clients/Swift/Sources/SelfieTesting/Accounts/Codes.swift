/// The codes that were sent by mail and not used.
struct Codes: Sendable {
    enum Purpose: String, Sendable {
        case signIn = "signin"
        case reset
        /// Of a new address.
        case email
    }

    private struct Code: Sendable {
        let text: String
        let userID: String
        let purpose: Purpose
        let address: String
    }

    /// The newest last.
    private var sent: [Code] = []
    private static let digitCount = 6

    /// Sends a code, which replaces the one before.
    mutating func send(to address: String, of userID: String, for purpose: Purpose) {
        sent.removeAll { $0.userID == userID && $0.purpose == purpose }
        let text = RandomText.digits(Self.digitCount)
        sent.append(Code(text: text, userID: userID, purpose: purpose, address: address))
    }

    /// Uses a code up.
    ///
    /// - Returns: The address that it was sent to.
    /// - Throws: `ServiceRefusal` if it is wrong or used.
    mutating func use(_ text: String, of userID: String?, for purpose: Purpose) throws(ServiceRefusal) -> String {
        guard
            let index = sent.firstIndex(where: { $0.text == text && $0.userID == userID && $0.purpose == purpose })
        else { throw ServiceRefusal(status: 401, code: "code_invalid", message: "Wrong or expired code") }
        return sent.remove(at: index).address
    }

    /// The newest code that was sent to an address and not used.
    func newest(sentTo address: String) -> String? {
        let address = Accounts.comparable(address)
        return sent.last { Accounts.comparable($0.address) == address }?.text
    }
}
