import ServerProcesses

/// `moto`'s S3, which keeps its objects in memory and takes any key that HTTP can carry.
package final class MotoServer: S3Server {
    package let accessKeyID: String
    package let secretAccessKey: String
    package let endpoint: String

    private let process: ServerProcess

    /// Starts a server.
    ///
    /// - Returns: the server, answering; ``stop()`` it.
    /// - Throws: `ServerProcessError`.
    package static func start() async throws -> MotoServer {
        let process = try ServerProcess("moto")
        do {
            let words = try await process.launch(PythonScript.command("moto_server.py")) { log in
                // Not before the last line, which says what it is.
                if log.contains("Traceback"), log.contains(/\n\w*Error\b.*\n/) {
                    throw ServerProcessError.notStarted("moto", log: log)
                }
                return log.firstMatch(of: /listening on (\d+) (\S+) (\S+)\n/)?.output
            }
            return MotoServer(
                accessKeyID: String(words.2),
                secretAccessKey: String(words.3),
                endpoint: "http://127.0.0.1:\(words.1)",
                process: process
            )
        } catch {
            process.stop()
            throw error
        }
    }

    private init(accessKeyID: String, secretAccessKey: String, endpoint: String, process: ServerProcess) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.endpoint = endpoint
        self.process = process
    }

    package func stop() { process.stop() }
}
