/// What a mail is about.
package enum MailKind: String, Sendable, CaseIterable, Codable {
    case signInCode = "signin_code"
    case resetCode = "reset_code"
    /// To a new address, which the code proves.
    case emailCode = "email_code"
    /// To the present address, when another one is to be proven.
    case emailChangeBegun = "email_change_begun"
    /// To the address before, which can take the account back.
    case emailChanged = "email_changed"
    /// To an address that the account had, and that has no right to it any more.
    case emailRemoved = "email_removed"
    case passwordChanged = "password_changed"
    /// The password ended, since a code proved the address for the first time.
    case passwordEnded = "password_ended"
    case accountDeleted = "account_deleted"
    case newPlace = "signin_from_new_place"
    /// What a subscription looks for has changed.
    case recordsChanged = "records_changed"

    /// Whether it holds a code.
    var hasCode: Bool { [.signInCode, .resetCode, .emailCode].contains(self) }
}
