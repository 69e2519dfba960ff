import Foundation

@testable import SelfieClient

/// Answers requests by a closure, and keeps them.
final class ScriptedTransport: Transport {
    private let requests = Locked<[TransportRequest]>([])
    private let answer: @Sendable (_ request: TransportRequest, _ number: Int) async throws -> TransportResponse

    /// - Parameter answer: Gets each request and its number, from 1 on.
    init(_ answer: @escaping @Sendable (TransportRequest, Int) async throws -> TransportResponse) {
        self.answer = answer
    }

    var all: [TransportRequest] { requests.withLock { $0 } }

    func send(_ request: TransportRequest, progress _: (@Sendable (Int64) -> Void)?) async throws -> TransportResponse {
        let number = requests.withLock { requests in
            requests.append(request)
            return requests.count
        }
        return try await answer(request, number)
    }
}

extension TransportResponse {
    static func json(_ text: String, status: Int = 200, headers: [String: String] = [:]) -> TransportResponse {
        TransportResponse(status: status, headers: headers, body: Data(text.utf8))
    }

    static func refusal(_ status: Int, _ code: String, headers: [String: String] = [:]) -> TransportResponse {
        json(#"{"status":\#(status),"message":"No.","code":"\#(code)"}"#, status: status, headers: headers)
    }
}

extension Selfie {
    /// A client of a scripted service.
    ///
    /// - Parameters:
    ///   - transport: The script.
    ///   - folder: Where it keeps its files.
    ///   - token: The token of who is signed in; nil for nobody.
    ///   - adjust: Changes the configuration.
    /// - Returns: The client.
    /// - Throws: ``SelfieError`` if the address of the service is none.
    static func scripted(
        _ transport: ScriptedTransport,
        folder: URL,
        token: String? = "t0ken",
        adjust: (inout SelfieConfiguration) -> Void = { _ in }
    ) throws -> Selfie {
        guard let url = URL(string: "https://selfies.example.com/") else {
            throw SelfieError.storage("This is no URL.")
        }
        let store = MemoryTokenStore()
        if let token { store.write(Data(#"{"token":"\#(token)","userID":"ada"}"#.utf8)) }
        var configuration = SelfieConfiguration(tokenStore: store, folder: folder, transport: transport)
        adjust(&configuration)
        return Selfie(
            url: url,
            apiCredential: APICredential(name: "app", password: "p4ssw0rd"),
            configuration: configuration
        )
    }
}
