import Budgets
import HTTPConnection
import Postgres
import SelfieConfiguration

/// How many connections of clients a process takes, and how many photos it sends at once.
struct ConnectionBudget {
    let total: Int
    let perAddress: Int
    /// How many one /48 network of IPv6 addresses may have.
    let perSite: Int
    /// How many photos may be sent at once.
    let downloads: PermitLimits

    /// The most connections where nothing else is set: each takes about 23 KiB of memory.
    static let maxTotal = 20_000
    /// The fewest, even where hardly any file may be open.
    static let minTotal = 32
    /// Descriptors for the log, libraries, and connections to the bucket for uploads.
    static let reservedCount = 256
    /// How many times as many connections a /48 network may have as a /64 network.
    static let siteFactor = 8

    /// - Parameters:
    ///   - openFileLimit: How many descriptors the process may have.
    ///   - configuration: The settings. Each connection to the database, each upload and each download may have a
    ///     descriptor, too.
    init(openFileLimit: Int, configuration: ServiceConfiguration) {
        downloads = Self.downloads(openFileLimit: openFileLimit, configuration: configuration)
        let reserved =
            Self.reservedCount + configuration.postgres.maxConnections + configuration.uploadLimits.total
            + downloads.total
        let available = max(Self.minTotal, openFileLimit - reserved)
        total = min(available, configuration.maxConnections ?? Self.maxTotal)
        // Behind a proxy all clients come from its address.
        let isProxied = configuration.trustedProxies.count > 0
        perAddress = isProxied ? total : min(total, configuration.maxConnectionsPerAddress ?? max(1, total / 2))
        // A quarter stays free for others, unless one address may have more than the rest.
        perSite = max(perAddress, min(perAddress * Self.siteFactor, total * 3 / 4))
    }

    /// How many connections may wait for changes.
    ///
    /// A quarter is left for calls.
    var streams: Int { max(1, total * 3 / 4) }

    /// Each download holds a file, or a connection to the bucket and up to half a MiB.
    private static func downloads(openFileLimit: Int, configuration: ServiceConfiguration) -> PermitLimits {
        let usual: Int
        let most: Int
        switch (configuration.photoDelivery, configuration.objectStorage) {
        // The service looks only at photos of railsauth that have no type yet.
        case (.redirect, _): (usual, most) = (32, 32)
        case (.proxy, .disk): (usual, most) = (4_000, .max)
        case (.proxy, .s3): (usual, most) = (400, maxFromBucket)
        }
        let total = min(configuration.maxDownloads ?? usual, most, max(1, openFileLimit / 4))
        let perAddress = configuration.maxDownloadsPerAddress ?? max(1, total / 4)
        return PermitLimits(total: total, perHolder: min(total, perAddress))
    }

    /// The client of the bucket has 1,024 connections, and uploads need some.
    static let maxFromBucket = 700

    var permits: ConnectionPermits { ConnectionPermits(total: total, perAddress: perAddress, perSite: perSite) }
}
