import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Operations on files that are whole or not done, also when the device loses its power in between.
///
/// Folders have the mode 700, files 600.
struct Disk: Sendable {
    /// Called before each operation, with its name.
    ///
    /// Tests end the process there, or let the operation fail.
    var beforeStep: @Sendable (_ name: String) throws -> Void = { _ in }

    private func step(_ name: String) throws {
        try beforeStep(name)
    }

    /// Makes a folder and those above it, unless it is there.
    ///
    /// - Throws: ``SelfieError/diskFull`` or ``SelfieError/storage(_:)``, as all operations here.
    func makeFolder(_ folder: URL) throws {
        guard !FileManager.default.fileExists(atPath: folder.path) else { return }
        try step("make folder")
        #if canImport(Darwin)
            var top = folder
            while top.pathComponents.count > 1,
                !FileManager.default.fileExists(atPath: top.deletingLastPathComponent().path)
            {
                top.deleteLastPathComponent()
            }
        #endif
        do {
            var attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
            #if os(iOS)
                // Uploads also go on while the device is locked.
                attributes[.protectionKey] = FileProtectionType.completeUntilFirstUserAuthentication
            #endif
            try FileManager.default.createDirectory(
                at: folder,
                withIntermediateDirectories: true,
                attributes: attributes
            )
            #if canImport(Darwin)
                // Pictures of faces belong into no backup. The service has them.
                var values = URLResourceValues()
                values.isExcludedFromBackup = true
                try top.setResourceValues(values)
            #endif
        } catch {
            throw SelfieError.storage("A folder can't be made.")
        }
    }

    /// A file's contents; nil if there is none.
    static func read(_ file: URL) throws -> Data? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        do {
            return try Data(contentsOf: file)
        } catch {
            throw SelfieError.storage("A file can't be read.")
        }
    }

    /// Replaces a file's contents in one step.
    func replace(_ file: URL, with data: Data) throws {
        try write(file) { descriptor in try Self.write(data, to: descriptor) }
    }

    /// Writes a file beside its place and moves it there when it is whole and stored.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - body: Writes the contents to a descriptor.
    /// - Throws: What `body` throws, or an error of the system's. The file is as before then.
    func write(_ file: URL, _ body: (_ descriptor: Int32) throws -> Void) throws {
        let part = file.appendingPathExtension("part")
        do {
            try step("create")
            let descriptor = try Self.open(part, O_WRONLY | O_CREAT | O_TRUNC)
            do {
                try step("write")
                try body(descriptor)
                try step("synchronize")
                try Self.synchronize(descriptor)
            } catch {
                close(descriptor)
                throw error
            }
            close(descriptor)
            try move(part, to: file)
        } catch {
            unlink(part.path)
            throw error
        }
    }

    /// Moves a file over another one in the same folder.
    func move(_ file: URL, to target: URL) throws {
        try step("move")
        guard rename(file.path, target.path) == 0 else { throw Self.error("move") }
        try step("synchronize folder")
        let folder = try Self.open(target.deletingLastPathComponent(), O_RDONLY)
        defer { close(folder) }
        try Self.synchronize(folder)
    }

    /// Removes a file or a folder with what is in it, if it is there.
    func remove(_ file: URL) throws {
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        try step("remove")
        do {
            try FileManager.default.removeItem(at: file)
        } catch {
            throw SelfieError.storage("A file can't be removed.")
        }
    }

    /// Opens a file that only its owner can read.
    static func open(_ file: URL, _ flags: Int32) throws -> Int32 {
        while true {
            #if canImport(Darwin)
                let descriptor = Darwin.open(file.path, flags | O_CLOEXEC, 0o600)
            #else
                let descriptor = Glibc.open(file.path, flags | O_CLOEXEC, 0o600)
            #endif
            if descriptor >= 0 { return descriptor }
            guard errno == EINTR else { throw error("open") }
        }
    }

    /// Writes all bytes at the descriptor's place.
    static func write(_ data: Data, to descriptor: Int32) throws {
        try data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                #if canImport(Darwin)
                    let count = Darwin.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                #else
                    let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                #endif
                if count < 0 {
                    guard errno == EINTR else { throw error("write") }
                } else {
                    rest = rest.dropFirst(count)
                }
            }
        }
    }

    /// Waits until what was written is on the disk.
    static func synchronize(_ descriptor: Int32) throws {
        #if canImport(Darwin)
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(descriptor) == 0 else { throw error("synchronize") }
    }

    /// The error that `errno` means.
    static func error(_ operation: String) -> SelfieError {
        switch errno {
        case ENOSPC, EDQUOT, EFBIG: .diskFull
        case let number: .storage("The system refused to \(operation) a file: error \(number).")
        }
    }
}
