// swift-tools-version: 6.0

import PackageDescription

let package = Package(
    name: "chat",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "selfie-client", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "chat",
            dependencies: [.product(name: "SelfieClient", package: "selfie-client")]
        )
    ]
)
