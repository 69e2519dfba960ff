import DatabaseTestSupport
import Foundation
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The examples for containers", .timeLimit(.minutes(3)))
struct ShippedFilesTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: ProjectFolder.root.appending(path: path), encoding: .utf8)
    }

    /// Runs psql as PostgreSQL's image does, which passes it the password in the environment.
    ///
    /// - Returns: What it printed.
    @discardableResult
    private static func psql(_ url: String, _ arguments: String...) async throws -> String {
        let outcome = try await ProgramOutcome.run(
            URL(filePath: "/usr/bin/env"),
            ["psql", "-XqAt", "--no-password", "-v", "ON_ERROR_STOP=1"] + arguments + [url],
            environment: ["POSTGRES_PASSWORD": "it's a \"secret\""],
            directory: ProjectFolder.root
        )
        try #require(outcome.status == 0, "\(outcome)")
        return outcome.output
    }

    @Test("The role of compose.yaml is no superuser, owns its database alone, and may do all that the service needs")
    func role() async throws {
        try await OwnCluster.use { cluster in
            // As the image makes it: a superuser `postgres`, and a new database `selfie`.
            let superuser = cluster.url.replacing("//selfie@", with: "//postgres@")
            try await Self.psql(cluster.url, "-c", "CREATE ROLE postgres SUPERUSER LOGIN PASSWORD 'x'")
            for statement in [
                "ALTER ROLE selfie RENAME TO first", "ALTER DATABASE selfie RENAME TO first", "CREATE DATABASE selfie",
            ] {
                try await Self.psql(superuser.replacing(/\/selfie$/, with: "/postgres"), "-c", statement)
            }
            try await Self.psql(superuser, "-f", "deploy/compose.role.sql")

            let role = """
                SELECT rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls, rolpassword IS NOT NULL
                FROM pg_authid WHERE rolname = 'selfie'
                """
            #expect(try await Self.psql(superuser, "-c", role) == "f|f|f|f|f|t\n")
            let owned = "SELECT datname FROM pg_database WHERE datdba = 'selfie'::regrole"
            #expect(try await Self.psql(superuser, "-c", owned) == "selfie\n")
            // The superuser can't sign in over the network.
            let password = "SELECT rolpassword IS NULL FROM pg_authid WHERE rolname = 'postgres'"
            #expect(try await Self.psql(superuser, "-c", password) == "t\n")

            let migrate = try await SelfieProcess.run(
                ["migrate", "--migrations", ServedSelfie.migrationsPath],
                environment: ["DATABASE_URL": cluster.url]
            )
            #expect(migrate.status == 0, "\(migrate)")
            try await TemporaryFolder.with { folder in
                let doctor = try await DoctorRun(DoctorRun.settings(databaseURL: cluster.url, objects: .disk(folder)))
                #expect(doctor.status == 0 && doctor.lines("FAILED").isEmpty, "\(doctor.text)")
                #expect(doctor.text.contains("ok Database: temporary tables are allowed"))
                #expect(doctor.text.contains("ok Database: its tables can be read and changed"))
            }
        }
    }

    @Test("compose.yaml makes that role, uses it, and publishes one port, for this machine alone")
    func compose() throws {
        let text = try Self.text("compose.yaml")
        #expect(text.contains("\n      POSTGRES_USER: postgres\n"))
        #expect(text.contains("\n      - ./deploy/compose.role.sql:/docker-entrypoint-initdb.d/role.sql:ro\n"))
        #expect(text.contains("\n    DATABASE_URL: postgresql://selfie:${POSTGRES_PASSWORD:?set it in .env}@database"))
        let published = text.split(separator: "\n").filter { $0.contains("ports:") }
        #expect(published == [#"    ports: ["127.0.0.1:${PORT:-3000}:3000"]"#])
    }

    @Test("Caddy serves one site by TLS only, with HSTS, and limits bodies as nginx does")
    func caddy() throws {
        let lines = try Self.text("deploy/caddy/Caddyfile").components(separatedBy: "\n").filter { !$0.hasPrefix("#") }
        // Caddy gets the certificate and redirects port 80 to TLS by default.
        let sites = lines.filter { $0.hasSuffix("{") && !$0.hasPrefix("\t") }
        #expect(sites == ["{", "selfies.example.com {"])
        let directives = lines.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.hasPrefix("#") }
        for word in ["auto_https", "http://", "tls ", "http_port", "bind "] {
            #expect(!directives.contains { $0.contains(word) }, "\(word)")
        }
        for directive in [
            "header Strict-Transport-Security max-age=31536000", "max_size 40MiB",
            "reverse_proxy 127.0.0.1:3001 127.0.0.1:3002 {", "lb_try_duration 2s", "flush_interval -1",
            "response_header_timeout 35s", "keepalive off", "exclude http.log.error http.handlers.reverse_proxy",
        ] {
            #expect(directives.count { $0 == directive } == 1, "\(directive)")
        }
        let refusals = directives.filter { $0.hasPrefix("respond ") }
        #expect(refusals.count == 2)
        #expect(refusals.first?.contains("(maximum is 41943040 bytes)") == true)
    }

    @Test("On Kubernetes a pod takes 5,000 connections, and has the 1.5 GiB of memory that these may need")
    func kubernetesMemory() throws {
        let lines = try Self.text("deploy/kubernetes/selfie.yaml").split(separator: "\n").map { $0.drop { $0 == " " } }
        #expect(lines.filter { $0.contains("CONNECTIONS_MAX") } == [#"- {name: CONNECTIONS_MAX, value: "5000"}"#])
        #expect(lines.filter { $0.contains("limits:") } == ["limits: {memory: 1536Mi}"])
    }

    @Test("On Kubernetes, metrics are served at the pod's own address, and only to the namespace `monitoring`")
    func kubernetes() throws {
        let text = try Self.text("deploy/kubernetes/selfie.yaml")
        #expect(!text.contains("0.0.0.0") && !text.contains("hostNetwork"))
        #expect(text.contains("{name: METRICS_HOST, valueFrom: {fieldRef: {fieldPath: status.podIP}}}\n"))
        let parts = text.components(separatedBy: "---\n")
        let policy = try #require(parts.first { $0.contains("\nkind: NetworkPolicy\n") })
        #expect(
            policy.hasSuffix(
                """
                  podSelector:
                    matchLabels: {app.kubernetes.io/name: selfie}
                  policyTypes: [Ingress]
                  ingress:
                    - ports: [{protocol: TCP, port: http}]
                    - from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]
                      ports: [{protocol: TCP, port: metrics}]

                """
            )
        )
    }
}
