import SelfieAccounts
package import SelfiePhotos

/// What a user has, and may have.
package struct QuotaSummary: Sendable, Encodable {
    package let userId: Int
    package let photos: QuotaUse
    package let bytes: QuotaUse
    /// Whether a limit was changed.
    package let isChanged: Bool
}

extension Administration {
    /// What a user has, and may have, after a change of the limits.
    ///
    /// - Parameters:
    ///   - selector: The account.
    ///   - photos: The change of the limit of photos; nil for none.
    ///   - bytes: The change of the limit of all photos' bytes; nil for none.
    ///   - usual: The service's settings.
    /// - Returns: What the user has, and may have.
    /// - Throws: `AdministrationError.noSuchUser`, `PostgresError`.
    package func quota(
        of selector: UserSelector,
        changing photos: QuotaChange?,
        _ bytes: QuotaChange?,
        usual: PhotoQuota
    ) async throws -> QuotaSummary {
        let id = try await id(of: selector)
        let quota = try await PhotoStore(postgres: postgres).quota(ofUser: id, changing: photos, bytes, usual: usual)
        guard let quota else { throw AdministrationError.noSuchUser(selector) }
        return QuotaSummary(userId: id, photos: quota.photos, bytes: quota.bytes, isChanged: quota.isChanged)
    }
}
