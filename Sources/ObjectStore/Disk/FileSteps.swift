import LinuxFiles

/// The calls that change a store's files, so that tests can watch each one and let it fail.
package struct FileSteps: Sendable {
    /// Makes a file of a path, which must not exist yet.
    var create: @Sendable (String) throws -> PosixFile = { try PosixFile.create(path: $0) }
    /// Writes bytes at a file's end.
    var write: @Sendable (PosixFile, UnsafeRawBufferPointer) throws -> Void = { try $0.write($1) }
    /// Makes sure that a file's bytes, or a folder's names, survive a loss of power.
    var synchronize: @Sendable (PosixFile) throws -> Void = { try $0.synchronize() }
    /// Moves a file to another path, and replaces any file there.
    var rename: @Sendable (String, String) throws -> Void = { try PosixFile.rename($0, to: $1) }
    /// Removes the file of a path.
    ///
    /// A missing one is no error.
    var remove: @Sendable (String) throws -> Void = { try PosixFile.remove($0) }
}
