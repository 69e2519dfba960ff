package import Postgres

/// The settings for copying photos from one store to another.
package struct CopyConfiguration: Sendable {
    package let postgres: PostgresConfiguration
    package let path: String
    package let bucket: ServiceConfiguration.Bucket
}
