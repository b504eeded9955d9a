// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "stickies-benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "stickies", path: ".."),
    // The limit of the fan-out is a bare server with the daemon's version of SwiftNIO.
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    // Clients that only encrypt.
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    // The limit of HTTP is a server of the daemon's library without other work.
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
  ],
  targets: [
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .target(name: "CLoad"),
    .executableTarget(
      name: "graph-bench",
      dependencies: [
        .product(name: "GraphWire", package: "stickies"), .product(name: "GraphClient", package: "stickies"),
        .product(name: "GraphServer", package: "stickies"), .product(name: "GraphControllers", package: "stickies"),
        .product(name: "GraphHub", package: "stickies"), .product(name: "GraphStoreTools", package: "stickies"),
        .product(name: "GraphTesting", package: "stickies"), .product(name: "TerminalCells", package: "stickies"),
        .product(name: "GraphAccess", package: "stickies"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOTLS", package: "swift-nio"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "HTTPTypes", package: "swift-http-types"), .product(name: "Logging", package: "swift-log"),
        "CSQLite", "CLoad",
      ]),
  ],
  swiftLanguageModes: [.v6]
)
