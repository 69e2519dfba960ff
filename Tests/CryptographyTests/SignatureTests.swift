import Foundation
import ProcessTestSupport
import TestSupport
import Testing

@testable import Cryptography

/// The `openssl` command makes the keys, and checks our signatures, and signs for us.
@Suite("Signatures")
struct SignatureTests {
    private static let message = Array("header.payload".utf8)

    /// Runs `openssl` in a folder, with words that have no spaces.
    private static func openssl(_ words: String, in folder: URL) async throws {
        let arguments = ["openssl"] + words.split(separator: " ").map(String.init)
        let outcome = try await ProgramOutcome.run(URL(filePath: "/usr/bin/env"), arguments, directory: folder)
        try #require(outcome.status == 0, "openssl \(words): \(outcome.errors)")
    }

    private static func withKeys(
        _ algorithm: String,
        _ body: (_ folder: URL, _ private: [UInt8], _ public: [UInt8]) async throws -> Void
    ) async throws {
        try await TemporaryFolder.with { folder in
            try await openssl("genpkey \(algorithm) -out private.pem", in: folder)
            try await openssl("pkey -in private.pem -pubout -out public.pem", in: folder)
            try Data(message).write(to: folder.appending(path: "message"))
            try await body(folder, try bytes("private.pem", in: folder), try bytes("public.pem", in: folder))
        }
    }

    private static func bytes(_ name: String, in folder: URL) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: name)))
    }

    private static let ec = "-algorithm EC -pkeyopt ec_paramgen_curve:P-256"
    private static let rsa = "-algorithm RSA -pkeyopt rsa_keygen_bits:2048"

    @Test("RS256: openssl takes ours, and we take openssl's")
    func rs256() async throws {
        try await Self.withKeys(Self.rsa) { folder, pem, publicPEM in
            let (key, publicKey) = (try PrivateKey<RS256>(pem: pem), try PublicKey<RS256>(pem: publicPEM))
            let signature = try key.signature(of: Self.message)
            #expect(signature.count == 256)
            #expect(publicKey.isSignature(signature, of: Self.message))
            try Data(signature).write(to: folder.appending(path: "signature"))
            try await Self.openssl("dgst -sha256 -verify public.pem -signature signature message", in: folder)
            try await Self.openssl("dgst -sha256 -sign private.pem -out theirs message", in: folder)
            #expect(publicKey.isSignature(try Self.bytes("theirs", in: folder), of: Self.message))
            Self.expectRefusals(signature, publicKey)
        }
    }

    @Test("ES256: a signature is two numbers of 32 bytes, which openssl takes in its own form")
    func es256() async throws {
        try await Self.withKeys(Self.ec) { folder, pem, publicPEM in
            let (key, publicKey) = (try PrivateKey<ES256>(pem: pem), try PublicKey<ES256>(pem: publicPEM))
            // Numbers that begin with zeros are as long as others.
            for _ in 0..<600 {
                let signature = try key.signature(of: Self.message)
                #expect(signature.count == 64)
                #expect(publicKey.isSignature(signature, of: Self.message))
            }
            let signature = try key.signature(of: Self.message)
            try Data(try #require(ES256.decoded(signature))).write(to: folder.appending(path: "signature"))
            try await Self.openssl("dgst -sha256 -verify public.pem -signature signature message", in: folder)
            try await Self.openssl("dgst -sha256 -sign private.pem -out theirs message", in: folder)
            let theirs = try #require(ES256.encoded(try Self.bytes("theirs", in: folder)))
            #expect(publicKey.isSignature(theirs, of: Self.message))
            Self.expectRefusals(signature, publicKey)
        }
    }

    private static func expectRefusals<Algorithm>(_ signature: [UInt8], _ key: PublicKey<Algorithm>) {
        #expect(!key.isSignature(signature, of: Array("header.payloae".utf8)))
        #expect(!key.isSignature([], of: message))
        #expect(!key.isSignature(signature.dropLast(), of: message))
        #expect(!key.isSignature(signature + [0], of: message))
        #expect(!key.isSignature([UInt8](repeating: 0, count: signature.count), of: message))
        var changed = signature
        changed[signature.count / 2] ^= 1
        #expect(!key.isSignature(changed, of: message))
    }

    @Test("A key for another algorithm, or a short one, is refused")
    func unsuitable() async throws {
        try await Self.withKeys(Self.rsa) { _, pem, publicPEM in
            #expect(throws: CryptographyError.keyUnsuitable) { try PrivateKey<ES256>(pem: pem) }
            #expect(throws: CryptographyError.keyUnsuitable) { try PublicKey<ES256>(pem: publicPEM) }
        }
        try await Self.withKeys(Self.ec) { _, pem, publicPEM in
            #expect(throws: CryptographyError.keyUnsuitable) { try PrivateKey<RS256>(pem: pem) }
            #expect(throws: CryptographyError.keyUnsuitable) { try PublicKey<RS256>(pem: publicPEM) }
        }
        try await Self.withKeys("-algorithm EC -pkeyopt ec_paramgen_curve:P-384") { _, pem, _ in
            #expect(throws: CryptographyError.keyUnsuitable) { try PrivateKey<ES256>(pem: pem) }
        }
        try await Self.withKeys("-algorithm RSA -pkeyopt rsa_keygen_bits:1024") { _, pem, publicPEM in
            #expect(throws: CryptographyError.keyUnsuitable) { try PrivateKey<RS256>(pem: pem) }
            #expect(throws: CryptographyError.keyUnsuitable) { try PublicKey<RS256>(pem: publicPEM) }
        }
    }

    @Test("A text that is no key, and a key with a password, are refused at once")
    func unreadable() async throws {
        for text in ["", "no key", "-----BEGIN PRIVATE KEY-----\n", "-----BEGIN PUBLIC KEY-----\nAAAA\n"] {
            #expect(throws: CryptographyError.keyUnreadable) { try PrivateKey<ES256>(pem: text.utf8) }
            #expect(throws: CryptographyError.keyUnreadable) { try PublicKey<ES256>(pem: text.utf8) }
        }
        try await Self.withKeys(Self.ec) { folder, _, _ in
            try await Self.openssl("pkey -in private.pem -aes-256-cbc -passout pass:secret -out locked.pem", in: folder)
            let locked = try Self.bytes("locked.pem", in: folder)
            #expect(throws: CryptographyError.keyUnreadable) { try PrivateKey<ES256>(pem: locked) }
        }
    }
}
