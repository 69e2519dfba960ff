import FoundationEssentials
import Testing

@testable import SelfieAccounts

@Suite("Tokens, as they are made")
struct IssuedTokenTests {
    @Test("Each is unguessable")
    func names() {
        let tokens = (0..<200).map { _ in IssuedToken(date: Date(), lifetime: .fixed(hours: 1)).token }
        #expect(Set(tokens).count == 200)
        #expect(tokens.allSatisfy { $0.wholeMatch(of: /[A-Za-z0-9]{48}/) != nil })
        #expect(Set(tokens.joined()).count == 62)
    }
}
