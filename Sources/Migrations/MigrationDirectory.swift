package import FoundationEssentials

/// The folder that holds the SQL files.
package struct MigrationDirectory: Sendable {
    private let path: String

    /// - Parameter path: The folder's path, relative to the current one or absolute.
    package init(path: String) {
        self.path = path
    }

    /// Reads all migrations; files that do not end in `.sql` are left alone.
    ///
    /// - Returns: The migrations in the order of their versions.
    /// - Throws: `MigrationError` for a file that is misnamed, malformed or of a version that is there twice.
    package func load() throws(MigrationError) -> [Migration] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw .unreadableDirectory(path)
        }
        var migrations: [Migration] = []
        for name in names.sorted() where name.hasSuffix(".sql") {
            let file = "\(path)/\(name)"
            guard let contents = try? String(contentsOfFile: file, encoding: .utf8) else { throw .unreadableFile(file) }
            let migration = try Migration(fileName: name, contents: contents)
            guard migrations.last?.version != migration.version else { throw .duplicateVersion(migration.version) }
            migrations.append(migration)
        }
        return migrations
    }

    /// Writes an empty migration.
    ///
    /// - Parameters:
    ///   - name: Words; anything that is not a letter or digit becomes an underscore.
    ///   - date: What its version is made of.
    /// - Returns: The new file's path.
    /// - Throws: `MigrationError.invalidName` or `.cannotWrite`.
    package func create(name: String, date: Date) throws(MigrationError) -> String {
        let words = name.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        guard !words.isEmpty else { throw .invalidName(name) }
        // Such as 20261123101500.
        let version = date.formatted(.iso8601).filter(\.isNumber)
        let file = "\(path)/\(version)_\(words.joined(separator: "_")).sql"
        let contents = "\(Migration.upMarker)\n\n\(Migration.downMarker)\n\n"
        guard (try? Data(contents.utf8).write(to: URL(filePath: file), options: .withoutOverwriting)) != nil else {
            throw .cannotWrite(file)
        }
        return file
    }
}
