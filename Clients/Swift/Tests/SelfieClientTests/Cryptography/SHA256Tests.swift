import Foundation
import Testing

@testable import SelfieClient

@Suite("SHA-256")
struct SHA256Tests {
    @Test("is that of FIPS 180-4")
    func digest() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(SHA256.digest(of: Data("abc".utf8)).hexadecimal == expected)
    }

    #if os(Linux)
        @Test("works on other threads while the process exits")
        func worksDuringExit() async {
            await #expect(processExitsWith: .success) {
                // Its library initializes libcrypto, too.
                _ = URLSessionTransport()
                let isStarted = DispatchSemaphore(value: 0)
                for _ in 0..<2 {
                    Thread.detachNewThread {
                        _ = SHA256.digest(of: Data())
                        isStarted.signal()
                        while true { _ = SHA256.digest(of: Data()) }
                    }
                }
                for _ in 0..<2 { isStarted.wait() }
                exit(0)
            }
        }
    #endif
}
