// swift-tools-version: 6.0

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "selfie-client",
    platforms: [.iOS(.v16), .macOS(.v13)],
    products: [
        .library(name: "SelfieClient", targets: ["SelfieClient"]),
        .library(name: "SelfieTesting", targets: ["SelfieTesting"]),
    ],
    targets: [
        // Apple's systems have CommonCrypto instead.
        .systemLibrary(name: "CSelfieCrypto"),
        .target(
            name: "SelfieClient",
            dependencies: [.target(name: "CSelfieCrypto", condition: .when(platforms: [.linux]))],
            swiftSettings: settings
        ),
        .target(name: "SelfieTesting", dependencies: ["SelfieClient"], swiftSettings: settings),
        .testTarget(
            name: "SelfieClientTests",
            dependencies: ["SelfieClient", "SelfieTesting"],
            swiftSettings: settings
        ),
    ]
)
