import Foundation
import HTTPTypes
import ServerProcesses
import Testing

@testable import SelfieWeb

@Suite("The page about errors")
struct ErrorsPageTests {
    @Test("It is what the endpoints' descriptions say: UPDATE_DOCS=1 writes it")
    func page() throws {
        let file = ProjectFolder.root.appending(path: "docs/errors.md")
        let text = ErrorsPage.text
        if ProcessInfo.processInfo.environment["UPDATE_DOCS"] != nil {
            try Data(text.utf8).write(to: file)
        }
        let isEqual = try String(contentsOf: file, encoding: .utf8) == text
        #expect(isEqual, "UPDATE_DOCS=1 bin/test --filter ErrorsPage writes docs/errors.md anew")
    }

    @Test("Codes of parameters have status 400, as the page says")
    func parameters() {
        let ofParameters = ErrorsPage.refusals.filter { ErrorsPage.rule(of: $0.code) != nil }
        #expect(ofParameters.count > 30)
        #expect(ofParameters.filter { $0.status.code != 400 }.map(\.code) == [])
    }

    @Test("Each code has an explanation, and no removed code has one")
    func words() {
        let codes = Set(ErrorsPage.refusals.map(\.code))
        #expect(Set(ErrorTexts.all.keys).subtracting(codes) == [])
        #expect(codes.filter { ErrorTexts.all[$0] == nil && ErrorsPage.rule(of: $0) == nil } == [])
    }
}
