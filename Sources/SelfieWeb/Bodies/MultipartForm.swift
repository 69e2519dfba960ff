import Multipart
import NIOCore

/// Collects the text parts of a multipart body.
///
/// The last part of a name counts.
struct MultipartForm {
    /// Text parts by name.
    private(set) var fields: [String: String] = [:]
    private var part: MultipartPart?
    private var contents: [UInt8] = []

    /// Takes the next event.
    ///
    /// A file is ignored, but replaces a text of the same name.
    ///
    /// - Parameter event: The body's next event.
    /// - Throws: `ServiceError.malformedParameters` for a text that is not UTF-8.
    mutating func append(_ event: MultipartSequence.Element) throws(ServiceError) {
        switch event {
        case .partBegin(let part):
            self.part = part
            contents = []
        case .partBytes(let buffer):
            if part?.kind == .field { contents += buffer.readableBytesView }
        case .partEnd:
            guard let part else { return }
            switch part.kind {
            case .file: fields[part.name] = nil
            case .field:
                guard let text = String(validating: contents, as: UTF8.self) else { throw .malformedParameters }
                fields[part.name] = text
            }
        }
    }
}
