import ArgumentParser
import SelfieOperations
import SelfieRecords

struct Roles: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List, give and take roles.",
        discussion: "The roles themselves are in the schema file.",
        subcommands: [ListRoles.self, AddRole.self, RemoveRole.self, DisableRole.self, EnableRole.self]
    )

    /// The role does not exist.
    static func naming(_ role: String, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch RoleError.noRole {
            throw RolesError.noRole(role)
        } catch RoleError.full {
            throw RolesError.full
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
        try await Administration.run { records in
            try await Roles.naming(role) {
                let isNew = try await records.change(.add, role, of: user)
                print(isNew ? "\(user) has the role \(role) now." : "\(user) has the role \(role) already.")
            }
        }
    }
}

struct RemoveRole: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Take a role from a user.")

    @OptionGroup var arguments: RoleMemberArguments

    func run() async throws {
        let (role, user) = (arguments.role, arguments.user)
        try await Administration.run { records in
            try await Roles.naming(role) {
                let had = try await records.change(.remove, role, of: user)
                print(had ? "\(user) no longer has the role \(role)." : "\(user) does not have the role \(role).")
            }
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

    func run() async throws {
        try await Administration.run { records in
            try await Roles.naming(role) {
                let isChanged = try await records.setDisabled(role, true)
                print(isChanged ? "The role \(role) is disabled now." : "The role \(role) is disabled already.")
            }
        }
    }
}

struct EnableRole: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "enable", abstract: "Enable a disabled role.")

    @Argument(help: "The role.")
    var role: String

    func run() async throws {
        try await Administration.run { records in
            try await Roles.naming(role) {
                let isChanged = try await records.setDisabled(role, false)
                print(isChanged ? "The role \(role) is enabled now." : "The role \(role) is enabled already.")
            }
        }
    }
}
