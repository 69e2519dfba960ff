import Encodings
import FoundationEssentials

/// The texts of mails: the built-in ones, or an operator's.
package struct MailTemplates: Sendable {
    /// What stands in a template for text that differs.
    package enum Placeholder: String, Sendable, CaseIterable {
        /// The app's name.
        case app
        /// The app's URL, or its name if it has none.
        case link
        /// The digits of a code.
        case code
        /// How many minutes a code works.
        case minutes
        /// When it happened.
        case time
        /// The network that the request came from.
        case place
        /// Who did it.
        case actor
        /// The name of a collection.
        case collection
        /// What has changed there, a line each.
        case changes
    }

    private var templates: [MailKind: MailTemplate]

    /// The built-in ones.
    package init() {
        templates = Dictionary(
            uniqueKeysWithValues: MailKind.allCases.map { kind in
                guard let template = try? MailTemplate(kind.builtInText, for: kind) else {
                    preconditionFailure("a built-in template is malformed")
                }
                return (kind, template)
            }
        )
    }

    /// Those of a folder; a kind without a file keeps its built-in text.
    ///
    /// - Parameter folder: Its files are named as kinds, such as `reset_code.txt`.
    /// - Throws: `MailTemplateErrors` with all that is wrong.
    package init(folder: String) throws(MailTemplateErrors) {
        self.init()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        guard !names.isEmpty else { throw MailTemplateErrors(errors: [MailTemplateError(file: folder, .noFiles)]) }
        var errors: [MailTemplateError] = []
        for name in names.sorted() where name.hasSuffix(Self.suffix) {
            do {
                guard let kind = MailKind(rawValue: String(name.dropLast(Self.suffix.count))) else {
                    throw MailTemplateError.Reason.unknownName
                }
                templates[kind] = try MailTemplate(try Self.read("\(folder)/\(name)"), for: kind)
            } catch let reason as MailTemplateError.Reason {
                errors.append(MailTemplateError(file: name, reason))
            } catch {
                errors.append(MailTemplateError(file: name, .unreadable))
            }
        }
        guard errors.isEmpty else { throw MailTemplateErrors(errors: errors) }
    }

    private static let suffix = ".txt"
    private static let maxBytes = 64 * 1024

    private static func read(_ path: String) throws -> String {
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        guard size <= maxBytes else { throw MailTemplateError.Reason.tooLarge }
        let bytes = try Data(contentsOf: URL(filePath: path))
        guard let text = String(validating: bytes, as: UTF8.self) else { throw MailTemplateError.Reason.noUTF8 }
        return text
    }

    /// Subject and text of a mail.
    ///
    /// - Parameters:
    ///   - kind: What it is about.
    ///   - values: What placeholders stand for.
    /// - Returns: Both filled.
    func mail(_ kind: MailKind, _ values: [Placeholder: String]) -> (subject: String, text: String) {
        templates[kind]?.filled(with: values) ?? ("", "")
    }
}

/// Subject and text of a kind of mail, with placeholders such as `{app}`.
struct MailTemplate: Sendable {
    private let subject: String
    private let text: String

    /// Reads a template: a line `Subject: …`, an empty line, and the text.
    ///
    /// - Throws: `MailTemplateError.Reason`.
    init(_ template: String, for kind: MailKind) throws(MailTemplateError.Reason) {
        let template = template.replacing("\r\n", with: "\n")
        let head = template.prefix { $0 != "\n" }
        let rest = template.dropFirst(head.count)
        guard head.hasPrefix("Subject:"), rest.hasPrefix("\n\n") else { throw .noSubject }
        subject = head.dropFirst("Subject:".count).trimmingWhitespace()
        text = rest.trimmingWhitespace() + "\n"
        guard !subject.isEmpty else { throw .noSubject }
        let allowed = kind.placeholders
        for match in template.matches(of: /\{([a-z_]+)\}/) {
            let name = String(match.1)
            guard let placeholder = MailTemplates.Placeholder(rawValue: name), allowed.contains(placeholder) else {
                throw .unknownPlaceholder(name)
            }
        }
        if kind.hasCode, !text.contains("{code}") { throw .noCode }
    }

    func filled(with values: [MailTemplates.Placeholder: String]) -> (subject: String, text: String) {
        (Self.fill(subject, with: values), Self.fill(text, with: values))
    }

    /// In one pass, so that a value can't be taken for a placeholder.
    private static func fill(_ text: String, with values: [MailTemplates.Placeholder: String]) -> String {
        text.replacing(/\{([a-z_]+)\}/) { match in
            MailTemplates.Placeholder(rawValue: String(match.1)).flatMap { values[$0] } ?? String(match.0)
        }
    }
}

/// What is wrong with the files of templates.
package struct MailTemplateErrors: Error, CustomStringConvertible {
    /// At least one.
    package let errors: [MailTemplateError]

    package var description: String { errors.map(\.description).joined(separator: "\n") }
}

/// What is wrong with a file of a template.
package struct MailTemplateError: Error, CustomStringConvertible {
    package enum Reason: Error, Equatable {
        /// The folder has no file, or can't be read.
        case noFiles
        case unreadable
        case tooLarge
        case noUTF8
        case unknownName
        case noSubject
        case unknownPlaceholder(String)
        /// A mail with a code does not say it.
        case noCode
    }

    package let file: String
    package let reason: Reason

    init(file: String, _ reason: Reason) { (self.file, self.reason) = (file, reason) }

    package var description: String {
        let names = MailKind.allCases.map { "\($0.rawValue).txt" }.joined(separator: ", ")
        return switch reason {
        case .noFiles: "The folder \(file) of MAIL_TEMPLATES can't be read, or is empty."
        case .unreadable: "The template \(file) can't be read."
        case .tooLarge: "The template \(file) has more than 64 KiB."
        case .noUTF8: "The template \(file) is not UTF-8."
        case .unknownName: "There is no mail \(file). The templates are \(names)."
        case .noSubject: "The template \(file) must begin with a line \"Subject: …\" and an empty line."
        case .unknownPlaceholder(let name): "The template \(file) has {\(name)}, which is not known for this mail."
        case .noCode: "The template \(file) must have {code} in its text."
        }
    }
}
