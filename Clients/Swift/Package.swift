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
        .library(name: "SelfieClient", targets: ["SelfieClient"])
    ],
    targets: [
        // Apple's systems have CommonCrypto instead.
        .systemLibrary(name: "CSelfieCrypto"),
        .target(
            name: "SelfieClient",
            dependencies: [.target(name: "CSelfieCrypto", condition: .when(platforms: [.linux]))],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SelfieClientTests",
            dependencies: ["SelfieClient"],
            swiftSettings: settings
        ),
    ]
)
