import Multipart
import ServerProcesses
import Testing

@Suite("The boundary of a Content-Type")
struct MultipartBoundaryTests {
    @Test(
        "is found wherever it stands and however it is written",
        arguments: [
            ("multipart/form-data; boundary=X", "X"),
            ("multipart/form-data;boundary=X", "X"),
            ("multipart/form-data; charset=utf-8; boundary=X", "X"),
            ("multipart/form-data; boundary=X; charset=utf-8", "X"),
            ("multipart/form-data; boundary=\"X\"", "X"),
            ("multipart/form-data; boundary=\"a;b=c, d\"; x=y", "a;b=c, d"),
            (#"multipart/form-data; boundary="a\"b\\c\d""#, #"a"b\cd"#),
            ("multipart/form-data; note=\"; boundary=Y\"; boundary=X", "X"),
            ("Multipart/Form-DATA; BOUNDARY=Xy", "Xy"),
            (" multipart/form-data ;\tboundary = X ; ", "X"),
            ("multipart/form-data;; flag; boundary=\"X\" ;", "X"),
            ("multipart/form-data; boundary=X; boundary=\"X\"", "X"),
            ("multipart/form-data; boundary=a=b", "a=b"),
            ("multipart/form-data; boundary='()+_,-./:=?'", "'()+_,-./:=?'"),
            ("multipart/form-data; boundary=grüße", "grüße"),
            (
                "multipart/form-data; boundary=---------------------------14737809831466499882746641449",
                "---------------------------14737809831466499882746641449"
            ),
            ("multipart/form-data; boundary=--", "--"),
            ("multipart/form-data; boundary=\(seventy)", seventy),
        ]
    )
    func accepted(_ contentType: String, _ boundary: String) throws {
        #expect(try MultipartBoundary(contentType: contentType).bytes == Array(boundary.utf8))
    }

    @Test(
        "is refused if it is missing, empty, too long, ambiguous or broken",
        arguments: [
            ("", .notMultipart),
            ("application/json", .notMultipart),
            ("application/json; boundary=X", .notMultipart),
            ("multipart/mixed; boundary=X", .notMultipart),
            ("multipart/form-datax; boundary=X", .notMultipart),
            ("multipart/form-data boundary=X", .notMultipart),
            ("boundary=X; form-data", .notMultipart),
            ("multipart/form-data", .missingBoundary),
            ("multipart/form-data;", .missingBoundary),
            ("multipart/form-data; boundary", .missingBoundary),
            ("multipart/form-data; xboundary=X", .missingBoundary),
            ("multipart/form-data; x=\"; boundary=X\"", .missingBoundary),
            ("multipart/form-data; boundary=", .invalidBoundary),
            ("multipart/form-data; boundary=; charset=utf-8", .invalidBoundary),
            ("multipart/form-data; boundary=\"\"", .invalidBoundary),
            ("multipart/form-data; boundary=\(seventy)x", .invalidBoundary),
            ("multipart/form-data; boundary=\"a\r\nb\"", .invalidBoundary),
            ("multipart/form-data; boundary=a\nb", .invalidBoundary),
            ("multipart/form-data; boundary=a\0b", .invalidBoundary),
            ("multipart/form-data; boundary=\"a\tb\"", .invalidBoundary),
            ("multipart/form-data; boundary=a\u{7F}", .invalidBoundary),
            ("multipart/form-data; boundary=X; boundary=Y", .conflictingBoundaries),
            ("multipart/form-data; boundary=X; Boundary=x", .conflictingBoundaries),
            ("multipart/form-data; boundary=X; boundary=", .conflictingBoundaries),
            ("multipart/form-data; boundary=X, multipart/form-data; boundary=X", .conflictingBoundaries),
            ("multipart/form-data; boundary=\"X", .malformedHeader),
            (#"multipart/form-data; boundary="X\""#, .malformedHeader),
            ("multipart/form-data; boundary=\"X\"Y", .malformedHeader),
            ("multipart/form-data; boundary=X\"Y\"", .malformedHeader),
            ("multipart/form-data; =X", .malformedHeader),
            ("multipart/form-data; bound ary=X", .malformedHeader),
        ] as [(String, MultipartError)]
    )
    func refused(_ contentType: String, _ error: MultipartError) {
        #expect(throws: error) { try MultipartBoundary(contentType: contentType) }
    }

    private static let seventy = String(repeating: "0123456789", count: 7)
}
