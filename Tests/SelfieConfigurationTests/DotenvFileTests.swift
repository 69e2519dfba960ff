import Testing

@testable import SelfieConfiguration

@Suite("The file .env")
struct DotenvFileTests {
    @Test(
        "A line is read as other dotenv tools read it",
        arguments: [
            ("KEY=value", "value"), ("export KEY=value", "value"), ("  KEY = value  ", "value"), ("KEY=", ""),
            ("KEY=\"two words\"", "two words"), ("KEY='two words' # a comment", "two words"),
            ("KEY=value # a comment", "value"), ("KEY=value\t#comment", "value"), ("KEY=a#b", "a#b"),
            ("KEY= # none", ""), ("KEY=\t#none", ""), ("KEY=  'a' # b", "a"), ("KEY=#b", "#b"),
            ("KEY=\"a # b\"", "a # b"), (#"KEY="a\n\t\"\\\$b\q""#, "a\n\t\"\\$b\\q"), (#"KEY='a\n"b'"#, #"a\n"b"#),
            ("KEY=a\"b\"", "a\"b\""), ("KEY=\"a\nb\"\nOTHER=c", "a\nb"), ("KEY=$OTHER", "$OTHER"),
            ("KEY=value\r\nOTHER=x\r\n", "value"), ("# a comment\n\nKEY=value", "value"), ("KEY=a=b==", "a=b=="),
            ("KEY=ü 👍", "ü 👍"),
        ]
    )
    func values(text: String, value: String) {
        let file = DotenvFile(text, name: ".env")
        #expect(file.values["KEY"] == value)
        #expect(file.warnings.isEmpty)
    }

    @Test(
        "A line that makes no sense is told, without its contents, and the next one counts",
        arguments: [
            ("hunter2", "it is no KEY=value"), ("2KEY=hunter2", "it is no KEY=value"),
            ("=hunter2", "it is no KEY=value"),
            ("KEY hunter2", "it is no KEY=value"), ("export hunter2", "it is no KEY=value"),
            ("KEY=\"hunter2", "its quote does not end"), ("KEY='a' hunter2", "something follows the quote"),
        ]
    )
    func senseless(line: String, reason: String) {
        let file = DotenvFile("A=1\n\(line)\nB=2\n", name: ".env")
        #expect(file.values == ["A": "1", "B": "2"])
        #expect(file.warnings == [".env, line 2: \(reason), so the line is left out"])
    }

    @Test("The last of two values counts, which is told; lines are numbered beyond a value of several")
    func twice() {
        let file = DotenvFile("A='1\n2'\nA=3\nnonsense", name: ".env")
        #expect(file.values == ["A": "3"])
        #expect(
            file.warnings == [
                ".env, line 3: A is there twice, and this value counts",
                ".env, line 4: it is no KEY=value, so the line is left out",
            ]
        )
    }
}

@Suite("Names of settings")
struct SettingNameTests {
    @Test(
        "A name that is like a setting's is found",
        arguments: [
            ("DATABSE_URL", "DATABASE_URL"), ("database_url", "DATABASE_URL"), ("S3_BUCKETNAME", "S3_BUCKET_NAME"),
            ("S3_BUCKET", "S3_BUCKET_NAME"), ("SECRET_KEY", "SECRET_KEY_BASE"),
            ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"),
            ("API_AUTH_PASWORD", "API_AUTH_PASSWORD"), ("RATE_LIMIT", "RATE_LIMITS"), ("LOG_LEVEL_", "LOG_LEVEL"),
            ("LOG_LEVL", "LOG_LEVEL"),
        ]
    )
    func resembling(name: String, meant: String) {
        #expect(SettingName.resembling(name) == meant)
    }

    @Test(
        "Settings, and names that are like none, are let alone",
        arguments: ["HOME", "PATH", "POST", "LANG", "AWS_PROFILE"]
    )
    func unlike(name: String) {
        #expect(SettingName.resembling(name) == nil)
        for name in SettingName.all { #expect(SettingName.resembling(name) == nil) }
    }
}
