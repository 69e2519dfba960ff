import NIOCore

/// A proxy before an S3 server that has requests fail as a counter says.
package enum CountedStore {
    /// Runs a body with a proxy.
    ///
    /// - Parameters:
    ///   - server: The store.
    ///   - steps: Counts the requests.
    ///   - body: Gets where to send requests instead of to the store.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or what keeps the proxy from listening.
    package static func with<Result: Sendable>(
        _ server: any S3Server,
        steps: StepCounter,
        _ body: (String) async throws -> Result
    ) async throws -> Result {
        let store = StoreConnection(port: server.endpoint.split(separator: ":").last.flatMap { Int($0) } ?? 0)
        return try await HTTPListener.run { connection in
            while let request = try await connection.readHead() {
                switch steps.next(.store) {
                case .goesOn:
                    let answer = try await steps.doing {
                        try await store.exchange(request, body: request.length, of: &connection)
                    }
                    try await connection.write(answer.bytes)
                case .failsBefore:
                    steps.finish()
                    return try await connection.reset()
                case .failsAfter:
                    _ = try await steps.doing {
                        try await store.exchange(request, body: request.length, of: &connection)
                    }
                    steps.finish()
                    return try await connection.reset()
                }
            }
        } _: { port in
            try await body("http://127.0.0.1:\(port)")
        }
    }
}
