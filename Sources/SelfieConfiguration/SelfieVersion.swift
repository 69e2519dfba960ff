/// The version of Selfie.
package enum SelfieVersion {
    /// As in CHANGELOG.md.
    package static let current = "0.14.0"
}
