/// Why a member can't be blocked.
package enum BlockError: Error {
    case noSuchMember
    case isOneself
    case tooMany
}
