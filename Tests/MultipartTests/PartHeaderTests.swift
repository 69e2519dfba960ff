import Multipart
import Testing

@Suite("The header of a part")
struct PartHeaderTests {
    @Test(
        "names the field and the file, whoever wrote it",
        arguments: [
            (#"Content-Disposition: attachment; name="image"; filename="photo""#, "image", "photo"),
            (#"Content-Disposition: form-data; name="a""#, "a", nil),
            (#"Content-Disposition: x-whatever; name="a""#, "a", nil),
            (#"Content-Disposition:form-data;name="a";filename="f""#, "a", "f"),
            (#"CONTENT-DISPOSITION:   Form-Data ; NAME = a ; FileName = f  "#, "a", "f"),
            (#"content-disposition: form-data; filename="f"; name="a""#, "a", "f"),
            (#"Content-Disposition: form-data; name="a"; filename="a;b.png""#, "a", "a;b.png"),
            (#"Content-Disposition: form-data; name="a;b"; filename="; name=c""#, "a;b", "; name=c"),
            (#"Content-Disposition: form-data; name="a"; filename="say \"hi\".png""#, "a", #"say "hi".png"#),
            (#"Content-Disposition: form-data; name="a"; filename="a\\b.png""#, "a", #"a\b.png"#),
            (#"Content-Disposition: form-data; name="a"; filename="C:\dir\a.png""#, "a", #"C:\dir\a.png"#),
            (#"Content-Disposition: form-data; name="%22a%22"; filename="%22b%0D%0A%41%2""#, "\"a\"", "\"b%0D%0A%41%2"),
            (#"Content-Disposition: form-data; name="a"; filename="grüße 😀.png""#, "a", "grüße 😀.png"),
            (#"Content-Disposition: form-data; name=a; filename=my photo.png"#, "a", "my photo.png"),
            (#"Content-Disposition: form-data; name=a; filename=" ""#, "a", " "),
            (#"Content-Disposition: form-data; name=a; name="a"; flag;; x="#, "a", nil),
        ] as [(String, String, String?)]
    )
    func named(_ line: String, _ name: String, _ filename: String?) throws {
        let outcome = try outcome(ofPartWith: line)
        #expect(outcome.parts.map(\.part) == [MultipartPart(name: name, filename: filename)])
        #expect(outcome.parts.first?.part.kind == (filename == nil ? .field : .file))
        #expect(outcome.error == nil)
    }

    @Test(
        "prefers an extended file name that can be read",
        arguments: [
            ("filename=\"plain\"; filename*=UTF-8''%e2%82%AC%20rates.png", "€ rates.png"),
            ("filename*=utf-8'en'na%C3%AFve.png; filename=\"plain\"", "naïve.png"),
            ("filename*=\"UTF-8''it's.png\"", "it's.png"),
            ("filename*=UTF-8''%22%0D", "\"\r"),
            ("filename*=UTF-8''%FF.png", "\u{FFFD}.png"),
            ("filename=\"plain\"; filename*=ISO-8859-1''%E9.png", "plain"),
            ("filename=\"plain\"; filename*=UTF-8''%4", "plain"),
            ("filename=\"plain\"; filename*=UTF-8''%zz", "plain"),
            ("filename=\"plain\"; filename*=UTF-8", "plain"),
            ("filename=\"plain\"; filename*=UTF-8''", "plain"),
            ("filename=\"\"; filename*=UTF-8''a.png", "a.png"),
            ("filename*=nonsense", nil),
        ]
    )
    func extended(_ parameters: String, _ filename: String?) throws {
        let outcome = try outcome(ofPartWith: "Content-Disposition: form-data; name=a; \(parameters)")
        #expect(outcome.parts.map(\.part) == [MultipartPart(name: "a", filename: filename)])
    }

    @Test(
        "has a part skipped if it names no field, or a file that was not chosen",
        arguments: [
            "Content-Disposition: form-data; name=a; filename=\"\"",
            "Content-Disposition: form-data; name=a; filename=",
            "Content-Disposition: form-data; name=a; filename*=UTF-8''",
            "Content-Disposition: form-data; name=a; filename=\"\"; filename*=UTF-8''",
            "Content-Disposition: form-data",
            "Content-Disposition: form-data; filename=f",
            "Content-Disposition: form-data; name=\"\"",
            "Content-Type: text/plain",
        ]
    )
    func skipped(_ line: String) throws {
        let outcome = try outcome(ofPartWith: line)
        #expect(outcome.parts.isEmpty)
        #expect(outcome.error == nil)
    }

    @Test(
        "gives the content type as it was sent",
        arguments: [
            ("Content-Type: image/png", "image/png"),
            ("content-type:Text/Plain; charset=\"utf-8\" ", "Text/Plain; charset=\"utf-8\""),
            ("Content-Type:", nil),
            ("Content-Type: \t ", nil),
            ("X-Content-Type: image/png", nil),
        ]
    )
    func contentType(_ line: String, _ contentType: String?) throws {
        let outcome = try outcome(ofPartWith: line, "Content-Disposition: form-data; name=a", "X-Other: y")
        #expect(outcome.parts == [.field("a", "x", contentType: contentType)])
    }

    @Test("replaces what is not UTF-8 in a name, and leaves contents alone")
    func invalidUTF8() throws {
        let line = Array("Content-Disposition: form-data; name=\"n".utf8) + [0xC3] + Array("\"; filename=\"f".utf8)
        let body = lines("--b", "") + line + [0xFF] + lines("\"", "", "") + [0xC3, 0x28] + lines("", "--b--")
        #expect(try outcome(of: body).parts == [.file("n\u{FFFD}", "f\u{FFFD}", [0xC3, 0x28])])
    }

    @Test(
        "is malformed if it can be read in two ways or not at all",
        arguments: [
            "Content-Disposition: form-data; name=a; name=b",
            "Content-Disposition: form-data; name=a; filename=f; FILENAME=g",
            "Content-Disposition: form-data; name=a; filename*=UTF-8''f; filename*=UTF-8''g",
            "Content-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=a",
            "Content-Disposition: form-data; name=a\r\nContent-Type: a/b\r\ncontent-type: a/b",
            "Content-Disposition: form-data; name=\"a",
            "Content-Disposition: form-data; name=\"a\\\"",
            "Content-Disposition: form-data; name=\"a\"b",
            "Content-Disposition: form-data; name=a\"b",
            "Content-Disposition: form-data; \"name\"=a",
            "Content-Disposition: form-data; =a",
            "Content-Disposition: form-data; name=a; \"flag",
            "Content-Disposition: name=\"a\"",
            "Content-Disposition:",
            "Content-Disposition : form-data; name=a",
            "Content-Disposition form-data; name=a",
            " Content-Disposition: form-data; name=a",
            "\tX: y",
            ": y",
            "X",
            "X\u{212A}: y",
            "X: y\r\n folded",
            "X: y\nZ: y",
            "X: y\rZZ: y",
            "X: \0",
        ]
    )
    func malformed(_ line: String) throws {
        #expect(try outcome(ofPartWith: line).error == .malformedHeader)
    }
}
