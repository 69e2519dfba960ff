import Foundation
import SelfieClient
import Testing

@Suite("Requests of the client")
struct TransportRequestTests {
    @Test("No description has a token, a signature or a body")
    func descriptions() throws {
        let request = TransportRequest(
            method: "PUT",
            url: try #require(URL(string: "https://selfies.example.com/api/devices/d3v1ce?signature=s1gned")),
            headers: ["Authorization": "Bearer t0ken"],
            body: .data(Data("c0ntents".utf8))
        )
        var dump = ""
        Swift.dump(request, to: &dump)
        #expect("\(request)" == "PUT request with Authorization")
        for text in ["\(request)", String(reflecting: request), dump] {
            #expect(!["d3v1ce", "s1gned", "t0ken", "c0ntents"].contains { text.contains($0) })
        }
    }
}
