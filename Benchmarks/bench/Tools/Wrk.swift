import Foundation

/// The HTTP load generator.
struct Wrk: Sendable {
    /// The requests to send.
    enum Load: Sendable {
        /// The lists of the users with 20 photos, one after another.
        case lists
        /// The same lists, each connection 10 ms after an answer.
        case pacedLists
        /// Probes of health: 1,000 a second, if there are 11 connections and the service answers at once.
        case probes
        /// The list of a user without photos.
        case emptyList
        /// The list of 10,000 photos, which the client has already.
        case unchangedLongList(tag: String)
        /// The answer that needs no database.
        case welcome
        /// Sign-ins of one user.
        case signIns
        /// A photo, by its full URL.
        case photo
        /// New records with two readers each, by the users with 20 photos.
        case newRecords
        /// The same, each connection 20 ms after an answer.
        case pacedRecords
        /// The newest 50 records of a user.
        case newestRecords(token: String)
    }

    /// For scripts.
    let folder: URL

    /// Keeps a number of connections busy.
    ///
    /// - Parameters:
    ///   - load: The requests to send.
    ///   - origin: The server.
    ///   - connections: How many requests are under way at any time.
    ///   - seconds: For how long.
    /// - Returns: Its measurement.
    /// - Throws: `BenchError` with wrk's output.
    func run(_ load: Load, at origin: String, connections: Int, seconds: Int) async throws -> LoadMeasurement {
        // One thread is enough to keep two cores busy, and leaves more time to the server than two.
        let options = ["-t", "1", "-c", "\(connections)", "-d", "\(seconds)s", "--timeout", "10s", "--latency"]
        return try WrkOutput.measurement(try await Tool.run("wrk", options + request(load, origin)))
    }

    /// Runs a load while another one runs, which begins a second before and ends after it.
    ///
    /// - Returns: The measurements of both.
    /// - Throws: `BenchError` with wrk's output.
    func run(
        _ load: Load,
        connections: Int,
        beside other: Load,
        connections otherConnections: Int,
        at origin: String,
        seconds: Int
    ) async throws -> (LoadMeasurement, LoadMeasurement) {
        async let otherMeasurement = run(other, at: origin, connections: otherConnections, seconds: seconds + 2)
        try await Task.sleep(for: .seconds(1))
        let measurement = try await run(load, at: origin, connections: connections, seconds: seconds)
        return (measurement, try await otherMeasurement)
    }

    private func request(_ load: Load, _ origin: String) throws -> [String] {
        switch load {
        case .lists: try script("lists", Self.listScript) + [origin]
        case .pacedLists: try script("paced-lists", Self.listScript + Self.delay(milliseconds: 10)) + [origin]
        case .probes: try script("probes", Self.delay(milliseconds: 10)) + [origin + "/readyz"]
        case .emptyList: list(BenchData.emptyListToken, origin)
        case .unchangedLongList(let tag): ["-H", "If-None-Match: \(tag)"] + list(BenchData.longListToken, origin)
        case .welcome: [origin + "/"]
        case .signIns: try script("sign-ins", try Self.signInScript()) + [origin + "/api/signin"]
        case .photo: [origin]
        case .newRecords: try script("records", Self.newRecordScript) + [origin + "/api/records/messages"]
        case .pacedRecords:
            try script("paced-records", Self.newRecordScript + Self.delay(milliseconds: 20))
                + [origin + "/api/records/messages"]
        case .newestRecords(let token):
            ["-H", "Authorization: Token token=\(token)", origin + "/api/records/notes?order=-created&limit=50"]
        }
    }

    /// Writes a script.
    ///
    /// - Returns: The arguments with which wrk runs it.
    private func script(_ name: String, _ lua: String) throws -> [String] {
        let file = folder.appending(path: "\(name).lua")
        try lua.write(to: file, atomically: true, encoding: .utf8)
        return ["-s", file.path]
    }

    private func list(_ token: String, _ origin: String) -> [String] {
        ["-H", "Authorization: Token token=\(token)", origin + "/api/get_photos"]
    }

    private static let listScript = requestsInTurn(
        """
        return wrk.format("GET", "/api/get_photos", {["Authorization"] = "Token token=token-" .. i})
        """
    )

    /// Users write in turn, to readers that no other user names at the same moment.
    private static let newRecordScript = requestsInTurn(
        """
        local headers = {["Authorization"] = "Token token=token-" .. i, ["Content-Type"] = "application/json"}
        local first, second = i + i * 37 % 498, i + 499 + i * 91 % 498
        local readers = string.format('["member%020d","member%020d"]', first % users + 1, second % users + 1)
        local data = '\(BenchRecords.message(topic: "topic-0"))'
        return wrk.format("POST", nil, headers, '{"readers":' .. readers .. ',"data":' .. data .. '}')
        """
    )

    /// A script that sends a request of each user, one after another.
    ///
    /// All requests are made beforehand, so that the load generator takes little time from the server.
    ///
    /// - Parameter body: Returns the request of the user `i`, of `users`, in Lua.
    /// - Returns: The script.
    private static func requestsInTurn(_ body: String) -> String {
        """
        local requests, n, users = {}, 0, \(BenchData.userCount)
        local function request_of(i)
        \(body)
        end
        function init(arguments)
          for i = 1, users do
            requests[i] = request_of(i)
          end
        end
        function request()
          n = n % #requests + 1
          return requests[n]
        end
        """
    }

    /// Each connection waits after an answer.
    private static func delay(milliseconds: Int) -> String {
        """

        function delay()
          return \(milliseconds)
        end
        """
    }

    private static func signInScript() throws -> String {
        """
        wrk.method = "POST"
        wrk.headers["Authorization"] = "\(Credentials.basic)"
        wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
        wrk.body = "\(try Credentials.signInForm())"
        """
    }
}
