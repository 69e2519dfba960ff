import NIOCore

/// An XML document to send, such as `CompleteMultipartUpload`.
struct RequestDocument {
    private let name: String
    private var contents = ""

    private static let namespace = "http://s3.amazonaws.com/doc/2006-03-01/"

    /// Begins a document.
    ///
    /// - Parameter name: The root's name.
    init(_ name: String) {
        self.name = name
    }

    /// Adds an element with a text to the root.
    mutating func add(_ name: String, _ text: String) {
        contents += Self.element(name, text)
    }

    /// Adds an element with elements, each of which has a text, to the root.
    mutating func add(_ name: String, _ children: KeyValuePairs<String, String>) {
        contents += "<\(name)>\(children.map(Self.element).joined())</\(name)>"
    }

    var bytes: ByteBuffer { ByteBuffer(string: "<\(name) xmlns=\"\(Self.namespace)\">\(contents)</\(name)>") }

    /// The document as a request takes it.
    var body: S3Body { S3Body(bytes) }

    /// Whether XML 1.0 can hold a text at all.
    ///
    /// Of the control characters, XML allows only tab and line ends, and a parser changes those (sections 2.2 and
    /// 2.11).
    static func canHold(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0xFFFE && $0.value != 0xFFFF }
    }

    private static func element(_ name: String, _ text: String) -> String {
        "<\(name)>\(escaped(text))</\(name)>"
    }

    /// A text without the characters that mean something in XML (section 2.4).
    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
