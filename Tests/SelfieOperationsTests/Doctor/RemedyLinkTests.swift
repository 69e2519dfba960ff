import Foundation
import ServerProcesses
import Testing

@Suite("Links in doctor's remedies")
struct RemedyLinkTests {
    @Test("Each heading of the documentation that doctor names exists")
    func headings() throws {
        let folder = ProjectFolder.root.appending(path: "Sources/SelfieOperations/Doctor")
        let code = try FileManager.default.contentsOfDirectory(atPath: folder.path).map { name in
            try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        }.joined()
        let links = Set(code.matches(of: /(docs\/[a-z]+\.md)#([a-z-]+)/).map { [String($0.1), String($0.2)] })
        #expect(links.count > 5)
        for link in links {
            let page = try String(contentsOf: ProjectFolder.root.appending(path: link[0]), encoding: .utf8)
            let headings = page.matches(of: /(?m)^#+ (.+)$/).map { match in
                match.1.lowercased().filter { $0.isLetter || $0 == " " || $0 == "-" }.replacing(" ", with: "-")
            }
            #expect(headings.contains(link[1]), "\(link.joined(separator: "#"))")
        }
    }
}
