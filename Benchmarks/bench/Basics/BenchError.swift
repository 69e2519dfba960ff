/// Why a run can't measure.
enum BenchError: Error, Equatable, CustomStringConvertible {
    /// A tool ended with an exit code that is not 0.
    case toolFailed(command: String, output: String)
    /// A tool's output lacks a value, or has an impossible one.
    case unreadable(value: String, output: String)
    /// A server ended while it was measured.
    case serverEnded(program: String, output: String)
    /// The service refused a call that prepares a run.
    case refused(url: String, status: Int, body: String)
    /// A program or a file of the system is missing.
    case missing(String)

    var description: String {
        switch self {
        case .toolFailed(let command, let output): "This command failed: \(command)\nIt said: \(output)"
        case .unreadable(let value, let output): "There is no usable \(value) in this output:\n\(output)"
        case .serverEnded(let program, let output):
            "\(program) ended by itself while it was measured. It last said:\n\(output)"
        case .refused(let url, let status, let body): "\(url) was answered with \(status): \(body)"
        case .missing(let name): "\(name) is missing."
        }
    }
}
