import CPages
import Cryptography
import Encodings
import HTTPTypes
import Hummingbird
import NIOCore

/// A file that stays the same while the program runs.
struct StaticFile: Sendable {
    private let bytes: ByteBuffer
    /// The same as gzip, made once: no client can make the service compress it again and again.
    private let compressed: ByteBuffer?
    private let contentType: String
    private let tag: EntityTag

    /// All files, by folder and name such as `docs/docs.js`.
    static let all: [String: StaticFile] = Dictionary(
        uniqueKeysWithValues: UnsafeBufferPointer(start: selfie_pages(), count: selfie_page_count()).map { page in
            let name = String(cString: page.name)
            return (name, StaticFile(name: name, bytes: UnsafeBufferPointer(start: page.bytes, count: page.count)))
        }
    )

    /// The media types of files, by the ends of their names.
    static let contentTypes = [
        "html": "text/html", "css": "text/css", "js": "text/javascript", "ico": "image/x-icon", "txt": "text/plain",
    ]

    private init(name: String, bytes: UnsafeBufferPointer<UInt8>) {
        let type =
            Self.contentTypes[name.split(separator: ".").last.map(String.init) ?? ""] ?? "application/octet-stream"
        self.init(
            ByteBuffer(bytes: bytes),
            contentType: type.hasPrefix("text/") ? "\(type); charset=utf-8" : type
        )
    }

    init(_ bytes: ByteBuffer, contentType: String) {
        self.bytes = bytes
        self.contentType = contentType
        compressed = try? GzipStream().add(bytes, isLast: true)
        tag = EntityTag(SHA256.hash(bytes.readableBytesView).withUnsafeBytes { Base64URL.string(of: $0) })
    }

    /// The same file with another text in place of one.
    func replacing(_ text: String, with other: String) -> StaticFile {
        StaticFile(
            ByteBuffer(string: String(buffer: bytes).replacing(text, with: other)),
            contentType: contentType
        )
    }

    /// The file as an answer, or 304 for a client that has it.
    ///
    /// Clients ask each time, so that all files of a page are of one version.
    func response(to request: Request, headers others: HTTPFields = [:]) -> Response {
        var headers = others
        headers[.eTag] = tag.quoted
        headers[.cacheControl] = "no-cache"
        headers.addVary("Accept-Encoding")
        if Preconditions(tag: tag).outcome(request.headers) == .notModified {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = contentType
        guard let compressed, AcceptedCodings(request.headers[.acceptEncoding]).hasGzip else {
            return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: bytes))
        }
        headers[.contentEncoding] = "gzip"
        // The bytes are others, and mean the same (RFC 9110, section 8.8.1).
        headers[.eTag] = "W/\(tag.quoted)"
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: compressed))
    }
}
