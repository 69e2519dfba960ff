import ArgumentParser
import SelfieOperations
import SelfieRecords

struct Roles: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List, give and take roles.",
        discussion: "The roles themselves are in the schema file.",
        subcommands: [ListRoles.self, AddRole.self, RemoveRole.self, DisableRole.self, EnableRole.self]
    )

    /// Changes a role, and prints what the change says of it.
    fileprivate static func change(
        _ role: String,
        _ change: (Administration) async throws -> String
    ) async throws {
        do {
            print(try await Administration.run(change))
        } catch RoleError.noRole {
            throw RolesError.noRole(role)
        } catch RoleError.full {
            throw RolesError.full
        }
    }

    fileprivate static func setDisabled(_ role: String, _ isDisabled: Bool) async throws {
        try await change(role) { records in
            let isChanged = try await records.setDisabled(role, isDisabled)
            return "The role \(role) is \(isDisabled ? "disabled" : "enabled") \(isChanged ? "now" : "already")."
        }
    }
}

/// Why a command about roles failed.
private enum RolesError: Error, CustomStringConvertible {
    case noRole(String)
    case full

    var description: String {
        switch self {
        case .noRole(let role): "There is no role \(role). The schema file defines the roles."
        case .full: "A role has at most \(RoleStore.maxMemberCount) members."
        }
    }
}

struct ListRoles: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the roles, or the members of one."
    )

    @Argument(help: "The role; all roles by default.")
    var role: String?

    @OptionGroup var output: OutputOptions

    func run() async throws {
        guard let role else {
            let roles = try await Administration.run { try await $0.roles.list() }
            return try output.print(roles) {
                let rows = roles.map { [$0.name, $0.isDisabled ? "disabled" : "", "\($0.memberCount)"] }
                return TextTable.text([["ROLE", "", "MEMBERS"]] + rows, rightAligned: [2])
            }
        }
        let members = try await Administration.run { records in
            guard try await records.roles.list().contains(where: { $0.name == role }) else {
                throw RolesError.noRole(role)
            }
            return try await records.roles.members(of: role, limit: RoleStore.maxMemberCount)
        }
        try output.print(members) {
            let rows = members.map { member in
                [
                    member.id, Cell.text(member.email), Cell.text("\(member.firstName) \(member.lastName)"),
                    Cell.date(member.addedAt),
                ]
            }
            return TextTable.text([["MEMBER", "E-MAIL", "NAME", "SINCE"]] + rows)
        }
    }
}

/// A role and a user.
struct RoleMemberArguments: ParsableArguments {
    @Argument(help: "The role.")
    var role: String

    @Argument(help: "The user's e-mail, id or member id.")
    var user: UserSelector
}

struct AddRole: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Give a user a role.")

    @OptionGroup var arguments: RoleMemberArguments

    func run() async throws {
        let (role, user) = (arguments.role, arguments.user)
        try await Roles.change(role) { records in
            let isNew = try await records.change(.add, role, of: user)
            return "\(user) has the role \(role) \(isNew ? "now" : "already")."
        }
    }
}

struct RemoveRole: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Take a role from a user.")

    @OptionGroup var arguments: RoleMemberArguments

    func run() async throws {
        let (role, user) = (arguments.role, arguments.user)
        try await Roles.change(role) { records in
            let had = try await records.change(.remove, role, of: user)
            return "\(user) \(had ? "no longer has" : "does not have") the role \(role)."
        }
    }
}

struct DisableRole: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Disable a role: its members have none of its rights until it is enabled."
    )

    @Argument(help: "The role.")
    var role: String

    func run() async throws { try await Roles.setDisabled(role, true) }
}

struct EnableRole: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "enable", abstract: "Enable a disabled role.")

    @Argument(help: "The role.")
    var role: String

    func run() async throws { try await Roles.setDisabled(role, false) }
}
