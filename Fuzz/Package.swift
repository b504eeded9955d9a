// swift-tools-version: 6.2
import PackageDescription

// Sources/GraphModel, Sources/GraphWire and the folders of Sources/StickiesKit are links to the product's: they must be compiled with the fuzzer's
// instrumentation, which no manifest can ask of another package.
let instrumented: [SwiftSetting] = [.unsafeFlags(["-sanitize=fuzzer,address"])]
// gold crashes on it.
let linked: [LinkerSetting] = [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]

let package = Package(
  name: "stickies-fuzz",
  platforms: [.macOS(.v15)],
  targets: [
    .systemLibrary(name: "CFuzzer"),
    .target(name: "GraphModel", swiftSettings: instrumented),
    .target(name: "GraphWire", dependencies: ["GraphModel"], swiftSettings: instrumented),
    // The readers of files alone: the rest of it would bring the network along.
    .target(name: "StickiesKit", dependencies: ["GraphModel"], swiftSettings: instrumented),
    .target(
      name: "FuzzTargets", dependencies: ["GraphModel", "GraphWire", "StickiesKit"], swiftSettings: instrumented),
    .executableTarget(
      name: "graph-fuzz", dependencies: ["CFuzzer", "FuzzTargets"], swiftSettings: instrumented,
      linkerSettings: linked),
  ],
  swiftLanguageModes: [.v6]
)
