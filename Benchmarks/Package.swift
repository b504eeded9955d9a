// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "stickies-benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "stickies", path: ".."),
    // The limit of the fan-out is a bare server with the daemon's version of SwiftNIO.
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
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
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        "CSQLite", "CLoad",
      ]),
  ],
  swiftLanguageModes: [.v6]
)
