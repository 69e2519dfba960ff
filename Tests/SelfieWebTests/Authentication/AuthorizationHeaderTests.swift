import Foundation
import HTTPTypes
import ServerProcesses
import Testing

@testable import SelfieWeb

@Suite("The Authorization header")
struct AuthorizationHeaderTests {
    @Test(
        "A token is found in every form that clients send",
        arguments: [
            "Token token=abc", #"Token token="abc""#, "Token abc", #"Token "abc""#, "Bearer abc", "bearer abc",
            "token token=abc", "TOKEN token=abc", "BEARER abc", "Token   token=abc", " Token token=abc ",
            "Token token=abc, name=x", #"Token token="abc", name="x""#, "Token token=abc; name=x",
            #"Token token="abc"; name="x""#, "Token token=abc,name=x", "Token token=abc;name=x", "Token abc, k=v",
            "Token token= abc", "Token token=abc\tname=x",
        ]
    )
    func token(value: String) {
        #expect(AuthorizationHeader.token(in: value) == "abc")
    }

    @Test(
        "A blank token is none, nor is one of another scheme",
        arguments: [
            "", " ", "Token", "Token ", "Token token=", #"Token token="""#, #"Token token=" ""#,
            #"Token """#, "Token ,", "Token token=,k=v", #"Token token="", k=v"#, "Token token= ", "Bearer", "Bearer ",
            "Basic abc", "Digest abc", "Tokens abc", "Tokentoken=abc", "abc", "token=abc", "Token \u{A0}",
        ]
    )
    func noToken(value: String) {
        #expect(AuthorizationHeader.token(in: value) == nil)
    }

    @Test(
        "A credential is split at its first colon",
        arguments: [
            ("name:password", "name", "password"), ("name:pass:word:", "name", "pass:word:"),
            (":password", "", "password"),
            ("name:", "name", ""), (":", "", ""), ("nämé:pässwörd", "nämé", "pässwörd"), ("a b: c ", "a b", " c "),
        ]
    )
    func credential(text: String, name: String, password: String) throws {
        let padded = Data(text.utf8).base64EncodedString()
        let bare = padded.replacing("=", with: "")
        for header in ["Basic \(padded)", "basic \(bare)", "BASIC    \(padded)", "Basic \(bare) ", " bAsIc \(padded)"] {
            let found = try #require(AuthorizationHeader.basicCredential(in: header), "\(header)")
            #expect(found.name == name)
            #expect(found.password == password)
        }
    }

    @Test(
        "Other texts are not credentials",
        arguments: [
            "", "Basic", "Basic ", "Basic =", "Basic ====", "Basic !!!!", "Basic bmFtZQ==", "Basic a", "Token bmFtZTpw",
            "bmFtZTpw", "Basicbmftztpw", "Basic name:password", "Basic bmFt ZTpw", "Basic /////w==", "Basic ü",
        ]
    )
    func noCredential(value: String) {
        #expect(AuthorizationHeader.basicCredential(in: value) == nil)
    }

    @Test("Several headers in one request are joined, as RFC 9110 says", arguments: 0..<4)
    func several(count: Int) {
        var headers: HTTPFields = [.accept: "*/*"]
        for number in 0..<count { headers.append(HTTPField(name: .authorization, value: "Token \(number)")) }
        headers.append(HTTPField(name: .userAgent, value: "test"))
        let expected = [nil, "Token 0", "Token 0, Token 1", "Token 0, Token 1, Token 2"]
        #expect(AuthorizationHeader.value(in: headers) == expected[count])
    }
}
