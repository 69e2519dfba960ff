/// Why a server could not be started.
package enum ServerProcessError: Error, CustomStringConvertible {
    /// A program was not found.
    case missing(String)
    /// The process did not begin to listen.
    case notStarted(String, log: String)
    /// Somebody else listens on the port.
    case portTaken
    /// A script ended with an error.
    case failed(String, errors: String)

    /// One line that says what to do.
    package var description: String {
        switch self {
        case .missing(let program):
            "\(program) is missing: `bin/test` installs it into .venv in the package's root"
        case .notStarted(let name, let log):
            "\(name) did not start to listen (if something of it is missing, `bin/test` installs it): \(log)"
        case .portTaken:
            "the port is taken"
        case .failed(let script, let errors):
            "\(script) failed (if a module of it is missing, `bin/test` installs it): \(errors)"
        }
    }
}
