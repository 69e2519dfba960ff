/// The server's command line: the caller's settings, then those that make the cluster private.
struct ServerOptions: Sendable, Equatable {
    /// Pairs of `-c` and `name=value`.
    ///
    /// The last of two equal names counts, so the caller's settings cannot open a TCP port.
    let arguments: [String]

    init(settings: [String: String], socketDirectory: String) {
        // The value is a list of folders with commas between them. Quotes keep a comma in a folder's name.
        let quotedDirectory = "\"" + socketDirectory.replacing("\"", with: "\"\"") + "\""
        let fixed = [
            "listen_addresses=",
            "port=\(ClusterLocation.port)",
            "unix_socket_directories=\(quotedDirectory)",
            "unix_socket_permissions=0700",
        ]
        let asked = settings.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        arguments = (asked + fixed).flatMap { ["-c", $0] }
    }

    /// The arguments as one string for `pg_ctl -o`, quoted for a shell.
    var shellQuoted: String {
        arguments.map { "'" + $0.replacing("'", with: "'\\''") + "'" }.joined(separator: " ")
    }

    /// Whether a running server was started with these options.
    ///
    /// - Parameter text: `postmaster.opts`: the program, then each argument in quotes, none of them escaped.
    /// - Returns: False also if something else started the server.
    func matches(postmasterOptions text: String) -> Bool {
        let recorded = (["-D", DataFolder.name] + arguments).map { " \"\($0)\"" }.joined()
        return text.drop(while: { $0 != " " }).hasPrefix(recorded) && text.hasSuffix(recorded + "\n")
    }
}
