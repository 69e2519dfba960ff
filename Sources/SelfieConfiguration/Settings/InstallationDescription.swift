package import Postgres
import S3

extension ServiceConfiguration {
    /// The database and the store in words, without passwords and keys.
    package var installation: String { "\(postgres.location) and \(objectStorage.location)" }
}

extension ServiceConfiguration.ObjectStorage {
    /// The folder or the bucket, in words.
    package var location: String {
        switch self {
        case .disk(let path): "the folder \(path)"
        case .s3(let bucket): "the bucket \(bucket.configuration.bucket) at \(bucket.configuration.storeURL)"
        }
    }
}

extension PostgresConfiguration {
    /// The database, in words.
    package var location: String {
        let name = options["dbname"] ?? options["user"] ?? "that libpq chooses"
        let host = options["host"] ?? options["hostaddr"] ?? ""
        return "the database \(name)" + (host.isEmpty ? "" : " at \(host)")
    }
}
