import ConnectionTestSupport

enum SilentPort {
    /// A port on which nothing listens any more.
    static func closed() throws -> Int { try SilentServer().port }
}
