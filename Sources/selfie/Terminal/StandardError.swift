import SystemPackage

/// Where hints, questions and progress go, so that standard output holds only results.
enum StandardError {
    /// Writes a text as it is, at once.
    ///
    /// Errors of writing are ignored.
    static func write(_ text: String) {
        _ = try? FileDescriptor.standardError.writeAll(text.utf8)
    }
}
