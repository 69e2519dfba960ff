import FoundationEssentials
package import RecordSchema

/// Reads schema files.
package enum SchemaFile {
    /// Reads a file.
    ///
    /// - Parameter path: Its path.
    /// - Returns: The schema.
    /// - Throws: ``SchemaFileError``.
    package static func read(_ path: String) throws(SchemaFileError) -> Schema {
        let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        guard size ?? 0 <= Schema.maxFileBytes else {
            throw SchemaFileError(description: "\(path) has more than \(Schema.maxFileBytes) bytes.")
        }
        let contents: Data
        do {
            contents = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw SchemaFileError(description: "\(path) can't be read.")
        }
        do throws(InvalidSchema) {
            return try Schema(file: contents)
        } catch {
            let lines = error.errors.map { error in
                "\(path):\(error.line): \(error.key.isEmpty ? "" : "\(error.key): ")\(error.message)"
            }
            throw SchemaFileError(description: lines.joined(separator: "\n"))
        }
    }
}

/// A schema file can't be read, or is refused.
package struct SchemaFileError: Error, CustomStringConvertible {
    /// A line for each error, with the file's line and key.
    package let description: String
}
