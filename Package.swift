// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

// What the tests read byte by byte, such as each answer's JSON. Unoptimized, that takes a twentieth of their processor time.
let parserSettings = settings + [.unsafeFlags(["-O"], .when(configuration: .debug))]

// libFuzzer wants every module instrumented and runs inputs in a program of its own, so `bin/soak` alone builds that. Both
// targets are made of the same files.
let isFuzzing = Context.environment["SELFIE_FUZZ"] != nil

let fuzzedModules: [Target.Dependency] = [
    "AESCrypt", "Curl", "Encodings", "ImageFiles", "JSON", "Multipart", "S3", "SelfieWeb",
    .product(name: "HTTPTypes", package: "swift-http-types"),
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOHTTP1", package: "swift-nio"),
]

let fuzzing: [Target] =
    isFuzzing
    ? [
        .executableTarget(
            name: "fuzz",
            dependencies: fuzzedModules,
            path: "Tests/FuzzTests",
            exclude: ["Seeds", "SeedTests.swift"],
            swiftSettings: settings
        )
    ]
    : [
        .testTarget(
            name: "FuzzTests",
            dependencies: fuzzedModules + ["ServerProcesses", "TestSupport"],
            exclude: ["Fuzzer", "Seeds"],
            swiftSettings: settings
        )
    ]

let package = Package(
    name: "selfie",
    products: [
        .executable(name: "selfie", targets: ["selfie"]),
        .executable(name: "selfie-render", targets: ["selfie-render"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-algorithms", from: "1.2.1"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
        // The tests use it as apps do.
        .package(name: "selfie-client", path: "Clients/Swift"),
    ],
    targets: [
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CLibCrypto"),
        .systemLibrary(name: "CLibCurl"),
        .systemLibrary(name: "CLibPQ"),
        .systemLibrary(name: "CCrypt"),
        .systemLibrary(name: "CExpat"),
        .systemLibrary(name: "CIDN2"),
        .systemLibrary(name: "CZlib"),
        .target(name: "CPages", exclude: ["docs", "gallery", "shared"]),
        .target(
            name: "Encodings",
            dependencies: [
                .product(name: "Algorithms", package: "swift-algorithms"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: parserSettings
        ),
        .target(
            name: "Cryptography",
            dependencies: ["CLibCrypto"],
            swiftSettings: settings
        ),
        .target(
            name: "JSON",
            dependencies: [
                "Encodings",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "OrderedCollections", package: "swift-collections"),
            ],
            swiftSettings: parserSettings
        ),
        .target(
            name: "RecordSchema",
            dependencies: [
                "Encodings", "JSON", "Cryptography",
                .product(name: "OrderedCollections", package: "swift-collections"),
            ],
            swiftSettings: parserSettings
        ),
        .target(name: "ImageFiles", dependencies: ["CZlib"], swiftSettings: parserSettings),
        // What selfie-render and those who start it agree on.
        .target(name: "RenderInterface", swiftSettings: settings),
        .target(name: "CSpawn"),
        .target(name: "CVips"),
        .target(name: "CSandbox", linkerSettings: [.linkedLibrary("seccomp")]),
        .executableTarget(
            name: "selfie-render",
            dependencies: ["CSandbox", "CVips", "ImageFiles", "RenderInterface"],
            resources: [.embedInCode("Samples")],
            swiftSettings: settings
        ),
        .target(
            name: "Renderer",
            dependencies: ["CSpawn", "Concurrency", "ImageFiles", "RenderInterface"],
            swiftSettings: settings
        ),
        .target(name: "ZipArchive", dependencies: ["CZlib"], swiftSettings: parserSettings),
        .target(
            name: "Deliveries",
            dependencies: [
                "Concurrency", "Outages", "Postgres", .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "Mail",
            dependencies: ["CIDN2", "Curl", "Encodings", .product(name: "NIOCore", package: "swift-nio")],
            swiftSettings: settings
        ),
        .target(
            name: "Push",
            dependencies: [
                "Cryptography", "Curl", "Encodings", "JSON", .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "OrderedCollections", package: "swift-collections"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "Webhooks",
            dependencies: [
                "Cryptography", "Curl", .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "Outages",
            dependencies: ["Concurrency", .product(name: "Logging", package: "swift-log")],
            swiftSettings: settings
        ),
        .target(
            name: "Concurrency",
            dependencies: ["CLinux", .product(name: "NIOConcurrencyHelpers", package: "swift-nio")],
            swiftSettings: settings
        ),
        .target(
            name: "Curl",
            dependencies: [
                "CLibCrypto", "CLibCurl", "Concurrency",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "Budgets",
            dependencies: [.product(name: "DequeModule", package: "swift-collections")],
            swiftSettings: settings
        ),
        .target(
            name: "Traces",
            dependencies: [
                "Curl",
                "Encodings", "Outages",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "Prometheus",
            dependencies: [.product(name: "CoreMetrics", package: "swift-metrics")],
            swiftSettings: settings
        ),
        .target(
            name: "Postgres",
            dependencies: [
                "Cryptography",
                "CLinux", "CLibPQ", "Concurrency", "Outages",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: parserSettings
        ),
        .target(
            name: "Migrations",
            dependencies: ["Postgres"],
            swiftSettings: settings
        ),
        .target(
            name: "EmbeddedPostgres",
            dependencies: [
                "Encodings", .product(name: "Algorithms", package: "swift-algorithms"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "S3",
            dependencies: [
                "Cryptography",
                "CExpat", "Concurrency", "Curl", "Encodings",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: parserSettings
        ),
        .target(
            name: "Multipart",
            dependencies: ["Encodings", .product(name: "Algorithms", package: "swift-algorithms")],
            swiftSettings: parserSettings
        ),
        .target(
            name: "AESCrypt",
            dependencies: [
                "Cryptography"
            ],
            swiftSettings: settings
        ),
        .target(
            name: "LinuxFiles",
            dependencies: [
                "CLinux",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "ObjectStore",
            dependencies: [
                "Budgets", "Concurrency", "Cryptography", "LinuxFiles", "S3",
                .product(name: "Algorithms", package: "swift-algorithms"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "HTTPConnection",
            dependencies: [
                "Encodings", "Budgets", "LinuxFiles",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
            ],
            swiftSettings: parserSettings
        ),
        .target(
            name: "SelfieAccounts",
            dependencies: [
                "AESCrypt", "Budgets", "CCrypt", "Concurrency", "Curl", "Deliveries", "Encodings", "JSON", "Mail",
                "Outages", "Postgres", "Cryptography",
                .product(name: "Algorithms", package: "swift-algorithms"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "OrderedCollections", package: "swift-collections"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "SelfiePhotos",
            dependencies: [
                "Budgets", "Concurrency", "Encodings", "ImageFiles", "JSON", "ObjectStore", "Outages", "Postgres",
                "Renderer", "S3", "Cryptography", "LinuxFiles", "SelfieAccounts",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "SelfieRecords",
            dependencies: [
                "Budgets", "Concurrency", "Deliveries", "Encodings", "JSON", "Postgres", "RecordSchema", "Cryptography",
                "SelfieAccounts", "SelfiePhotos",
                .product(name: "Algorithms", package: "swift-algorithms"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "OrderedCollections", package: "swift-collections"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "SelfieNotifications",
            dependencies: [
                "Concurrency", "Cryptography", "Curl", "Deliveries", "Encodings", "JSON", "Mail", "Postgres", "Push",
                "RecordSchema", "SelfieAccounts", "SelfieRecords", "Webhooks",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "OrderedCollections", package: "swift-collections"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "SelfieCore",
            dependencies: [
                "Curl", "Push", "SelfieNotifications",
                "Deliveries", .product(name: "CoreMetrics", package: "swift-metrics"),
                "Budgets", "Concurrency", "Cryptography", "Encodings", "ImageFiles", "JSON", "ObjectStore", "Outages",
                "Postgres", "Renderer", "SelfieAccounts", "SelfieConfiguration", "SelfiePhotos", "SelfieRecords",
                "ZipArchive",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "SelfieWeb",
            dependencies: [
                "AESCrypt", "Budgets", "CPages", "CZlib", "Concurrency", "Encodings", "HTTPConnection", "ImageFiles",
                "JSON", "Multipart", "ObjectStore", "Postgres", "RecordSchema", "S3", "Cryptography", "SelfieAccounts",
                "SelfieConfiguration", "SelfieCore", "SelfieNotifications", "SelfiePhotos", "SelfieRecords", "Traces",
                .product(name: "Algorithms", package: "swift-algorithms"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "OrderedCollections", package: "swift-collections"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "SelfieConfiguration",
            dependencies: [
                "Push", "Webhooks",
                "Mail",
                "Curl",
                "Budgets", "Concurrency", "Encodings", "ObjectStore", "Postgres", "S3", "SelfieAccounts",
                "SelfiePhotos", "SelfieRecords",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "SelfieOperations",
            dependencies: [
                "Push", "SelfieNotifications", "Webhooks", .product(name: "CoreMetrics", package: "swift-metrics"),
                "Deliveries", "Mail",
                "Curl",
                "Concurrency", "Encodings", "ImageFiles", "LinuxFiles", "Migrations", "ObjectStore",
                "Cryptography",
                "Postgres", "Renderer", "RecordSchema", "S3",
                "SelfieConfiguration",
                "SelfieAccounts", "SelfieCore", "SelfiePhotos", "SelfieRecords",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "SelfieApp",
            dependencies: [
                "SelfieNotifications", "Webhooks",
                "Deliveries",
                "Cryptography",
                "Curl",
                "Traces",
                "Budgets", "CLinux", "Concurrency", "HTTPConnection", "Migrations", "ObjectStore", "Outages",
                "Postgres",
                "Prometheus", "Renderer", "S3", "SelfieConfiguration",
                "SelfieAccounts", "SelfieCore", "SelfiePhotos", "SelfieRecords",
                "SelfieWeb",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "selfie",
            dependencies: [
                "SelfieNotifications",
                "Curl", "Deliveries", "Mail",
                "AESCrypt", "CLinux", "Concurrency", "EmbeddedPostgres", "Encodings", "JSON", "Migrations",
                "Postgres", "RecordSchema", "Cryptography", "SelfieApp", "SelfieConfiguration", "SelfieAccounts",
                "SelfieCore", "SelfiePhotos", "SelfieRecords",
                "SelfieOperations",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "OrderedCollections", package: "swift-collections"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "ServerProcesses",
            dependencies: ["Encodings"],
            path: "Tests/ServerProcesses",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "bench",
            dependencies: [
                "Curl",
                "Cryptography",
                "AESCrypt", "Concurrency", "EmbeddedPostgres", "Encodings", "Migrations", "Postgres",
                "ServerProcesses",
                "RecordSchema", "S3", "SelfieApp", "SelfieConfiguration",
                "SelfieRecords",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            path: "Benchmarks/bench",
            swiftSettings: settings
        ),
        .target(name: "CSanitizer", path: "Tests/CSanitizer"),
        // Code of a page of the documents, so that a test can run it.
        .target(
            name: "PasswordSnippet",
            dependencies: ["CommonCrypto"],
            path: "docs/passwords",
            exclude: ["EncryptPassword.kt", "encrypt-password.js", "encrypt-password.sh", "encrypt_password.py"],
            sources: ["EncryptPassword.swift"]
        ),
        .target(name: "CommonCrypto", dependencies: ["CLibCrypto"], path: "Tests/CommonCrypto"),
        .target(
            name: "TestSupport",
            dependencies: [
                "Concurrency", "CSanitizer", "ObjectStore", "S3", "ServerProcesses",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        .target(
            name: "ConnectionTestSupport",
            dependencies: [
                "Curl",
                "Cryptography",
                "CSanitizer", "ServerProcesses", "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests/ConnectionTestSupport",
            swiftSettings: settings
        ),
        .target(
            name: "ProcessTestSupport",
            dependencies: ["ServerProcesses", "TestSupport"],
            path: "Tests/ProcessTestSupport",
            swiftSettings: settings
        ),
        .target(
            name: "DatabaseTestSupport",
            dependencies: [
                "EmbeddedPostgres", "Migrations", "Postgres", "ProcessTestSupport", "ServerProcesses", "TestSupport",
            ],
            path: "Tests/DatabaseTestSupport",
            swiftSettings: settings
        ),
        .target(
            name: "ServiceTestSupport",
            dependencies: [
                "Curl",
                "AESCrypt", "Budgets", "Concurrency", "DatabaseTestSupport", "JSON", "Postgres",
                "RecordSchema", "S3",
                "S3TestSupport",
                "SelfieApp", "SelfieConfiguration", "SelfieAccounts", "SelfieRecords",
                "SelfieWeb", "ProcessTestSupport", "ServerProcesses", "ConnectionTestSupport", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "OrderedCollections", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Tests/ServiceTestSupport",
            swiftSettings: settings
        ),
        .target(
            name: "S3TestSupport",
            dependencies: [
                "Curl",
                "Concurrency", "ProcessTestSupport", "S3", "ServerProcesses",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Tests/S3TestSupport",
            swiftSettings: settings
        ),
        .testTarget(
            name: "AESCryptTests",
            dependencies: ["AESCrypt", "PasswordSnippet", "ProcessTestSupport", "ServerProcesses", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "BudgetsTests",
            dependencies: ["Budgets", "ServerProcesses", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "OutagesTests",
            dependencies: ["Outages", "TestSupport", .product(name: "Logging", package: "swift-log")],
            swiftSettings: settings
        ),
        .testTarget(name: "ConcurrencyTests", dependencies: ["CLinux", "Concurrency"], swiftSettings: settings),
        .testTarget(
            name: "CurlTests",
            dependencies: [
                "ConnectionTestSupport", "Curl", "ProcessTestSupport", "ServerProcesses", "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "BenchTests",
            dependencies: ["bench"],
            path: "Benchmarks/BenchTests",
            swiftSettings: settings
        ),
        .testTarget(
            name: "EmbeddedPostgresTests",
            dependencies: [
                "Encodings", "DatabaseTestSupport", "EmbeddedPostgres", "ServerProcesses",

            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MigrationsTests",
            dependencies: [
                "Cryptography", "DatabaseTestSupport", "Encodings", "JSON", "Migrations", "RecordSchema",
                "ServerProcesses",
                "TestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TracesTests",
            dependencies: [
                "Curl",
                "ConnectionTestSupport", "TestSupport", "Traces",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "PrometheusTests",
            dependencies: ["Prometheus", .product(name: "CoreMetrics", package: "swift-metrics")],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MultipartTests",
            dependencies: ["Multipart", "ServerProcesses", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "PostgresTests",
            dependencies: [
                "CLibPQ", "DatabaseTestSupport", "EmbeddedPostgres", "Outages", "Postgres", "ProcessTestSupport",
                "ServerProcesses", "ConnectionTestSupport", "TestSupport",
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "S3Tests",
            dependencies: [
                "Curl",
                "Concurrency", "ConnectionTestSupport", "Encodings", "ProcessTestSupport", "S3", "S3TestSupport",
                "ServerProcesses",
                "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "EncodingsTests",
            dependencies: ["Encodings", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "JSONTests",
            dependencies: [
                "JSON", "ServerProcesses", "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "OrderedCollections", package: "swift-collections"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CryptographyTests",
            dependencies: [
                "CLibCrypto", "ProcessTestSupport",
                "Cryptography", "ServerProcesses", "TestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RecordSchemaTests",
            dependencies: [
                "Encodings", "JSON", "RecordSchema",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ObjectStoreTests",
            dependencies: [
                "Cryptography",
                "Encodings", "Budgets",
                "LinuxFiles", "ObjectStore", "ConnectionTestSupport", "S3", "S3TestSupport", "ServerProcesses",
                "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "HTTPConnectionTests",
            dependencies: [
                "HTTPConnection", "LinuxFiles", "SelfieWeb", "ServerProcesses", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ImageFilesTests",
            dependencies: ["ImageFiles", "ServerProcesses", "TestSupport"],
            exclude: ["Samples"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RendererTests",
            dependencies: [
                "CZlib", "ImageFiles", "ProcessTestSupport", "RenderInterface", "Renderer", "ServerProcesses",
                "TestSupport", "selfie-render",
            ],
            exclude: ["Pictures"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "DeliveriesTests",
            dependencies: [
                "DatabaseTestSupport", "Deliveries", "Postgres", "ServerProcesses", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SelfieNotificationsTests",
            dependencies: [
                "Curl", "DatabaseTestSupport", "Deliveries", "JSON", "Postgres", "Push", "SelfieNotifications",
                "SelfieRecords",
                "ServerProcesses",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "PushTests",
            dependencies: [
                "Cryptography", "Curl", "Encodings", "JSON", "ProcessTestSupport", "Push", "ServerProcesses",
                "TestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WebhooksTests",
            dependencies: [
                "ConnectionTestSupport", "Cryptography", "Curl", "ProcessTestSupport", "ServerProcesses", "TestSupport",
                "Webhooks", .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MailTests",
            dependencies: [
                "ConnectionTestSupport", "Curl", "Mail", "ProcessTestSupport", "ServerProcesses", "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ZipArchiveTests",
            dependencies: ["ProcessTestSupport", "TestSupport", "ZipArchive"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SelfieAccountsTests",
            dependencies: [
                "AESCrypt", "Budgets", "DatabaseTestSupport", "Postgres", "SelfieAccounts", "ServerProcesses",
                "TestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SelfiePhotosTests",
            dependencies: [
                "ConnectionTestSupport", "DatabaseTestSupport", "ImageFiles", "LinuxFiles", "ObjectStore", "Postgres",
                "S3", "S3TestSupport", "SelfieAccounts", "SelfiePhotos", "ServerProcesses", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SelfieRecordsTests",
            dependencies: [
                "Budgets", "DatabaseTestSupport", "Encodings", "JSON", "Postgres", "RecordSchema", "SelfieAccounts",
                "SelfieRecords", "ServerProcesses", "TestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SelfieCoreTests",
            dependencies: [
                "DatabaseTestSupport", "ImageFiles", "ObjectStore", "Postgres", "S3", "SelfieCore", "SelfiePhotos",
                "TestSupport", "ZipArchive",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SelfieWebTests",
            dependencies: [
                "Cryptography",
                "Encodings", "Budgets", "DatabaseTestSupport", "ImageFiles", "Multipart", "Postgres", "S3",
                "SelfieAccounts", "SelfieCore", "SelfiePhotos", "SelfieWeb", "ServerProcesses",
                "TestSupport",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SelfieConfigurationTests",
            dependencies: [
                "Mail", "ProcessTestSupport", "Push",
                "Postgres", "S3", "SelfieConfiguration", "SelfieAccounts", "SelfiePhotos",
                "ServerProcesses", "TestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SelfieOperationsTests",
            dependencies: [
                "Curl",
                "Encodings", "DatabaseTestSupport", "LinuxFiles", "ObjectStore", "Postgres", "S3", "S3TestSupport",
                "SelfieApp", "SelfieConfiguration", "SelfiePhotos",
                "ProcessTestSupport", "Renderer", "SelfieOperations", "ServiceTestSupport", "selfie-render",
                "ServerProcesses", "ConnectionTestSupport", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SelfieAppTests",
            dependencies: [
                "SelfieNotifications", "Webhooks",
                "Curl",
                "Budgets", "Concurrency", "Encodings", "JSON",
                "AESCrypt", "DatabaseTestSupport", "Postgres", "S3",
                "S3TestSupport", "ServiceTestSupport", "ServerProcesses", "ConnectionTestSupport", "TestSupport",
                "HTTPConnection", "ImageFiles", "LinuxFiles", "Renderer", "selfie-render",
                "ObjectStore", "RecordSchema", "SelfieApp", "SelfieConfiguration", "SelfieAccounts", "SelfieCore",
                "SelfiePhotos", "SelfieRecords",
                "SelfieOperations", "SelfieWeb",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "OrderedCollections", package: "swift-collections"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "ClientTestSupport",
            dependencies: [
                "ConnectionTestSupport", "DatabaseTestSupport", "Postgres", "ProcessTestSupport", "ServerProcesses",
                "ServiceTestSupport", "TestSupport",
                .product(name: "SelfieClient", package: "selfie-client"),
            ],
            path: "Tests/ClientTestSupport",
            swiftSettings: settings
        ),
        // An app that is killed.
        .executableTarget(
            name: "client-process",
            dependencies: [.product(name: "SelfieClient", package: "selfie-client")],
            path: "Tests/ClientProcess",
            swiftSettings: settings
        ),
        .testTarget(
            name: "ClientTests",
            dependencies: [
                "client-process", "ClientTestSupport",
                "ConnectionTestSupport", "DatabaseTestSupport", "Postgres", "ProcessTestSupport", "ServerProcesses",
                "ServiceTestSupport", "TestSupport",
                .product(name: "SelfieClient", package: "selfie-client"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SelfieTests",
            dependencies: [
                "AESCrypt", "DatabaseTestSupport", "EmbeddedPostgres", "Migrations", "Postgres", "SelfieApp",
                "SelfieConfiguration",
                "ServiceTestSupport", "ProcessTestSupport", "ServerProcesses", "ConnectionTestSupport", "TestSupport",
                "selfie", "selfie-render",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SoakTests",
            dependencies: [
                "client-process", "ClientTestSupport",
                .product(name: "SelfieClient", package: "selfie-client"),
                "CLinux",
                "Curl",
                "DatabaseTestSupport", "Postgres", "S3", "S3TestSupport",
                "SelfieNotifications", "Webhooks", "SelfieApp", "SelfieConfiguration", "SelfieRecords",
                "SelfieWeb", "ServiceTestSupport",
                "ProcessTestSupport",
                "ServerProcesses", "ConnectionTestSupport", "TestSupport", "selfie",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
    ] + fuzzing,
    swiftLanguageModes: [.v6]
)
