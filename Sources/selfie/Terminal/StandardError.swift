import SystemPackage

/// Where hints, questions and progress go, so that standard output holds only results.
enum StandardError {
    /// Writes a text as it is, at once.
    ///
    /// Nothing depends on it, so what can't be written is lost.
    static func write(_ text: String) {
        _ = try? FileDescriptor.standardError.writeAll(text.utf8)
    }
}
