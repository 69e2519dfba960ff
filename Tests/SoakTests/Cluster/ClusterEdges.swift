import ConnectionTestSupport
import Postgres
import ServiceTestSupport

/// The proxies of a cluster, for helpers that call a service on this machine.
struct ClusterEdges: StormTarget {
    let postgres: PostgresClient
    private let services: [TestService]
    /// Takes note of all that a storm sends.
    private let calls: ClusterCalls

    var any: TestService {
        get throws { services[.random(in: services.indices)] }
    }

    func note(_ call: StormCall) { calls.note(call) }

    /// Runs a body with the proxies.
    static func with(
        _ cluster: Cluster,
        _ calls: ClusterCalls,
        _ body: (ClusterEdges) async throws -> Void
    ) async throws {
        let configuration = try PostgresConfiguration(url: cluster.databaseURL, maxConnections: 4)
        try await PostgresClient.withClient(configuration: configuration) { postgres in
            try await ServedSelfie.withObjects(.disk) { objects in
                var (relays, services): ([ConnectionRelay], [TestService]) = ([], [])
                for host in Cluster.edges {
                    let relay = try await ConnectionRelay.start(host: host, target: 80)
                    relays.append(relay)
                    services.append(
                        ServedSelfie.attach(
                            port: relay.port,
                            databaseURL: cluster.databaseURL,
                            objects: objects,
                            postgres: postgres
                        )
                    )
                }
                try await body(ClusterEdges(postgres: postgres, services: services, calls: calls))
                for relay in relays { try await relay.close() }
            }
        }
    }
}
