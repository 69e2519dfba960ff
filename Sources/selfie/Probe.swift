import ArgumentParser
import SelfieConfiguration
import SelfieOperations

struct Probe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask a service on this machine whether it can do its work.",
        discussion: """
            Prints what /readyz answers. The exit status is 0 when everything is ready, and 1 otherwise. It is for \
            containers' health checks.
            """
    )

    @Option(help: "The port that the service listens on. (default: $PORT, then 3000)")
    var port: Int?

    @Option(help: "The path to ask: /readyz or /livez.")
    var path = "/readyz"

    func validate() throws {
        try validatePort(port)
        guard path.hasPrefix("/") else { throw ValidationError("--path must begin with a slash.") }
    }

    func run() async throws {
        let port = try port ?? ConfigurationSource().read { $0.port() }
        let answer = try await HealthProbe.ask("http://127.0.0.1:\(port)\(path)")
        print(answer.text)
        if !answer.isHealthy { throw ExitCode.failure }
    }
}
