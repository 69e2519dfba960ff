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
        "A malformed line is ignored with a warning that does not show it",
        arguments: [
            ("hunter2", "it is not KEY=value"), ("2KEY=hunter2", "it is not KEY=value"),
            ("=hunter2", "it is not KEY=value"),
            ("KEY hunter2", "it is not KEY=value"), ("export hunter2", "it is not KEY=value"),
            ("KEY=\"hunter2", "a quote is not closed"), ("KEY='a' hunter2", "text follows the closing quote"),
        ]
    )
    func senseless(line: String, reason: String) {
        let file = DotenvFile("A=1\n\(line)\nB=2\n", name: ".env")
        #expect(file.values == ["A": "1", "B": "2"])
        #expect(file.warnings == [".env, line 2 is ignored: \(reason)"])
    }

    @Test("The last of two values is used, with a warning; line numbers count the lines of a quoted value")
    func twice() {
        let file = DotenvFile("A='1\n2'\nA=3\nnonsense", name: ".env")
        #expect(file.values == ["A": "3"])
        #expect(
            file.warnings == [
                ".env, line 3: A is set twice; this value is used",
                ".env, line 4 is ignored: it is not KEY=value",
            ]
        )
    }
}

@Suite("Suggestions for misspelled settings")
struct SuggestionTests {
    @Test(
        "The setting that is meant is found",
        arguments: [
            ("DATABSE_URL", "DATABASE_URL"), ("database_url", "DATABASE_URL"), ("S3_BUCKETNAME", "S3_BUCKET_NAME"),
            ("S3_BUCKET", "S3_BUCKET_NAME"), ("SECRET_KEY", "SECRET_KEY_BASE"),
            ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"),
            ("API_AUTH_PASWORD", "API_AUTH_PASSWORD"), ("RATE_LIMIT", "RATE_LIMITS"), ("LOG_LEVEL_", "LOG_LEVEL"),
            ("LOG_LEVL", "LOG_LEVEL"),
        ]
    )
    func misspelled(name: String, meant: String) {
        #expect(SettingsReader.suggestion(for: name) == meant)
    }

    @Test(
        "There is no suggestion for a setting, or for a name that is similar to none",
        arguments: ["HOME", "PATH", "POST", "LANG", "AWS_PROFILE"]
    )
    func unlike(name: String) {
        #expect(SettingsReader.suggestion(for: name) == nil)
        for name in SettingsReader.keys { #expect(SettingsReader.suggestion(for: name) == nil) }
    }
}
