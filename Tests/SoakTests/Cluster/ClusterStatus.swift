import Foundation

/// What `bin/cluster status` prints.
struct ClusterStatus {
    /// A process that does not run.
    struct DeadProcess: Hashable, CustomStringConvertible {
        let host: String
        let name: String

        var description: String { "\(name) of \(host)" }
    }

    let text: String

    private var lines: [Substring] { text.split(separator: "\n") }

    /// Whether nothing is missing.
    var isWhole: Bool {
        func count(_ text: String) -> Int { lines.count { $0.contains(text) } }
        return count(" leader running") == 1 && count(" sync_standby ") == 1
            && count(" streaming ") + count("standby running") + count("replica running") == 2
            && count("DOES NOT RUN") == 0 && count("no answer") == 0 && count(#""ready":false"#) == 0
            && !text.contains("degraded") && !text.contains("peering") && !text.contains("osd down")
            && !text.contains("osds down") && !text.contains("no monitor answers")
    }

    /// The processes that do not run; nil when the text does not tell.
    ///
    /// The command looks for processes on this machine, not over the cluster's network. So a host that others do not reach
    /// makes no other one look dead.
    var dead: [DeadProcess]? {
        guard let start = lines.firstIndex(of: "Hosts:") else { return nil }
        return lines[start...].flatMap { line in
            line.split(separator: ",").filter { $0.hasSuffix(" DOES NOT RUN") }.compactMap { part -> DeadProcess? in
                guard let host = line.split(separator: " ").first, let name = part.split(separator: " ").first else {
                    return nil
                }
                return DeadProcess(host: String(host), name: String(name))
            }
        }
    }

    /// The processes that have ended by themselves, beside those that were lost.
    ///
    /// - Parameter lost: What was lost and is not back yet; nil for nothing.
    /// - Returns: A few words each.
    func problems(without lost: LostPart?) -> [String] {
        guard let dead else { return ["the status has no hosts: \(text)"] }
        return dead.filter { lost?.includes($0) != true }.map { process in
            "\(process) has ended by itself\(lost.map { ", while \($0) was lost" } ?? "")"
        }
    }
}

/// What `bin/cluster lose` has taken away.
struct LostPart: CustomStringConvertible {
    /// A process, `network`, `packets` or `power`; nil for the whole host.
    let part: String?
    let host: String

    var description: String { "\(part.map { "\($0) of " } ?? "")\(host)" }

    /// Reads the command's output; nil when it does not say that something was lost.
    init?(_ output: String) {
        guard let match = output.firstMatch(of: /Lost: (?:(\w+) of )?(\w+)\. To undo it/) else { return nil }
        (part, host) = (match.output.1.map { String($0) }, String(match.output.2))
    }

    /// Whether a process was ended with it.
    func includes(_ process: ClusterStatus.DeadProcess) -> Bool {
        guard process.host == host else { return false }
        return switch part {
        case nil, "power": true
        // Everything runs on, and reaches nobody.
        case "network", "packets": false
        // PostgreSQL is none of these: Patroni starts it, and starts it again.
        default: process.name == part
        }
    }
}
