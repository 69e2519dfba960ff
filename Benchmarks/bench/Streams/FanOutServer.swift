import ArgumentParser
import Foundation
import Glibc

/// A server that does only this: it writes the same bytes to all of its connections.
struct FanOutServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fan-out-server",
        abstract: "Write the same bytes to all connections when one asks for it, for comparison; `run` starts it.",
        shouldDisplay: false
    )

    /// What a connection sends that is to be written to; the answer is the same.
    static let greeting = "hello\n"
    /// Begins the line that is to be written.
    static let order = "write "

    func run() async throws {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard bind(descriptor, address, length) == 0, listen(descriptor, 4096) == 0,
                    getsockname(descriptor, address, &length) == 0
                else { return in_port_t(0) }
                return UnsafeRawPointer(address).assumingMemoryBound(to: sockaddr_in.self).pointee.sin_port
            }
        }
        guard port != 0 else { throw BenchError.missing("a port") }
        say("listening on 127.0.0.1:\(in_port_t(bigEndian: port))")
        serve(descriptor)
    }

    /// Takes connections until one orders a line to be written, which it may do again and again.
    private func serve(_ listener: Int32) {
        var connections: [Int32] = []
        while case let connection = accept(listener, nil, nil), connection >= 0 {
            var line = Self.line(of: connection)
            if line == Self.greeting {
                Self.write(line, to: connection)
                connections.append(connection)
            }
            while line.hasPrefix(Self.order) {
                for other in connections { Self.write(line, to: other) }
                line = Self.line(of: connection)
            }
        }
    }

    private static func line(of descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var text = text
        text.withUTF8 { bytes in _ = send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL)) }
    }

    /// Starts this server as a process of its own, runs `body` and ends it.
    static func with<Result: Sendable>(_ body: (RunningServer) async throws -> Result) async throws -> Result {
        try await RunningServer.with("bench", ["fan-out-server"], body)
    }
}
