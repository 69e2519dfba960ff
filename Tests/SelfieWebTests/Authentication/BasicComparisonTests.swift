import Cryptography
import Foundation
import Synchronization
import Testing

@testable import SelfieAccounts
@testable import SelfieWeb

@Suite("The comparison of the API's credential")
struct BasicComparisonTests {
    private final class Comparisons: Sendable {
        let pairs = Mutex<[[SHA256Digest]]>([])
    }

    private static func digest(_ text: String) -> SHA256Digest { SHA256.hash(Array(text.utf8)) }

    @Test(
        "Name and password are both compared, as digests, whichever is wrong",
        arguments: ["name", "nam", "other", ""],
        ["password", "passwore", ""]
    )
    func both(name: String, password: String) {
        let comparisons = Comparisons()
        let middleware = BasicMiddleware(credential: APICredential(name: "name", password: "password")) { left, right in
            comparisons.pairs.withLock { $0.append([left, right]) }
            return left == right
        }
        let header = "Basic \(Data("\(name):\(password)".utf8).base64EncodedString())"
        #expect(middleware.accepts(header) == (name == "name" && password == "password"))
        let expected = [
            [Self.digest(name), Self.digest("name")], [Self.digest(password), Self.digest("password")],
        ]
        #expect(comparisons.pairs.withLock { $0 } == expected)
    }

    @Test("The comparison that the service makes is by all of a digest")
    func whole() {
        let middleware = BasicMiddleware(credential: APICredential(name: "name", password: "password"))
        let accepted = ["name:password", "name:passwore", "nama:password", ":", "password:name"].map { credential in
            middleware.accepts("Basic \(Data(credential.utf8).base64EncodedString())")
        }
        #expect(accepted == [true, false, false, false, false])
    }
}
