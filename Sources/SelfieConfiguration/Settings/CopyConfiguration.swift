package import Postgres

/// What copying photos from one store to another needs.
package struct CopyConfiguration: Sendable {
    package let postgres: PostgresConfiguration
    package let path: String
    package let bucket: ServiceConfiguration.Bucket
}
