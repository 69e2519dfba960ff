import Testing

@testable import S3

/// Which settings are taken, and where they lead.
struct S3ConfigurationTests {
    struct Case: Sendable {
        var bucket = "photos"
        var endpoint: String?
        var forcePathStyle = false
        let url: String
    }

    @Test(
        "The bucket is in the host's name if possible, otherwise in the path",
        arguments: [
            Case(url: "https://photos.s3.eu-west-1.amazonaws.com/k"),
            Case(forcePathStyle: true, url: "https://s3.eu-west-1.amazonaws.com/photos/k"),
            Case(bucket: "my.photos", url: "https://s3.eu-west-1.amazonaws.com/my.photos/k"),
            Case(endpoint: "http://127.0.0.1:9000", url: "http://127.0.0.1:9000/photos/k"),
            Case(endpoint: "http://[::1]:9000/", url: "http://[::1]:9000/photos/k"),
            Case(endpoint: "http://localhost:9000", url: "http://localhost:9000/photos/k"),
            Case(endpoint: "https://store.example:443", url: "https://photos.store.example/k"),
            Case(endpoint: "http://store.example:80", url: "http://photos.store.example/k"),
            Case(endpoint: "http://store.example:443", url: "http://photos.store.example:443/k"),
            Case(endpoint: "HTTPS://Store.Example", url: "https://photos.store.example/k"),
        ]
    )
    func addressing(_ testCase: Case) throws {
        let configuration = try S3Configuration(
            bucket: testCase.bucket,
            region: "eu-west-1",
            endpoint: testCase.endpoint,
            forcePathStyle: testCase.forcePathStyle
        )
        let path = configuration.encodedPath(key: "k")
        #expect(configuration.url(encodedPath: path, encodedQuery: "") == testCase.url)
        #expect(testCase.url.contains("://\(configuration.host)/"))
    }

    @Test(
        "An endpoint is scheme, host and port, and nothing else",
        arguments: [
            ("", S3ConfigurationError.endpointNotHTTP),
            ("store.example", .endpointNotHTTP),
            ("ftp://store.example", .endpointNotHTTP),
            ("http://", .endpointNotHTTP),
            ("http://store.example:0", .endpointNotHTTP),
            ("http://store.example:65536", .endpointNotHTTP),
            ("http://store.example/base", .endpointNotBare),
            ("http://store.example//", .endpointNotBare),
            ("http://store.example?a=b", .endpointNotBare),
            ("http://store.example#a", .endpointNotBare),
            ("http://user:secret@store.example", .endpointNotBare),
        ]
    )
    func badEndpoint(endpoint: String, error: S3ConfigurationError) {
        #expect(throws: error) { try S3Configuration(bucket: "photos", region: "us-east-1", endpoint: endpoint) }
    }

    @Test(
        "A bucket's name follows AWS's rules",
        arguments: [
            "", "ab", String(repeating: "a", count: 64), "Photos", "my_photos", "-photos", "photos-", ".photos",
            "my..photos", "my/photos", "phötos",
        ]
    )
    func badBucket(name: String) {
        #expect(throws: S3ConfigurationError.bucket(name)) { try S3Configuration(bucket: name, region: "us-east-1") }
    }

    @Test("A bucket's name may be as short and as long as AWS allows", arguments: [3, 63])
    func bucketLengths(length: Int) throws {
        let name = String(repeating: "a", count: length)
        #expect(try S3Configuration(bucket: name, region: "us-east-1").bucket == name)
    }

    @Test("A region's name has letters, digits and hyphens", arguments: ["", "eu west", "eu/west", "eu.west"])
    func badRegion(name: String) {
        #expect(throws: S3ConfigurationError.region(name)) { try S3Configuration(bucket: "photos", region: name) }
    }

    @Test("Keys that could not be sent are refused by name", arguments: ["", " ", "a\n", "ä", "a b"])
    func badCredentials(text: String) {
        #expect(throws: S3ConfigurationError.accessKeyID) {
            try S3Credentials(accessKeyID: text, secretAccessKey: "s")
        }
        #expect(throws: S3ConfigurationError.secretAccessKey) {
            try S3Credentials(accessKeyID: "a", secretAccessKey: text)
        }
        #expect(throws: S3ConfigurationError.sessionToken) {
            try S3Credentials(accessKeyID: "a", secretAccessKey: "s", sessionToken: text)
        }
    }

    @Test("No way of printing keys shows them")
    func redaction() throws {
        let keys = try S3Credentials(accessKeyID: "PUBLICHALF", secretAccessKey: "SECRETHALF", sessionToken: "TOKEN")
        var dumped = ""
        dump(keys, to: &dumped)
        dump(Signer(credentials: keys, region: "r"), to: &dumped)
        dumped += "\(keys) \(String(reflecting: keys)) \(String(describing: Optional(keys))) \([keys])"
        for part in ["PUBLICHALF", "SECRETHALF", "TOKEN"] { #expect(!dumped.contains(part)) }
    }
}
