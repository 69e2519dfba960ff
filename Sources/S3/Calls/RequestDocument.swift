import Foundation
import FoundationXML
import NIOCore

/// An XML document to send, such as `CompleteMultipartUpload`.
struct RequestDocument {
    private let root: XMLElement

    private static let namespace = "http://s3.amazonaws.com/doc/2006-03-01/"

    /// Begins a document.
    ///
    /// - Parameter name: The root's name.
    init(_ name: String) {
        root = XMLElement(name: name)
        if let attribute = XMLNode.attribute(withName: "xmlns", stringValue: Self.namespace) as? XMLNode {
            root.addAttribute(attribute)
        }
    }

    /// Adds an element with a text to the root.
    func add(_ name: String, _ text: String) {
        root.addChild(XMLElement(name: name, stringValue: text))
    }

    /// Adds an element with elements, each of which has a text, to the root.
    func add(_ name: String, _ children: KeyValuePairs<String, String>) {
        let element = XMLElement(name: name)
        for (name, text) in children { element.addChild(XMLElement(name: name, stringValue: text)) }
        root.addChild(element)
    }

    var bytes: ByteBuffer { ByteBuffer(string: root.xmlString) }

    /// The document as a request takes it.
    var body: S3Body { S3Body(bytes) }

    /// Whether XML 1.0 can hold a text at all.
    ///
    /// Of the control characters, XML allows only tab and line ends, and a parser changes those (sections 2.2 and
    /// 2.11).
    static func canHold(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0xFFFE && $0.value != 0xFFFF }
    }
}
