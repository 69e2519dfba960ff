import NIOCore
package import ServerProcesses

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
                // From before the step on: whoever counts it may give up and look for what is under way.
                let answer = try await steps.doing { () async throws -> ByteBuffer? in
                    let verdict = steps.next(.store)
                    let answer =
                        verdict == .failsBefore
                        ? nil : try await store.exchange(request, body: request.length, of: &connection).bytes
                    guard verdict != .goesOn else { return answer }
                    steps.finish()
                    return nil
                }
                guard let answer else { return try await connection.reset() }
                try await connection.write(answer)
            }
        } _: { port in
            try await body("http://127.0.0.1:\(port)")
        }
    }
}
