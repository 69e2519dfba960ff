/// The name and password that every copy of the app contains.
package struct APICredential: Sendable {
    package let name: String
    /// Also the passphrase with which clients encrypt users' passwords.
    package let password: String

    /// - Parameters:
    ///   - name: A text without a colon.
    ///   - password: A text.
    package init(name: String, password: String) {
        self.name = name
        self.password = password
    }
}

/// Both are secret, so neither is printed.
extension APICredential: CustomStringConvertible, CustomReflectable {
    package var description: String { "APICredential(redacted)" }

    package var customMirror: Mirror { Mirror(self, children: []) }
}
