// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "stickies-benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "stickies", path: "..")],
  targets: [
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .executableTarget(
      name: "graph-bench", dependencies: [.product(name: "GraphWire", package: "stickies"), "CSQLite"]),
  ],
  swiftLanguageModes: [.v6]
)
