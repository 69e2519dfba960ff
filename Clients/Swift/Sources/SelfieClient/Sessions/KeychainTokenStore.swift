#if canImport(Security)
    public import Foundation
    import Security

    /// Keeps a session in the Keychain of this device.
    ///
    /// It can be read once the device was unlocked after its start, also in the background. It is neither in backups nor on
    /// other devices.
    ///
    /// The app must be signed. In a tool for macOS that is not signed, each operation throws ``SelfieError/storage(_:)``:
    /// use ``FileTokenStore`` there.
    public struct KeychainTokenStore: TokenStore {
        private let service: String
        private let accessGroup: String?

        /// - Parameters:
        ///   - service: Tells this session from others of the app, such as the service's host.
        ///   - accessGroup: A group of apps and extensions that share the session; nil for the app alone. It must be in
        ///     the app's entitlements.
        public init(service: String, accessGroup: String? = nil) {
            (self.service, self.accessGroup) = (service, accessGroup)
        }

        private var query: [CFString: Any] {
            var query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword,
                kSecAttrService: service,
                kSecAttrAccount: "session",
                kSecUseDataProtectionKeychain: true,
            ]
            if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
            return query
        }

        public func read() throws -> Data? {
            var query = query
            query[kSecReturnData] = true
            query[kSecMatchLimit] = kSecMatchLimitOne
            var result: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &result)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data = result as? Data else { throw error(status) }
            return data
        }

        public func write(_ data: Data) throws {
            let values: [CFString: Any] = [
                kSecValueData: data,
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(query as CFDictionary, values as CFDictionary)
            if status == errSecItemNotFound {
                status = SecItemAdd(query.merging(values) { $1 } as CFDictionary, nil)
            }
            guard status == errSecSuccess else { throw error(status) }
        }

        public func remove() throws {
            let status = SecItemDelete(query as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else { throw error(status) }
        }

        private func error(_ status: OSStatus) -> SelfieError {
            if status == errSecMissingEntitlement {
                return .storage(
                    "The Keychain is only for signed apps: sign the app, with the access group in its entitlements, "
                        + "or use FileTokenStore."
                )
            }
            return .storage("The Keychain answered with the status \(status).")
        }
    }
#endif
