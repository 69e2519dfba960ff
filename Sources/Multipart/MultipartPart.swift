import Encodings

/// A part's header.
package struct MultipartPart: Equatable, Sendable {
    /// Whether a part is text or a file.
    package enum Kind: Equatable, Sendable {
        /// A part without a file name: text, whatever its content type says.
        case field
        /// A part with a file name.
        case file
    }

    /// The form field's name, never empty; bytes that are not UTF-8 became U+FFFD.
    package let name: String
    /// The name of the file as the client sent it, never empty; nil for a text part.
    ///
    /// Unquoted and otherwise raw: it may be a path of any system. Sent plainly, it holds any character but CR, LF and
    /// NUL; sent as `filename*`, it may hold those too. Bytes that are not UTF-8 became U+FFFD.
    package let filename: String?
    /// The part's own Content-Type as sent, parameters included; nil if it has none or an empty one.
    package let contentType: String?

    /// Text or file, by whether there is a file name.
    package var kind: Kind {
        filename == nil ? .field : .file
    }

    /// Makes a part's description.
    ///
    /// - Parameters:
    ///   - name: The form field's name.
    ///   - filename: The file's name, nil for a text part.
    ///   - contentType: The part's own Content-Type.
    package init(name: String, filename: String? = nil, contentType: String? = nil) {
        self.name = name
        self.filename = filename
        self.contentType = contentType
    }
}

extension MultipartPart {
    /// Reads a part's description from its header.
    ///
    /// Nil means that the part is to be skipped. Such a part has no Content-Disposition or no name, which RFC 7578,
    /// section 4.2, asks for. Or its file name is there but empty: browsers send that when no file was chosen. Any
    /// disposition type counts, since the reference client sends its file as `attachment`.
    ///
    /// - Parameter header: The part's header.
    /// - Throws: `MultipartError.malformedHeader`, `unfitName`.
    init?(_ header: PartHeader) throws(MultipartError) {
        guard let value = header.contentDisposition else { return nil }
        let disposition = try HeaderParameters(value, quotedPairs: .quoteAndBackslash)
        guard disposition.value.isToken else { throw .malformedHeader }

        let name = try disposition.value(of: "name", ifConflicting: .malformedHeader)
        let plain = try disposition.value(of: "filename", ifConflicting: .malformedHeader)
        let extended = try disposition.value(of: "filename*", ifConflicting: .malformedHeader)
        let filenames = [extended.flatMap(decodedExtendedValue), plain.map(decodedFormValue)].compactMap { $0 }
        let filename = filenames.first { !$0.isEmpty }

        guard let name, !name.isEmpty, filenames.isEmpty || filename != nil else { return nil }
        let field = decodedFormValue(name)
        guard field.isFitName else { throw .unfitName }
        let contentType = header.contentType.flatMap { $0.isEmpty ? nil : String(decoding: $0, as: UTF8.self) }
        self.init(name: field, filename: filename, contentType: contentType)
    }
}
