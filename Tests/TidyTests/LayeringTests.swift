import Foundation
import Testing

/// What the package manager does not enforce: who may import whom, which words belong to which layer, and that the
/// tour leads somewhere.
@Suite struct LayeringTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static let ours: [String: Set<String>] = [
    "GraphModel": [],
    "FreedMemory": [],
    "GraphWire": ["GraphModel"],
    "GraphStore": ["GraphModel"],
    "GraphStoreTools": ["GraphModel", "GraphStore"],
    "GraphHub": ["GraphModel", "GraphWire"],
    "GraphReplica": ["GraphModel", "GraphWire"],
    "GraphControllers": ["GraphModel", "GraphReplica"],
    "TerminalApplication": ["TerminalCells"],
    "GraphServer": ["GraphModel", "GraphWire", "GraphHub", "GraphStore", "FreedMemory"],
    "GraphClient": ["GraphModel", "GraphWire", "GraphReplica", "GraphStore"],
    "GraphStoreFaults": ["GraphModel"],
    "GraphSimulation": [
      "GraphModel", "GraphWire", "GraphHub", "GraphReplica", "GraphStore", "GraphStoreTools", "GraphStoreFaults",
    ],
    "CommandLineIO": ["GraphModel"],
    "GraphShell": [
      "CommandLineIO", "TerminalCells", "GraphModel", "GraphWire", "GraphReplica", "GraphControllers", "GraphClient",
    ],
    "StickiesModel": ["GraphModel", "GraphWire", "GraphReplica"],
    "StickiesKit": ["GraphModel", "GraphWire", "GraphReplica", "GraphClient", "StickiesModel"],
    "StickiesFiles": ["GraphModel"],
    "TerminalCells": [],
    "StickiesTerminal": [
      "TerminalCells", "TerminalApplication", "GraphModel", "GraphReplica", "GraphControllers", "GraphClient",
      "StickiesKit", "StickiesFiles", "CommandLineIO", "FreedMemory",
    ],
    "stickiesd": [
      "GraphModel", "GraphWire", "GraphStore", "GraphStoreTools", "GraphServer", "StickiesModel", "CommandLineIO",
      "FreedMemory",
    ],
    "stickies": [
      "CommandLineIO", "GraphModel", "GraphWire", "GraphReplica", "GraphClient", "GraphShell",
      "StickiesKit", "StickiesFiles", "StickiesTerminal", "TerminalApplication", "TerminalCells", "FreedMemory",
    ],
    "graph-sim": ["GraphModel", "GraphSimulation"],
    "graph-generate": ["GraphModel"],
    "wire-generate": [],
    "GraphTesting": [
      "GraphModel", "GraphWire", "GraphHub", "GraphReplica", "GraphStore", "GraphStoreTools", "GraphSimulation",
    ],
  ]

  private static let collections: Set<String> = ["DequeModule", "HeapModule", "OrderedCollections"]
  private static let nio: Set<String> = ["NIOCore", "NIOPosix"]
  private static let service: Set<String> = [
    "ArgumentParser", "ServiceLifecycle", "UnixSignals", "Logging", "Configuration", "Subprocess",
  ]

  private static let theirs: [String: Set<String>] = [
    "GraphModel": collections, "GraphWire": collections, "GraphHub": collections, "GraphReplica": collections,
    "GraphControllers": collections,
    "GraphStore": collections.union(["GRDB", "GRDBSQLite", "Logging"]),
    "GraphStoreTools": ["GRDB", "GRDBSQLite"],
    "GraphStoreFaults": ["GRDBSQLite"],
    "GraphServer": nio.union(["Logging", "ServiceLifecycle", "Metrics"]),
    "GraphClient": nio.union(["Logging"]),
    "GraphShell": ["ArgumentParser"], "stickiesd": service, "stickies": service, "graph-sim": service,
  ]

  /// Foundation is the toolchain's; the pure targets do without it.
  private static let withoutFoundation: Set<String> = [
    "GraphModel", "GraphWire", "GraphHub", "GraphReplica", "GraphControllers", "TerminalApplication",
    "TerminalCells",
  ]
  /// A client links no Foundation: its tables of languages alone are larger than the rest of the program.
  private static let withEssentialsOnly: Set<String> = [
    "GraphClient", "CommandLineIO", "GraphShell", "StickiesModel", "StickiesKit", "StickiesFiles", "StickiesTerminal",
    "stickies",
  ]
  private static let toolchain: Set<String> = [
    "Foundation", "FoundationEssentials", "Dispatch", "Synchronization", "Glibc", "Swift",
  ]

  static func sources(_ folder: String) throws -> [(target: String, path: String, text: String)] {
    let base = root.appendingPathComponent(folder)
    guard let walker = FileManager.default.enumerator(atPath: base.path) else { return [] }
    var found = [(String, String, String)]()
    for case let path as String in walker where path.hasSuffix(".swift") {
      let text = try String(contentsOf: base.appendingPathComponent(path), encoding: .utf8)
      found.append((path.split(separator: "/").first.map(String.init) ?? "", "\(folder)/\(path)", text))
    }
    return found
  }

  /// The pages of the project: docs, the README, the changelog and what a contributor reads.
  static func pages() throws -> [(path: String, text: String)] {
    guard let walker = FileManager.default.enumerator(atPath: root.appendingPathComponent("docs").path) else {
      return []
    }
    var paths = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
    for case let path as String in walker where path.hasSuffix(".md") { paths.append("docs/\(path)") }
    return try paths.map { ($0, try file($0)) }
  }

  static func file(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  /// The module of every import, in whatever form: `@testable import X`, `import struct X.Y`, `public import X`.
  private static func imports(_ text: String) -> [String] {
    text.split(separator: "\n").compactMap { line in
      var words = line.split(whereSeparator: \.isWhitespace).map(String.init)
      guard let place = words.firstIndex(of: "import"),
        words[..<place].allSatisfy({
          $0.hasPrefix("@") || ["public", "internal", "private", "package", "fileprivate"].contains($0)
        })
      else { return nil }
      words.removeFirst(place + 1)
      if let kind = words.first,
        ["struct", "class", "enum", "func", "protocol", "typealias", "var", "let"].contains(kind)
      {
        words.removeFirst()
      }
      return words.first?.split(separator: ".").first.map(String.init)
    }
  }

  @Test func importsFollowLayers() throws {
    let files = try Self.sources("Sources")
    #expect(files.count > 50)
    for (target, path, text) in files {
      let allowed = try #require(Self.ours[target], "\(path) belongs to no target of the design")
        .union(Self.theirs[target] ?? [])
        .union(Self.withoutFoundation.contains(target) ? ["Swift"] : Self.toolchain)
        .subtracting(Self.withEssentialsOnly.contains(target) ? ["Foundation"] : [])
      for module in Self.imports(text) { #expect(allowed.contains(module), "\(path) imports \(module)") }
    }
  }

  @Test func lowerLayersDoNotMentionNotes() throws {
    let below = Set(Self.ours.keys).subtracting([
      "StickiesModel", "StickiesKit", "StickiesFiles", "StickiesTerminal", "stickiesd", "stickies", "graph-sim",
      "GraphTesting",
    ])
    for (target, path, text) in try Self.sources("Sources") where below.contains(target) {
      for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        // Prose may give examples; names and strings may not.
        let code = String(line.replacing(#/\/\/.*$/#, with: ""))
        for word in code.split(whereSeparator: { !$0.isLetter }) {
          let parts = word.replacing(#/([a-z])([A-Z])/#) { "\($0.output.1) \($0.output.2)" }.split(separator: " ")
          for part in parts {
            #expect(
              !["note", "notes", "sticky", "stickies", "board", "boards"].contains(part.lowercased())
                || Self.mentionsProgram(code) || Self.isVerb(code),
              "\(path):\(number + 1) says \(part)")
          }
        }
      }
    }
  }

  /// Advice to a person names the programs; a pure function may *note* a conflict.
  private static func mentionsProgram(_ code: String) -> Bool {
    code.contains("stickiesd") || code.contains("stickies graph")
  }

  private static func isVerb(_ code: String) -> Bool { code.contains("note(") }

  @Test func everyFileOfTourExists() throws {
    let tour = try String(contentsOf: Self.root.appendingPathComponent("docs/tour.md"), encoding: .utf8)
    let paths = tour.matches(of: #/`((?:Sources|Schema|scripts|Tests|docs)/[^`\s]+)`/#).map { String($0.output.1) }
    #expect(paths.count >= 8)
    for path in paths {
      #expect(
        FileManager.default.fileExists(atPath: Self.root.appendingPathComponent(path).path),
        "docs/tour.md names \(path)")
    }
  }

  @Test func everyTargetIsInArchitecture() throws {
    func text(_ path: String) throws -> String {
      try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
    }
    let page = try text("docs/architecture.md")
    let targets = try text("Package.swift")
      .matches(of: #/\.(target|executableTarget|testTarget|plugin)\(\s*name: "([^"]+)"/#)
      .map { (kind: $0.output.1, name: String($0.output.2)) }
    let names = Set(targets.map(\.name))
    #expect(names.count > 30)
    for (kind, name) in targets {
      // The tests of one target have its name.
      let isOfATarget = kind == "testTarget" && names.contains(String(name.dropLast("Tests".count)))
      #expect(isOfATarget || page.contains("`\(name)`"), "docs/architecture.md knows no \(name)")
    }
  }

  @Test func fileHasOneTopic() throws {
    for (_, path, text) in try Self.sources("Sources") {
      let lines = text.count { $0 == "\n" }
      #expect(lines <= 450, "\(path) has \(lines) lines")
    }
  }
}
