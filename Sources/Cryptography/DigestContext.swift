import CLibCrypto

/// A digest that libcrypto computes.
///
/// Each is fetched once, because a fetch searches libcrypto's providers (OpenSSL, "crypto(7)", "Performance").
struct DigestAlgorithm: Sendable {
    nonisolated(unsafe) let fetched: OpaquePointer

    static let sha256Name = "SHA256"
    static let md5Name = "MD5"

    static let sha256 = DigestAlgorithm(sha256Name)
    static let md5 = DigestAlgorithm(md5Name)

    private init(_ name: String) {
        guard let algorithm = EVP_MD_fetch(nil, name, nil) else {
            fatalError(
                "This machine's libcrypto has no \(name). Selfie needs it, so use a build of OpenSSL that has it."
            )
        }
        fetched = algorithm
    }
}

/// The state of a digest on its way.
///
/// Its owners are structs. They copy it before they change one that is shared, so no two threads ever change the same.
final class DigestContext: Sendable {
    private nonisolated(unsafe) let context: OpaquePointer

    init(_ algorithm: DigestAlgorithm) {
        context = Self.make()
        require(EVP_DigestInit_ex2(context, algorithm.fetched, nil))
    }

    init(copying other: DigestContext) {
        context = Self.make()
        require(EVP_MD_CTX_copy_ex(context, other.context))
    }

    /// Frees the state, which clears it.
    deinit { EVP_MD_CTX_free(context) }

    func update(_ bytes: UnsafeRawBufferPointer) {
        require(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count))
    }

    /// Writes the digest, after which the state can't be used again.
    ///
    /// - Parameter digest: As long as the digest is.
    func finish(into digest: UnsafeMutableRawBufferPointer) {
        require(EVP_DigestFinal_ex(context, digest.baseAddress?.assumingMemoryBound(to: UInt8.self), nil))
    }

    private static func make() -> OpaquePointer {
        guard let context = EVP_MD_CTX_new() else { fatalError("libcrypto has no memory for a digest") }
        return context
    }
}

extension DigestContext {
    /// Adds bytes to a state that may be shared.
    static func update(_ context: inout DigestContext, _ bytes: UnsafeRawBufferPointer) {
        if !isKnownUniquelyReferenced(&context) { context = DigestContext(copying: context) }
        context.update(bytes)
    }

    /// Writes the digest of a state that may be shared.
    static func finish(_ context: inout DigestContext, into digest: UnsafeMutableRawBufferPointer) {
        if !isKnownUniquelyReferenced(&context) { context = DigestContext(copying: context) }
        context.finish(into: digest)
    }
}

/// Ends the process when libcrypto fails where only a lack of memory can make it fail.
///
/// To go on would mean a wrong digest.
private func require(_ result: CInt) {
    guard result == 1 else { fatalError("libcrypto could not compute a digest") }
}
