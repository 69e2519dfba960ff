/// The advisory lock that every process holds while it migrates.
package enum MigrationLock {
    /// The same number in all versions of Selfie: its name in ASCII.
    package static let number = 0x7365_6C66_6965
}
