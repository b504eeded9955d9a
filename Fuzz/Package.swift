// swift-tools-version: 6.2
import PackageDescription

// Sources/GraphModel, Sources/GraphWire and Sources/StickiesFiles are links to the product's sources,
// because they must be compiled with the fuzzer's instrumentation and a manifest cannot require that of another
// package.
let instrumented: [SwiftSetting] = [.unsafeFlags(["-sanitize=fuzzer,address"])]
// gold crashes with these options.
let linked: [LinkerSetting] = [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]

let package = Package(
  name: "stickies-fuzz",
  platforms: [.macOS(.v15)],
  targets: [
    .systemLibrary(name: "CFuzzer"),
    .target(name: "GraphModel", swiftSettings: instrumented),
    .target(name: "GraphWire", dependencies: ["GraphModel"], swiftSettings: instrumented),
    .target(name: "StickiesFiles", dependencies: ["GraphModel"], swiftSettings: instrumented),
    .target(
      name: "FuzzTargets", dependencies: ["GraphModel", "GraphWire", "StickiesFiles"], swiftSettings: instrumented),
    .executableTarget(
      name: "graph-fuzz", dependencies: ["CFuzzer", "FuzzTargets"], swiftSettings: instrumented,
      linkerSettings: linked),
  ],
  swiftLanguageModes: [.v6]
)
