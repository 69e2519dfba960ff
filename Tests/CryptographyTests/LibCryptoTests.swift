import Testing

@testable import Cryptography

@Suite("libcrypto as a whole")
struct LibCryptoTests {
    @Test("This machine's has all that is needed")
    func complete() {
        #expect(throws: Never.self) { try LibCrypto.check() }
    }

    @Test("What is missing is named, with the likely reason")
    func missing() {
        #expect("\(CryptographyError.missing("MD5"))".contains("has no MD5"))
        #expect("\(CryptographyError.missing("MD5"))".contains("FIPS"))
    }
}
