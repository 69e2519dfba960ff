import Foundation
import NIOCore
import Testing

@testable import S3

/// XML as stores send it, and malformed XML.
struct DocumentReaderTests {
    private static func list(_ contents: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">\(contents)</ListBucketResult>
        """
    }

    private static func page(_ contents: String) throws -> Page<ObjectEntry, String> {
        try Page(DocumentElement.read(ByteBuffer(string: list(contents)), root: "ListBucketResult"))
    }

    @Test(
        "Keys come out as they are, URL-encoded or not",
        arguments: [
            ("", "a+b &amp; &lt;c&gt; d ", "a+b & <c> d "), ("url", "a%2Bb+c%20d%C3%BC%0A", "a+b c dü\n"),
            ("", " ", " "), ("url", "%25", "%"),
        ]
    )
    func keys(encoding: String, spelled: String, key: String) throws {
        let encodingType = encoding.isEmpty ? "" : "<EncodingType>\(encoding)</EncodingType>"
        let page = try Self.page(
            """
            \(encodingType)<IsTruncated>false</IsTruncated><Contents><Key>\(spelled)</Key>\
            <LastModified>2013-05-24T00:00:00.500Z</LastModified><ETag>&quot;abc&quot;</ETag><Size>7</Size>\
            <Owner><ID>x</ID></Owner></Contents>
            """
        )
        let entry = try #require(page.entries.first)
        #expect(entry.key == key)
        #expect(entry.length == 7)
        #expect(entry.modified.timeIntervalSince1970 == 1_369_353_600.5)
        #expect(page.next == nil)
    }

    @Test(
        "What does not say all that it must is no list, so that nothing passes for missing",
        arguments: [
            "<IsTruncated>true</IsTruncated>",
            "<IsTruncated>true</IsTruncated><NextContinuationToken></NextContinuationToken>",
            "<Contents><Size>7</Size><LastModified>2013-05-24T00:00:00Z</LastModified></Contents>",
            "<Contents><Key>a</Key><LastModified>2013-05-24T00:00:00Z</LastModified></Contents>",
            "<Contents><Key>a</Key><Size>x</Size><LastModified>2013-05-24T00:00:00Z</LastModified></Contents>",
            "<Contents><Key>a</Key><Size>7</Size><LastModified>yesterday</LastModified></Contents>",
            "<EncodingType>url</EncodingType><Contents><Key>%zz</Key><Size>7</Size>"
                + "<LastModified>2013-05-24T00:00:00Z</LastModified></Contents>",
        ]
    )
    func malformedLists(contents: String) {
        #expect(throws: S3NoAnswer.malformed) { try Self.page(contents) }
    }

    @Test(
        "A malformed or other document is not read",
        arguments: [
            "", "x", "<ListBucketResult>", "<Error/>",
            "<ListBucketResult><Contents></ListBucketResult>", "{\"a\": 1}", "\u{0}",
        ]
    )
    func notWellFormed(text: String) {
        #expect(throws: S3NoAnswer.malformed) {
            try DocumentElement.read(ByteBuffer(string: text), root: "ListBucketResult")
        }
    }

    @Test(
        "Reading ends at a processing instruction",
        arguments: [
            "<?a?>", "<?a?><ListBucketResult/>", "<?xml?><ListBucketResult/>",
            "<?xml version=\"1.0\"?><?a?><ListBucketResult/>", "<ListBucketResult><?a?></ListBucketResult>",
            "<ListBucketResult/><?a?>", "<!DOCTYPE a [<?a?>]><ListBucketResult/>",
        ]
    )
    func instructions(text: String) {
        #expect(throws: S3NoAnswer.malformed) {
            try DocumentElement.read(ByteBuffer(string: text), root: "ListBucketResult")
        }
        _ = ErrorDocument(ByteBuffer(string: text))
    }

    @Test("A name that is not UTF-8 crashes nothing, and what came before it counts")
    func nameNotUTF8() {
        let bytes = Array("<Error><Code>SlowDown</Code><a".utf8) + [0xEF, 0x0E] + Array("/></Error>".utf8)
        #expect(throws: S3NoAnswer.malformed) { try DocumentElement.read(ByteBuffer(bytes: bytes), root: "Error") }
        #expect(ErrorDocument(ByteBuffer(bytes: bytes)).code == "SlowDown")
    }

    @Test("An error is read up to an instruction, and a document with a declaration as a whole")
    func beforeInstruction() throws {
        let error = "<Error><Code>SlowDown</Code><?a?><Message>later</Message></Error>"
        #expect(ErrorDocument(ByteBuffer(string: error)).code == "SlowDown")
        #expect(ErrorDocument(ByteBuffer(string: error)).message == nil)
        let list = "<ListBucketResult><Name>a</Name></ListBucketResult>"
        for declaration in ["", "<?xml version=\"1.0\"?>", "<?xml\r\nversion=\"1.0\" encoding=\"UTF-8\"?>\r\n"] {
            for mark in ["", "\u{FEFF}"] {
                let document = ByteBuffer(string: mark + declaration + list)
                #expect(try DocumentElement.read(document, root: "ListBucketResult")["Name"] == "a", "\(declaration)")
            }
        }
    }

    @Test("An entity that names a file brings nothing of the file")
    func externalEntity() {
        let text = """
            <!DOCTYPE Error [<!ENTITY file SYSTEM "file:///etc/passwd">]>
            <Error><Code>&file;</Code></Error>
            """
        #expect(ErrorDocument(ByteBuffer(string: text)).code?.contains("root") != true)
    }

    @Test("Entities that multiply, and elements without end, are given up in time", .timeLimit(.minutes(1)))
    func bombs() {
        let entities = (1...30).map { "<!ENTITY e\($0) \"&e\($0 - 1);&e\($0 - 1);\">" }.joined()
        let laughs = "<!DOCTYPE Error [<!ENTITY e0 \"ha\">\(entities)]><Error><Code>&e30;</Code></Error>"
        #expect((ErrorDocument(ByteBuffer(string: laughs)).code?.count ?? 0) <= 300)
        let deep = String(repeating: "<a>", count: 20_000)
        #expect(throws: S3NoAnswer.malformed) { try DocumentElement.read(ByteBuffer(string: deep), root: "a") }
    }

    @Test("A request document has the same content when it is parsed")
    func request() throws {
        let key = "a<b>&\"c\" 'd' ü 👍 ]]> +%20"
        var document = RequestDocument("Delete")
        document.add("Quiet", "true")
        document.add("Object", ["Key": key])
        let bytes = document.bytes
        let read = try DocumentElement.read(bytes, root: "Delete")
        #expect(read["Quiet"] == "true")
        #expect(read.all("Object").map { $0["Key"] } == [key])
        #expect(String(buffer: bytes).contains("xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\""))
        #expect(RequestDocument.canHold(key))
        for text in ["\u{0}", "a\u{1}", "\n", "\r", "\t", "\u{FFFE}"] { #expect(!RequestDocument.canHold(text)) }
    }
}
