import Foundation

/// The parts of a body of the type `multipart/form-data` (RFC 7578).
struct MultipartForm: Sendable {
    struct File: Sendable {
        let name: String
        let bytes: Data
    }

    private(set) var fields: [String: String] = [:]
    private(set) var files: [String: File] = [:]

    private static let malformed = ServiceRefusal(
        status: 400,
        code: "multipart_malformed",
        message: "The request's multipart body is malformed"
    )

    /// Reads a form.
    ///
    /// - Throws: `ServiceRefusal` if it is none.
    init(_ request: ServiceRequest) throws(ServiceRefusal) {
        let type = request.headers["content-type"] ?? ""
        guard type.hasPrefix("multipart/form-data"), let start = type.range(of: "boundary=")?.upperBound else {
            throw .parametersMissing
        }
        let boundary = type[start...].prefix { $0 != ";" }.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
        let delimiter = Data("\r\n--\(boundary)".utf8)
        // The first delimiter has no line break before it.
        let body = Data("\r\n".utf8) + request.body
        guard var position = body.range(of: delimiter)?.upperBound else { throw Self.malformed }
        while true {
            guard let line = body.range(of: Data("\r\n".utf8), in: position..<body.count) else {
                guard body[position...].starts(with: Data("--".utf8)) else { throw Self.malformed }
                return
            }
            if body[position..<line.lowerBound].starts(with: Data("--".utf8)) { return }
            guard let end = body.range(of: delimiter, in: line.lowerBound..<body.count) else { throw Self.malformed }
            try add(body.subdata(in: line.upperBound..<end.lowerBound))
            position = end.upperBound
        }
    }

    private mutating func add(_ part: Data) throws(ServiceRefusal) {
        guard let end = part.range(of: Data("\r\n\r\n".utf8)) else { throw Self.malformed }
        let head = String(decoding: part[..<end.lowerBound], as: UTF8.self)
        guard let name = Self.parameter("name", of: head) else { throw Self.malformed }
        let contents = part.subdata(in: end.upperBound..<part.count)
        if let fileName = Self.parameter("filename", of: head) {
            files[name] = File(name: fileName, bytes: contents)
        } else {
            fields[name] = String(decoding: contents, as: UTF8.self)
        }
    }

    /// A parameter of `Content-Disposition`.
    private static func parameter(_ name: String, of head: String) -> String? {
        guard let start = head.range(of: "; \(name)=\"")?.upperBound else { return nil }
        let value = String(head[start...].prefix { $0 != "\"" })
        return value.replacingOccurrences(of: "%22", with: "\"").replacingOccurrences(of: "%0D", with: "\r")
            .replacingOccurrences(of: "%0A", with: "\n")
    }
}
