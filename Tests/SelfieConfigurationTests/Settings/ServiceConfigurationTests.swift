import Foundation
import Logging
import Mail
import Postgres
import ProcessTestSupport
import Push
import S3
import SelfiePhotos
import ServerProcesses
import TestSupport
import Testing

@testable import SelfieAccounts
@testable import SelfieConfiguration

@Suite("The service's configuration")
struct ServiceConfigurationTests {
    private static let required = [
        "DATABASE_URL": "postgresql://user:db-secret@localhost/selfie",
        "API_AUTH_NAME": "app-name-secret",
        "API_AUTH_PASSWORD": "app-password-secret",
        "SECRET_KEY_BASE": "key-base-secret-0123456789-0123456789",
        "S3_BUCKET_NAME": "selfies",
        "AWS_ACCESS_KEY_ID": "access-key-secret",
        "AWS_SECRET_ACCESS_KEY": "secret-access-key-secret",
        "AWS_SESSION_TOKEN": "session-token-secret",
    ]

    private func read(_ changes: [String: String?] = [:]) throws -> ServiceConfiguration {
        var values = Self.required
        for (key, value) in changes { values[key] = value }
        return try ServiceConfiguration(from: ConfigurationSource(values: values))
    }

    private func refusal(_ changes: [String: String?]) throws -> ConfigurationError {
        do {
            _ = try read(changes)
        } catch let error as ConfigurationError {
            return error
        }
        return ConfigurationError(invalidSettings: [])
    }

    @Test("A missing setting has the documented default")
    func defaults() throws {
        let configuration = try read()
        #expect(configuration.postgres.pool.maxConnections == 10)
        #expect(configuration.publicURL == nil)
        #expect(configuration.port == 3000)
        #expect(configuration.maxUploadBytes == 32 * 1024 * 1024)
        #expect(configuration.tokenLifetimeHours == 24)
        #expect(configuration.rememberedLifetimeDays == 90)
        #expect(configuration.passwordHashCost == 12)
        #expect(configuration.recordsQuotaBytes == 67_108_864)
        #expect(configuration.getsTokenWithoutPassword == false)
        #expect(configuration.logLevel == .info)
        #expect(configuration.trustedProxies.origin == .unset && configuration.trustedProxies.count == 0)
        #expect(configuration.rateLimits == RateLimits())
        guard case .s3(let bucket) = configuration.objectStorage else {
            Issue.record("not S3")
            return
        }
        #expect(bucket.configuration.bucket == "selfies")
    }

    @Test("Metrics are served only with a port, and only to this machine unless another address is set")
    func metricsAddress() throws {
        #expect(try read().metricsAddress == nil)
        #expect(try read(["METRICS_HOST": "0.0.0.0"]).metricsAddress == nil)
        let usual = try #require(try read(["METRICS_PORT": "9090"]).metricsAddress)
        #expect(usual.host == "127.0.0.1" && usual.port == 9090)
        let all = try #require(try read(["METRICS_PORT": "0", "METRICS_HOST": "::"]).metricsAddress)
        #expect(all.host == "::" && all.port == 0)
    }

    @Test("Settings that differ from the default are listed, and no secret")
    func differing() throws {
        let defaults = [
            "PORT": "3000", "LOG_LEVEL": "info", "AWS_REGION": "us-east-1", "RATE_LIMITS": "on",
            "RATE_LIMIT_UPLOADS_PER_USER": "500/1h", "PHOTO_DELIVERY": "redirect", "S3_FORCE_PATH_STYLE": "false",
        ]
        #expect(try read(defaults).differingSettings == ["S3_BUCKET_NAME": "selfies"])
        let others = [
            "PORT": "3001", "AWS_REGION": "eu-central-1", "RATE_LIMITS": "off", "PHOTO_DELIVERY": "proxy",
            "RATE_LIMIT_UPLOADS_PER_USER": "5/1h",
        ]
        let differing = try read(others).differingSettings
        #expect(differing == others.merging(["S3_BUCKET_NAME": "selfies"]) { $1 })
    }

    @Test("The source of clients' addresses is described, and Heroku has one proxy unless set otherwise")
    func trustedProxies() throws {
        for (settings, words) in [
            ([:], "a client's address is that of its connection, since TRUSTED_PROXIES is not set"),
            (["TRUSTED_PROXIES": "0"], "a client's address is that of its connection, since TRUSTED_PROXIES is 0"),
            (["TRUSTED_PROXIES": "1"], "a client's address is the last in X-Forwarded-For, since TRUSTED_PROXIES is 1"),
            (
                ["TRUSTED_PROXIES": "3"],
                "a client's address is number 3 from the end of X-Forwarded-For, since TRUSTED_PROXIES is 3"
            ),
            (
                ["DYNO": "web.1"],
                "a client's address is the last in X-Forwarded-For, since DYNO is set, as on Heroku, and TRUSTED_PROXIES is not"
            ),
            (
                ["DYNO": "web.1", "TRUSTED_PROXIES": "0"],
                "a client's address is that of its connection, since TRUSTED_PROXIES is 0"
            ),
        ] {
            #expect("\(try read(settings).trustedProxies)" == words)
        }
    }

    @Test("An empty value is none")
    func empty() throws {
        #expect(try read(["PORT": "", "LOG_LEVEL": "", "PUBLIC_URL": ""]).port == 3000)
        #expect(try refusal(["API_AUTH_NAME": ""]).invalidSettings == [.missing(key: "API_AUTH_NAME", hint: nil)])
    }

    @Test("Values that are set count")
    func values() throws {
        let configuration = try read([
            "PORT": "0", "UPLOAD_BYTES_MAX": "1073741824", "TOKEN_LIFETIME_HOURS": "1", "PASSWORD_HASH_COST": "10",
            "GET_TOKEN_WITHOUT_PASSWORD": "TRUE", "LOG_LEVEL": "Debug", "DATABASE_POOL_SIZE": "500",
            "PUBLIC_URL": "https://selfies.example.com/", "OBJECTS_PATH": "/somewhere", "TRUSTED_PROXIES": "2",
            "RATE_LIMIT_SIGNIN_PER_ACCOUNT": "1/1s", "RATE_LIMIT_SIGNIN_PER_ADDRESS": "2/1m",
            "RATE_LIMIT_SIGNUP_PER_ADDRESS": "3/1h", "RATE_LIMIT_GET_TOKEN_PER_ADDRESS": "4/1d",
            "RATE_LIMIT_TOKEN_GUESSES_PER_ADDRESS": "5/2s", "RATE_LIMIT_UPLOADS_PER_USER": "6/2m", "RATE_LIMITS": "ON",
            "RATE_LIMIT_EXPORTS_PER_USER": "7/2d",
        ])
        #expect(configuration.trustedProxies.count == 2)
        let limits = configuration.rateLimits
        #expect(limits?[.signInPerAccount] == RateLimit(1, per: 1))
        #expect(limits?[.signInPerAddress] == RateLimit(2, per: 60))
        #expect(limits?[.signUpPerAddress] == RateLimit(3, per: 3_600))
        #expect(limits?[.getTokenPerAddress] == RateLimit(4, per: 86_400))
        #expect(limits?[.tokenGuessesPerAddress] == RateLimit(5, per: 2))
        #expect(limits?[.uploadsPerUser] == RateLimit(6, per: 120))
        #expect(limits?[.exportsPerUser] == RateLimit(7, per: 172_800))
        for off in ["off", "false", "0", "No"] { #expect(try read(["RATE_LIMITS": off]).rateLimits == nil) }
        #expect(configuration.port == 0)
        #expect(configuration.maxUploadBytes == 1 << 30)
        #expect(configuration.tokenLifetimeHours == 1)
        #expect(configuration.passwordHashCost == 10)
        #expect(configuration.getsTokenWithoutPassword)
        #expect(configuration.logLevel == .debug)
        #expect(configuration.postgres.pool.maxConnections == 500)
        #expect(configuration.publicURL == "https://selfies.example.com")
        guard case .disk("/somewhere") = configuration.objectStorage else {
            Issue.record("not the disk, which wins over S3")
            return
        }
    }

    @Test(
        "Each number is taken at both ends of its range, and refused one past either",
        arguments: [
            ("PORT", 0, 65_535), ("UPLOAD_BYTES_MAX", 1, 1_073_741_824), ("TOKEN_LIFETIME_HOURS", 1, 8_760),
            ("PASSWORD_HASH_COST", 10, 14), ("DATABASE_POOL_SIZE", 1, 500), ("TRUSTED_PROXIES", 0, 16),
        ]
    )
    func ranges(key: String, min: Int, max: Int) throws {
        for value in [min, max] { _ = try read([key: "\(value)"]) }
        for value in [min - 1, max + 1] {
            let expected = "\(key) is malformed: it must be a whole number from \(min) to \(max)"
            #expect("\(try refusal([key: "\(value)"]))".contains(expected), "\(value)")
        }
    }

    @Test("A key for URLs is taken from 32 characters on")
    func keyLength() throws {
        _ = try read(["SECRET_KEY_BASE": String(repeating: "k", count: 32)])
        #expect(try refusal(["SECRET_KEY_BASE": String(repeating: "k", count: 31)]).invalidSettings.count == 1)
    }

    @Test("Photos are delivered by the bucket, unless it is said otherwise or there is none")
    func delivery() throws {
        #expect(try read().photoMetadata == .strip)
        #expect(try read(["PHOTO_METADATA": "keep"]).photoMetadata == .keep)
        #expect(try read().photoDelivery == .redirect)
        #expect(try read(["PHOTO_DELIVERY": "redirect"]).photoDelivery == .redirect)
        #expect(try read(["PHOTO_DELIVERY": "proxy"]).photoDelivery == .proxy)
        #expect(try read(["OBJECTS_PATH": "/somewhere"]).photoDelivery == .proxy)
        #expect(try read(["OBJECTS_PATH": "/somewhere", "PHOTO_DELIVERY": "proxy"]).photoDelivery == .proxy)
        for value in ["redirect", "x"] {
            let error = try refusal(["OBJECTS_PATH": "/somewhere", "PHOTO_DELIVERY": value])
            #expect("\(error)".contains("PHOTO_DELIVERY is malformed: it must be proxy, or not set, with OBJECTS_PATH"))
        }
    }

    @Test("All keys that are missing are named at once")
    func missing() throws {
        let error = try refusal(Self.required.mapValues { _ in nil })
        let message = "\(error)"
        for key in Self.required.keys where key != "AWS_SESSION_TOKEN" {
            #expect(message.contains("  \(key) is missing"), "\(key)")
        }
        #expect(error.invalidSettings.count == Self.required.count - 1)
        #expect(message.contains("OBJECTS_PATH"))
    }

    @Test("Without SMTP_URL there are no mails, and what needs them is refused")
    func mail() throws {
        #expect(try read().mail == nil)
        let server = ["SMTP_URL": "smtps://user:secret%20word@mail.example.com"]
        let configuration = try read(
            server.merging([
                "MAIL_FROM": "Ada's Selfies <no-reply@example.com>", "APP_NAME": "Ada's", "NOTICES": "signin",
                "APP_URL": "https://selfies.example.com/", "VERIFIED_EMAIL": "required",
                "SIGNUP_WITHOUT_PASSWORD": "true",
            ]) { $1 }
        )
        let mail = try #require(configuration.mail)
        #expect(mail.sender.name == "Ada's Selfies" && mail.sender.address.text == "no-reply@example.com")
        #expect(mail.appName == "Ada's" && mail.appURL == "https://selfies.example.com" && mail.tellsOfSignIns)
        #expect(configuration.needsVerifiedEmail && configuration.signsUpWithoutPassword)
        guard case .server(let found) = mail.destination else { return #expect(Bool(false)) }
        #expect(found.host == "mail.example.com" && found.port == 465)

        #expect(
            "\(try refusal(["SMTP_URL": server["SMTP_URL"]]))".contains("  MAIL_FROM is missing (whom mails are from)")
        )
        for (key, value) in [("VERIFIED_EMAIL", "required"), ("SIGNUP_WITHOUT_PASSWORD", "true")] {
            let message = "\(try refusal([key: value]))"
            #expect(message.contains("  SMTP_URL is missing (\(key)=\(value) sends codes by mail)"))
        }
        // One reason is enough.
        let error = try refusal([
            "SMTP_URL": "mail.example.com", "VERIFIED_EMAIL": "required", "MAIL_FROM": "a@b.example",
        ])
        #expect(error.invalidSettings.count == 1)
    }

    @Test("In development, all mails go into the outbox, whatever the server is")
    func outbox() throws {
        for changes in [[:], ["SMTP_URL": "smtp://mail.example.com", "MAIL_FROM": "a@b.example"]] {
            let source = ConfigurationSource(values: Self.required.merging(changes) { $1 })
            let mail = try #require(try ServiceConfiguration(from: source, outbox: "here").mail)
            guard case .outbox("here") = mail.destination else { return #expect(Bool(false)) }
            #expect(mail.sender.address.text == (changes["MAIL_FROM"] ?? "selfie@selfie.invalid"))
        }
    }

    @Test("All that is malformed of a bucket is named at once, also where the bucket itself is missing")
    func malformedBucket() throws {
        let keys = [
            "S3_BUCKET_NAME", "AWS_REGION", "AWS_ENDPOINT_URL_S3", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
        ]
        var changes = Dictionary(uniqueKeysWithValues: keys.map { ($0, "a secret ü") })
        let message = "\(try refusal(changes))"
        for key in keys { #expect(message.contains("  \(key) is malformed: it must be "), "\(key)") }
        changes["S3_BUCKET_NAME"] = ""
        let error = try refusal(changes)
        #expect("\(error)".contains("  S3_BUCKET_NAME is missing"))
        #expect(error.invalidSettings.count == keys.count)
        #expect(!"\(error)".contains("a secret"))
    }

    private static let malformed = [
        "DATABASE_URL": ["mysql://secret@host/db", "secret"],
        "API_AUTH_NAME": ["name:secret"],
        "SECRET_KEY_BASE": ["short-secret"],
        "PHOTO_DELIVERY": ["secret", "Proxy", "redirect,proxy"],
        "PHOTO_METADATA": ["secret", "Keep", "strip,keep"],
        "PORT": ["-1", "65536", "http-secret", "3000.5", " 3000"],
        "PUBLIC_URL": [
            "secret", "ftp://secret", "https://", "https://user:secret@host", "https://host/?a=secret", "//host",
            "https://host/#secret", "javascript:secret", "https:host",
            "https://host/secret\"", "https://host/secret\\", "https://host/a secret", "https://host/secret\n",
            "https://host/<secret>", "https://host\u{7F}/secret",
        ],
        "UPLOAD_BYTES_MAX": ["0", "-1", "1073741825", "32MB-secret"],
        "TOKEN_LIFETIME_HOURS": ["0", "8761", "a-secret-day"],
        "PASSWORD_HASH_COST": ["9", "21", "secret"],
        "GET_TOKEN_WITHOUT_PASSWORD": ["secret", "ja", "2"],
        "PHOTOS_PER_USER_MAX": ["0", "1000001", "many-secret"],
        "STORAGE_PER_USER_MAX": ["0", "10GiB-secret"],
        "UPLOADS_AT_ONCE_MAX": ["0", "10001", "secret"],
        "UPLOADS_AT_ONCE_PER_USER_MAX": ["0", "-1", "secret"],
        "DOWNLOADS_AT_ONCE_MAX": ["0", "100001", "secret"],
        "DOWNLOADS_AT_ONCE_PER_ADDRESS_MAX": ["0", "-1", "secret"],
        "CONNECTIONS_MAX": ["31", "1000001", "secret"],
        "CONNECTIONS_PER_ADDRESS_MAX": ["0", "secret"],
        "AUDIT_RETENTION_DAYS": ["29", "3651", "secret"],
        "DATABASE_POOL_SIZE": ["0", "501", "secret"],
        "TRUSTED_PROXIES": ["-1", "17", "secret", "10.0.0.1-secret"],
        "RATE_LIMITS": ["secret", "20/15m"],
        "RATE_LIMIT_SIGNIN_PER_ACCOUNT": ["secret", "10", "0/1h"],
        "RATE_LIMIT_SIGNIN_PER_ADDRESS": ["secret/1h"],
        "RATE_LIMIT_PASSWORD_TRIES_PER_ACCOUNT": ["1/secret"],
        "RATE_LIMIT_SIGNUP_PER_ADDRESS": ["1/secret"],
        "RATE_LIMIT_GET_TOKEN_PER_ADDRESS": ["off"],
        "RATE_LIMIT_TOKEN_GUESSES_PER_ADDRESS": ["1/1w"],
        "RATE_LIMIT_UPLOADS_PER_USER": ["-1/1h"], "RATE_LIMIT_RECORD_WRITES_PER_USER": ["0.5/1h"],
        "RATE_LIMIT_INBOX_SENDS_PER_USER": ["secret"], "RATE_LIMIT_EXPORTS_PER_USER": ["secret"],
        "SMTP_URL": ["secret", "http://secret", "smtp://secret@host", "smtp://a:secret@"],
        "MAIL_FROM": ["secret", "Secret <secret>", "a@b\nsecret.example"], "APP_URL": ["secret"],
        "APP_NAME": ["secret \n", String(repeating: "a", count: 61)], "NOTICES": ["secret", "true"],
        "VERIFIED_EMAIL": ["secret", "true"], "SIGNUP_WITHOUT_PASSWORD": ["secret"],
        "RATE_LIMIT_CODES_PER_ACCOUNT": ["secret"], "RATE_LIMIT_CODES_PER_ADDRESS": ["0/1h"],
        "RATE_LIMIT_CODE_TRIES_PER_ACCOUNT": ["20"],
        "RATE_LIMIT_NOTICES_PER_ADDRESS": ["1/1y"], "RATE_LIMIT_CHANGE_MAILS_PER_USER": ["secret"],
        "APNS_URL": ["secret", "ftp://secret"], "APNS_SANDBOX_URL": ["secret"], "FCM_URL": ["secret"],
        "FCM_SERVICE_ACCOUNT": ["secret", "{\"secret\":1}", "/secret/file"], "PUSH_CONTENTS": ["secret", "all", "IDS"],
        "LOG_LEVEL": ["secret", "verbose"],
        "DIRECTORY": ["secret", "true", "member", "Members"],
        "S3_FORCE_PATH_STYLE": ["secret"],
        "S3_BUCKET_NAME": ["Secret Bucket!", "a"],
        "AWS_REGION": ["secret region"],
        "AWS_ENDPOINT_URL_S3": ["secret", "ftp://secret", "https://host/secret?x=y"],
        "AWS_ACCESS_KEY_ID": ["secret with ü"],
        "AWS_SECRET_ACCESS_KEY": ["secret\nline"],
        "AWS_SESSION_TOKEN": ["secret\u{7}"],
    ]

    @Test("Apple needs four settings, Google one; a key may be one line or a file, and nothing of it is shown")
    func pushes() async throws {
        #expect(try !read([:]).sendsPushes)
        let key = PushPeer.apnsKey
        var apple = [
            "APNS_KEY": key, "APNS_KEY_ID": "ABC123DEFG", "APNS_TEAM_ID": "DEF123GHIJ", "APNS_TOPIC": "com.example.app",
        ]
        for form in [key, key.replacing("\n", with: "\\n")] {
            apple["APNS_KEY"] = form
            let configuration = try read(apple)
            #expect(configuration.sendsPushes && configuration.push.apns?.topic == "com.example.app")
            #expect(configuration.push.apns?.productionOrigin == "https://api.push.apple.com")
            #expect(configuration.push.apns?.sandboxOrigin == "https://api.sandbox.push.apple.com")
            #expect(!configuration.push.sendsContents && configuration.push.fcm == nil)
            #expect(!configuration.differingSettings.values.contains { $0.contains("PRIVATE") })
        }
        try await TemporaryFolder.with { folder in
            let file = folder.appending(path: "AuthKey.p8")
            try Data(key.utf8).write(to: file)
            apple["APNS_KEY"] = file.path
            #expect(try read(apple.merging(["PUSH_CONTENTS": "contents"]) { $1 }).push.sendsContents)
        }
        let malformed = [
            "APNS_KEY": ["secret", "/secret", "-----BEGIN PRIVATE KEY-----\nsecret"],
            "APNS_KEY_ID": ["secret", "abc123defg"],
            "APNS_TEAM_ID": ["secret"], "APNS_TOPIC": ["secret topic", "secret/"],
        ]
        for (name, values) in malformed {
            for value in values {
                let message = "\(try refusal(apple.merging([name: value]) { $1 }))"
                #expect(message.contains("  \(name) is malformed") && !message.contains("secret"), "\(message)")
            }
            let changes = Dictionary(uniqueKeysWithValues: apple.map { ($0, $0 == name ? nil : $1) })
            let message = "\(try refusal(changes))"
            #expect(message.contains("  \(name) is missing") && message.contains("belong together"), "\(message)")
        }
    }

    @Test("A malformed value is named by its key and never shown", arguments: malformed.keys.sorted())
    func malformedValue(key: String) throws {
        for value in try #require(Self.malformed[key]) {
            let error = try refusal([key: value])
            let message = "\(error)\(String(reflecting: error))"
            #expect("\(error)".contains("  \(key) is malformed: it must be "), "\(value)")
            #expect(error.invalidSettings.count == 1, "\(value)")
            #expect(!message.localizedCaseInsensitiveContains("secret "), "\(value)")
            #expect(!message.contains("-secret") && !message.contains("secret@"), "\(value)")
        }
    }

    @Test("All that is malformed is named in one message")
    func everythingMalformed() throws {
        let keys = Self.malformed.keys.filter { !$0.hasPrefix("AWS_") && $0 != "S3_BUCKET_NAME" }
        let changes = Dictionary(uniqueKeysWithValues: keys.map { ($0, Self.malformed[$0]?.first) })
        let message = "\(try refusal(changes))"
        for key in keys { #expect(message.contains("  \(key) is malformed"), "\(key)") }
        #expect(RateLimitName.allCases.allSatisfy { keys.contains("RATE_LIMIT_\($0.rawValue)") })
    }

    @Test("No secret shows when the configuration is printed or dumped")
    func secrets() throws {
        let configuration = try read(["PUBLIC_URL": "https://selfies.example.com"])
        var dumped = ""
        dump(configuration, to: &dumped)
        let source = ConfigurationSource(values: Self.required)
        dump(source, to: &dumped)
        for text in [
            dumped, "\(configuration)", String(reflecting: configuration), "\(source)", String(reflecting: source),
        ] {
            #expect(!text.contains("-secret"), "\(text)")
        }
    }

    @Test("Migrations need the database only, and the password transport the password only")
    func parts() throws {
        let postgres = ConfigurationSource(values: ["DATABASE_URL": "postgresql://localhost/selfie"])
        #expect(try postgres.read { $0.postgres() }.url == "postgresql://localhost/selfie")
        let password = ConfigurationSource(values: ["API_AUTH_PASSWORD": "p4ssw0rd"])
        #expect(try password.read { $0.apiPassword() } == "p4ssw0rd")
        #expect(throws: ConfigurationError.self) { try password.read { $0.postgres() } }
        #expect(throws: ConfigurationError.self) { try postgres.read { $0.apiPassword() } }
    }
}
