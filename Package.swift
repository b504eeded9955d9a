// swift-tools-version: 6.2
import PackageDescription

let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let sqlite: Target.Dependency = .product(name: "GRDBSQLite", package: "GRDB.swift")
let nio: [Target.Dependency] = [
  .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
]
let tls: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let tlsEvents: Target.Dependency = .product(name: "NIOTLS", package: "swift-nio")
let httpCodec: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let embedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let log: Target.Dependency = .product(name: "Logging", package: "swift-log")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
// Of tests only: the wire's own encoder is held against it.
let protobuf: Target.Dependency = .product(name: "SwiftProtobuf", package: "swift-protobuf")
let configuration: Target.Dependency = .product(name: "Configuration", package: "swift-configuration")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let tracing: Target.Dependency = .product(name: "Tracing", package: "swift-distributed-tracing")
// Its product for servers, without the router.
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let nioHTTPTypes: Target.Dependency = .product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioHTTPCodec: Target.Dependency = .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
let hummingbird: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")
let signals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")

let package = Package(
  name: "stickies",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "stickiesd", targets: ["stickiesd"]),
    .executable(name: "stickies", targets: ["stickies"]),
    .library(name: "StickiesKit", targets: ["StickiesKit"]),
    .library(
      name: "GraphClient",
      targets: ["GraphModel", "GraphWire", "GraphReplica", "GraphControllers", "GraphClient"]),
    .library(name: "GraphClientService", targets: ["GraphClientService"]),
    .library(name: "GraphEmbedded", targets: ["GraphEmbedded"]),
    .library(name: "GraphOffline", targets: ["GraphOffline"]),
    .library(
      name: "GraphShell",
      targets: ["CommandLineIO", "GraphModel", "GraphWire", "GraphJSON", "GraphClient", "GraphShell"]),
    .library(name: "GraphControllers", targets: ["GraphModel", "GraphReplica", "GraphControllers"]),
    .library(name: "GraphWire", targets: ["GraphModel", "GraphWire"]),
    .library(name: "GraphServer", targets: ["GraphModel", "GraphStore", "GraphServer"]),
    .library(name: "GraphStoreTools", targets: ["GraphModel", "GraphStore", "GraphStoreTools"]),
    .library(name: "GraphHub", targets: ["GraphModel", "GraphWire", "GraphHub"]),
    // For the benchmarks, which are a package of their own.
    .library(name: "GraphTesting", targets: ["GraphTesting"]),
    .library(name: "GraphAccess", targets: ["GraphModel", "GraphAccess"]),
    .library(name: "TerminalCells", targets: ["TerminalCells"]),
    .library(name: "TerminalApplication", targets: ["TerminalCells", "TerminalApplication"]),
    .plugin(name: "GraphModelPlugin", targets: ["GraphModelPlugin"]),
  ],
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
  ],
  targets: [
    .target(name: "GraphModel"),
    // The part of GraphModel that reads model files: the same sources, by a link. The plugin compiles only them. A file
    // of GraphModel that one of them names must be in the list.
    .target(
      name: "ModelFiles", path: "Sources/ModelFiles",
      sources: [
        "Access/AccessJudge.swift", "Access/AccessRules.swift", "Access/EntityScope.swift", "Access/Rights.swift",
        "Access/Role.swift", "Access/ScopeDependent.swift", "Invariant.swift", "Model", "Predicates", "Text", "Values",
        "Changes/Outcome.swift", "Evolution/Mapping.swift", "Queries/EnumerationFallback.swift",
        "Queries/EvaluationBudget.swift", "Queries/FetchCursor.swift",
        "Queries/FetchRequest.swift", "Queries/IndexedExpression.swift", "Queries/PathCache.swift",
        "Queries/PathTrigger.swift", "Queries/RowRequest.swift", "Queries/SortKey.swift",
        "Rules/Attribute+Rules.swift",
      ]),
    .target(name: "GraphWire", dependencies: ["GraphModel"]),
    // The JSON of objects, commits and refusals, in both directions: of the shell and of HTTP.
    .target(name: "GraphJSON", dependencies: ["GraphModel", "GraphWire"]),
    // Where a commit becomes durable: records in segment files.
    .target(name: "GraphLog", dependencies: ["GraphModel", "FileNumber"]),
    .target(name: "FileNumber"),
    .target(name: "GraphStore", dependencies: ["GraphModel", "GraphLog", grdb, sqlite, log, heap]),
    // Check, migration, backup and compaction of a store's files. The server knows a store by a protocol only.
    .target(name: "GraphStoreTools", dependencies: ["GraphModel", "GraphLog", "GraphStore", grdb, sqlite]),
    // A client's copy of what it sees on a server, and its unsent edits, for work without the server.
    .target(name: "GraphReplicaStore", dependencies: ["GraphModel", "GraphWire", "GraphStore", grdb]),
    // Users and tokens, in a file of their own beside a store.
    .target(name: "GraphAccess", dependencies: ["GraphModel", grdb, crypto]),
    .target(name: "GraphHub", dependencies: ["GraphModel", "GraphWire", deque]),
    .target(name: "GraphReplica", dependencies: ["GraphModel", "GraphWire"]),
    .target(name: "GraphControllers", dependencies: ["GraphModel", "GraphReplica"]),
    .target(name: "FreedMemory"),
    // The HTTP interface of a served graph, for any model.
    .target(
      name: "GraphHTTP",
      dependencies: [
        "GraphModel", "GraphWire", "GraphJSON", "GraphHub", "GraphServer", log, hummingbird, httpTypes, nioHTTPTypes,
        nioHTTPCodec, httpCodec, crypto,
      ] + nio),
    // The files of the web board in `Web`, embedded.
    .target(name: "StickiesWeb", plugins: ["WebFilesPlugin"]),
    .target(
      name: "GraphServer",
      dependencies: ["GraphModel", "GraphWire", "GraphHub", "FreedMemory", log, lifecycle, tls, tlsEvents] + nio),
    .target(
      name: "GraphClient",
      dependencies: [
        "GraphModel", "GraphWire", "GraphReplica", "GraphControllers", log, metrics, tracing, tls, tlsEvents, deque,
      ] + nio,
      // A client belongs to the actor that made it: its methods run on the actor of their caller.
      swiftSettings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
    // A client as a service of swift-service-lifecycle, which other clients need not link.
    .target(name: "GraphClientService", dependencies: ["GraphClient", lifecycle]),
    // A client with the store and the server in its own process, which clients of a daemon need not link.
    .target(
      name: "GraphEmbedded",
      dependencies: [
        "GraphModel", "GraphReplica", "GraphClient", "GraphStore", "GraphStoreTools", "GraphServer", log,
      ]),
    // A client that works without its server, which other clients need not link.
    .target(
      name: "GraphOffline",
      dependencies: [
        "GraphModel", "GraphWire", "GraphReplica", "GraphClient", "GraphStore", "GraphServer", "GraphEmbedded",
        "GraphReplicaStore", log,
      ],
      swiftSettings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
    // The standard streams, the command line and the local time of a program, without a graph.
    .target(name: "CommandLineIO", dependencies: ["GraphModel", log]),
    // The names of a converted model's parts in the app: the conversion writes them, imports read them.
    .target(name: "CoreDataNames"),
    // Reads the stores of apps that use Core Data, through SQLite's C library.
    .target(name: "CoreDataStore", dependencies: ["GraphModel", "CoreDataNames", sqlite]),
    // The commands of the shell for any model; the program adds its name, its connection and its own commands.
    .target(
      name: "GraphShell",
      dependencies: [
        "CommandLineIO", "CoreDataStore", "TerminalCells", "GraphModel", "GraphWire", "GraphJSON", "GraphReplica",
        "GraphControllers", "GraphClient", arguments,
      ]),
    // The typed classes, the model itself, and the user's environment: what the daemon and its clients share.
    .target(name: "StickiesModel", dependencies: ["GraphModel", "GraphWire", "GraphReplica"]),
    .target(
      name: "StickiesKit",
      dependencies: [
        "GraphModel", "GraphWire", "GraphReplica", "GraphControllers", "GraphClient", "StickiesModel", log,
      ]),
    // Notes as files and in files of other programs; it knows no graph.
    .target(name: "StickiesFiles", dependencies: ["GraphModel"]),
    // The event loop of a terminal program, for any program: it knows cells and keys, and nothing of a graph.
    .target(name: "TerminalApplication", dependencies: ["TerminalCells"]),
    .target(name: "TerminalCells"),
    .target(
      name: "StickiesTerminal",
      dependencies: [
        "TerminalCells", "TerminalApplication", "GraphModel", "GraphReplica", "GraphControllers", "GraphClient",
        "GraphOffline", "StickiesModel", "StickiesKit", "StickiesFiles", "CommandLineIO", "FreedMemory",
      ]),
    .executableTarget(
      name: "stickiesd",
      dependencies: [
        "GraphModel", "GraphWire", "GraphStore", "GraphStoreTools", "GraphAccess", "GraphHub", "GraphServer",
        "GraphHTTP", "StickiesWeb",
        "StickiesModel", "CommandLineIO", "FreedMemory", arguments, configuration, lifecycle, log, signals, crypto,
      ]),
    .executableTarget(
      name: "stickies",
      dependencies: [
        "CommandLineIO", "GraphModel", "GraphWire", "GraphJSON", "GraphReplica", "GraphClient", "GraphReplicaStore",
        "GraphOffline", "GraphShell", "StickiesModel", "StickiesKit", "StickiesFiles", "StickiesTerminal",
        "TerminalApplication", "TerminalCells",
        "FreedMemory", arguments,
      ]),
    // The README's program, as it stands there.
    .executableTarget(name: "first-program", dependencies: ["StickiesKit"], path: "docs/examples/first-program"),
    // A list that the Observation framework follows.
    .executableTarget(name: "observed-list", dependencies: ["StickiesKit"], path: "docs/examples/observed-list"),
    // A Core Data model, converted, with its imported store.
    .executableTarget(
      name: "core-data-notes", dependencies: ["GraphModel", "GraphReplica", "GraphClient"],
      path: "docs/examples/core-data-notes", plugins: ["GraphModelPlugin"]),
    // The program of docs/guides/shell.md.
    .executableTarget(
      name: "company-shell", dependencies: ["GraphClient", "GraphShell", arguments],
      path: "docs/examples/company-shell"),
    // The programs of docs/guides, over a model of their own: Schema/Company.
    .executableTarget(
      name: "company-guides", dependencies: ["GraphModel", "GraphReplica", "GraphClient"],
      path: "docs/examples/guides", plugins: ["GraphModelPlugin"]),
    // The server-side program of docs/guides/background-contexts.md.
    .executableTarget(
      name: "company-worker", dependencies: ["GraphModel", "GraphReplica", "GraphClient"],
      path: "docs/examples/worker", plugins: ["GraphModelPlugin"]),
    // The program of docs/guides/embedded.md, without a daemon.
    .executableTarget(
      name: "company-embedded", dependencies: ["GraphModel", "GraphReplica", "GraphClient", "GraphEmbedded"],
      path: "docs/examples/embedded", plugins: ["GraphModelPlugin"]),
    // The program of docs/guides/offline.md, with a server and without it.
    .executableTarget(
      name: "company-offline", dependencies: ["GraphModel", "GraphReplica", "GraphClient", "GraphOffline"],
      path: "docs/examples/offline", plugins: ["GraphModelPlugin"]),
    // Disks that fail and lose power, under SQLite and under the log: of simulations and tests only.
    .target(name: "GraphStoreFaults", dependencies: ["GraphModel", "GraphLog", sqlite]),
    .target(
      name: "GraphSimulation",
      dependencies: [
        "GraphModel", "GraphLog", "GraphWire", "GraphHub", "GraphReplica", "GraphStore", "GraphStoreTools",
        "GraphReplicaStore", "GraphStoreFaults",
      ]),
    .executableTarget(name: "graph-sim", dependencies: ["GraphSimulation", arguments]),
    // Core Data models as model files, for the converter and for imports of Core Data stores.
    .target(name: "CoreDataModels", dependencies: ["GraphModel", "CoreDataNames"]),
    .target(name: "ModelClasses", dependencies: ["ModelFiles"]),
    .executableTarget(name: "graph-generate", dependencies: ["ModelClasses", "CoreDataModels"]),
    // The tool of the plugin, which every package that uses the plugin compiles.
    .executableTarget(name: "graph-classes", dependencies: ["ModelClasses"]),
    // Writes the codec of the wire. It depends on nothing, because GraphModel contains a part of its output.
    .executableTarget(name: "wire-generate"),
    .plugin(
      name: "GraphModelPlugin", capability: .buildTool(), dependencies: ["graph-classes"]),
    .plugin(name: "WebFilesPlugin", capability: .buildTool()),
    .target(
      name: "GraphTesting",
      dependencies: ["GraphModel", "GraphWire", "GraphReplica", "GraphStore", "GraphStoreTools"]),
    .testTarget(name: "TidyTests"),
    .testTarget(name: "GraphModelTests", dependencies: ["GraphModel", "GraphTesting"]),
    .testTarget(
      name: "CoreDataModelsTests", dependencies: ["GraphModel", "CoreDataModels"],
      exclude: ["Fixtures"]),
    .testTarget(
      name: "GraphWireTests", dependencies: ["GraphModel", "GraphWire", "GraphTesting", "wire-generate", protobuf]),
    .testTarget(
      name: "GraphLogTests", dependencies: ["GraphModel", "GraphLog", "GraphStoreFaults", "GraphTesting"]),
    .testTarget(
      name: "GraphStoreTests",
      dependencies: [
        "GraphModel", "GraphLog", "GraphStore", "GraphStoreTools", "GraphStoreFaults", "GraphTesting", grdb, log,
      ]),
    .testTarget(
      name: "GraphStoreToolsTests",
      dependencies: [
        "GraphModel", "GraphLog", "GraphStore", "GraphStoreTools", "GraphStoreFaults", "GraphTesting", "GraphWire",
        grdb,
      ]),
    .testTarget(
      name: "GraphReplicaStoreTests",
      dependencies: ["GraphModel", "GraphStore", "GraphReplicaStore", "GraphTesting", grdb]),
    .testTarget(name: "GraphAccessTests", dependencies: ["GraphModel", "GraphAccess", "GraphTesting", grdb]),
    .testTarget(
      name: "GraphHubTests", dependencies: ["GraphModel", "GraphWire", "GraphHub", "GraphStore", "GraphTesting"]),
    .testTarget(
      name: "GraphServerTests",
      dependencies: [
        "GraphModel", "GraphWire", "GraphHub", "GraphStore", "GraphServer", "GraphTesting", log, tls, embedded,
      ] + nio),
    .testTarget(
      name: "GraphHTTPTests",
      dependencies: [
        "GraphModel", "GraphWire", "GraphHub", "GraphStore", "GraphServer", "GraphHTTP", "GraphTesting", log,
      ] + nio),
    .testTarget(
      name: "GraphClientTests",
      dependencies: [
        "GraphModel", "GraphWire", "GraphHub", "GraphReplica", "GraphControllers", "GraphClient", "GraphClientService",
        "GraphStore", "GraphServer", "GraphTesting", "FreedMemory", log, metrics, tracing, lifecycle, tls, tlsEvents,
        crypto,
      ] + nio),
    .testTarget(
      name: "GraphEmbeddedTests",
      dependencies: [
        "GraphModel", "GraphReplica", "GraphClient", "GraphEmbedded", "GraphStore", "GraphServer", "GraphTesting",
        log,
      ]),
    .testTarget(
      name: "GraphOfflineTests",
      dependencies: [
        "GraphModel", "GraphWire", "GraphHub", "GraphClient", "GraphEmbedded", "GraphReplicaStore", "GraphOffline",
        "GraphStore", "GraphServer", "GraphTesting", log,
      ]),
    .testTarget(
      name: "GraphReplicaTests",
      dependencies: ["GraphModel", "GraphWire", "GraphReplica", "GraphStore", "GraphTesting"]),
    .testTarget(
      name: "GraphControllersTests",
      dependencies: ["GraphModel", "GraphWire", "GraphReplica", "GraphControllers", "GraphTesting"]),
    .testTarget(
      name: "GraphSimulationTests",
      dependencies: [
        "GraphModel", "GraphWire", "GraphReplica", "GraphStore", "GraphStoreFaults", "GraphSimulation", "GraphTesting",
        "graph-sim",
      ]),
    .testTarget(
      name: "GraphShellTests",
      dependencies: [
        "CommandLineIO", "CoreDataStore", "GraphModel", "GraphWire", "GraphJSON", "GraphClient", "GraphShell",
        "GraphTesting",
        arguments, log,
      ]),
    .testTarget(
      name: "CoreDataStoreTests", dependencies: ["GraphModel", "CoreDataNames", "CoreDataStore", "GraphTesting", grdb]),
    .testTarget(
      name: "TerminalApplicationTests", dependencies: ["TerminalApplication", "TerminalCells", "GraphTesting"]),
    .testTarget(name: "StickiesModelTests", dependencies: ["GraphWire", "GraphTesting", "StickiesModel"]),
    .testTarget(
      name: "StickiesFilesTests", dependencies: ["GraphModel", "GraphTesting", "StickiesFiles", "StickiesModel"]),
    .testTarget(name: "TerminalCellsTests", dependencies: ["TerminalCells", "GraphTesting"]),
    .testTarget(
      name: "StickiesTerminalTests",
      dependencies: [
        "GraphModel", "GraphReplica", "GraphClient", "GraphControllers", "GraphReplicaStore", "GraphOffline",
        "GraphTesting", "StickiesModel", "StickiesKit", "TerminalCells", "TerminalApplication", "StickiesTerminal",
        "stickiesd",
      ]),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "GraphModel", "GraphWire", "GraphReplica", "GraphClient", "GraphTesting", "StickiesModel", "StickiesKit",
        "stickiesd", "stickies", "first-program", "observed-list", "core-data-notes", "company-guides",
        "company-shell", "company-worker", "company-embedded", "company-offline", grdb,
      ]),
    // Typed predicates, with the classes that the plugin makes of Schema/Company.
    .testTarget(
      name: "CompanyTests", dependencies: ["GraphModel", "GraphReplica"], plugins: ["GraphModelPlugin"]),
  ],
  swiftLanguageModes: [.v6]
)

/// The targets that wait for a person or run once: they are compiled for size.
let rarelyRunning: Set = [
  "CommandLineIO", "CoreDataStore", "GraphAccess", "GraphControllers", "GraphEmbedded", "GraphOffline",
  "GraphReplicaStore", "GraphShell", "GraphStoreTools", "StickiesFiles", "StickiesTerminal", "TerminalApplication",
  "stickies", "stickiesd",
]

// A build of the two programs needs no tests and no plugin of models, for whose tool half of GraphModel would be
// compiled again.
if Context.environment["STICKIES_PROGRAMS_ONLY"] != nil {
  package.targets.removeAll { target in
    if ["StickiesWeb", "WebFilesPlugin"].contains(target.name) { return false }
    return target.type == .test || target.type == .plugin || target.plugins?.isEmpty == false
  }
  package.products.removeAll { $0.name == "GraphModelPlugin" }
  package.dependencies.removeAll { $0.isOfTestsOnly }
  for target in package.targets where rarelyRunning.contains(target.name) {
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-Osize"])]
  }
  if Context.environment["STICKIES_COMPACT_PROGRAMS"] != nil {
    let script = Context.packageDirectory + "/scripts/without-unwind-tables.ld"
    let options = ["-z", "pack-relative-relocs", "--no-eh-frame-hdr", "-T", script]
    for target in package.targets where target.type == .executable {
      target.linkerSettings = [.unsafeFlags(["-use-ld=lld"] + options.flatMap { ["-Xlinker", $0] })]
    }
  }
}

extension Package.Dependency {
  /// Whether only tests need the package.
  fileprivate var isOfTestsOnly: Bool {
    guard case .sourceControl(_, let location, _) = kind else { return false }
    return location.hasSuffix("/swift-protobuf")
  }
}
