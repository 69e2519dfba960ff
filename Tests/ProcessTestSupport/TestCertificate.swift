package import Foundation
import ServerProcesses

/// A certificate with its key, in PEM.
package struct TestCertificate: Sendable {
    package let path: String
    package let keyPath: String

    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    /// Makes a certificate.
    ///
    /// - Parameters:
    ///   - name: Of its files.
    ///   - names: The names that it is for, as `subjectAltName` has them; nil for an authority.
    ///   - issuer: The authority; nil for one that is its own.
    ///   - days: How long it is valid.
    ///   - folder: Gets the files.
    /// - Returns: The certificate.
    /// - Throws: `ServerProcessError`.
    package static func make(
        _ name: String,
        for names: String?,
        by issuer: TestCertificate? = nil,
        days: Int = 2,
        in folder: URL
    ) async throws -> TestCertificate {
        let made = TestCertificate(
            path: folder.appending(path: "\(name).pem").path,
            keyPath: folder.appending(path: "\(name).key").path
        )
        let extensions = names.map { ["-addext", "subjectAltName=\($0)"] } ?? []
        let subject = ["-subj", "/CN=\(name)", "-keyout", made.keyPath]
        guard let issuer else {
            try await openssl(
                ["req", "-x509", "-days", "\(days)", "-out", made.path] + newKey + subject + extensions,
                in: folder
            )
            return made
        }
        try await openssl(["req", "-out", "request.pem"] + newKey + subject + extensions, in: folder)
        try await openssl(
            [
                "x509", "-req", "-in", "request.pem", "-CA", issuer.path, "-CAkey", issuer.keyPath, "-days", "\(days)",
                "-copy_extensions", "copy", "-out", made.path,
            ],
            in: folder
        )
        return made
    }

    private static func openssl(_ arguments: [String], in folder: URL) async throws {
        let outcome = try await ProgramOutcome.run(
            URL(filePath: "/usr/bin/env"),
            ["openssl"] + arguments,
            directory: folder
        )
        guard outcome.status == 0 else { throw ServerProcessError.failed("openssl", errors: outcome.errors) }
    }
}
