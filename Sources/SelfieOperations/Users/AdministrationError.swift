import SelfieAccounts

/// Why a command on accounts failed, with what to do about it.
package enum AdministrationError: Error, CustomStringConvertible {
    case noSuchUser(UserSelector)
    case notMigrated
    case unreachable
    case passwordRefused
    case emailRefused
    case emailTaken
    case noSuchDelivery
    /// A process is sending it.
    case deliveryUnderWay

    package var description: String {
        switch self {
        case .noSuchUser(let selector): "There is no user \(selector)."
        case .notMigrated: "The database lacks migrations. Run: selfie migrate"
        case .unreachable: "The database can't be reached. Run selfie doctor to see why."
        case .passwordRefused:
            "A password has at least \(Password.minCharacters) characters and at most \(Password.maxBytes) bytes."
        case .emailRefused: "This is not an e-mail address; expected name@example.com."
        case .emailTaken: "Another account has this e-mail."
        case .noSuchDelivery: "There is no such delivery. What was sent is removed."
        case .deliveryUnderWay: "The service is sending this delivery. Look again in two minutes."
        }
    }
}
