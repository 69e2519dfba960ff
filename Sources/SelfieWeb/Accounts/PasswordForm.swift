import AESCrypt
import SelfieCore

/// How clients send passwords.
enum PasswordForm: Sendable {
    /// Encrypted with the API's password.
    case encrypted(AESCrypt)
    /// As they are, from the service's own pages.
    case plain
}
