/// Why a file can't be in an archive.
package enum ZipError: Error, Equatable {
    /// Some system can't use the name, or would write outside of the folder with it.
    case invalidName
    /// The archive has a file whose name is the same to some system.
    case nameTaken
    /// The archive has as much as one may have.
    case tooLarge
}
