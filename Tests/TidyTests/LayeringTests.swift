import Foundation
import Synchronization
import Testing

/// Rules that the package manager does not enforce: the imports that each layer may have, the words that belong to each
/// layer, and the files that the tour names.
@Suite struct LayeringTests {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static let ours: [String: Set<String>] = [
    "GraphModel": [],
    // Links to sources of GraphModel.
    "ModelFiles": [],
    "FreedMemory": [],
    "FileNumber": [],
    "GraphWire": ["GraphModel"],
    "GraphJSON": ["GraphModel", "GraphWire"],
    "GraphHTTP": ["GraphModel", "GraphWire", "GraphJSON", "GraphHub", "GraphServer"],
    "GraphLog": ["GraphModel", "FileNumber"],
    "GraphStore": ["GraphModel", "GraphLog"],
    "GraphStoreTools": ["GraphModel", "GraphLog", "GraphStore"],
    "GraphReplicaStore": ["GraphModel", "GraphWire", "GraphStore"],
    "GraphAccess": ["GraphModel"],
    "GraphHub": ["GraphModel", "GraphWire"],
    "GraphReplica": ["GraphModel", "GraphWire"],
    "GraphControllers": ["GraphModel", "GraphReplica"],
    "TerminalApplication": ["TerminalCells"],
    "GraphServer": ["GraphModel", "GraphWire", "GraphHub", "FreedMemory"],
    "GraphClient": ["GraphModel", "GraphWire", "GraphReplica", "GraphControllers"],
    "GraphClientService": ["GraphClient"],
    "GraphEmbedded": ["GraphModel", "GraphReplica", "GraphClient", "GraphStore", "GraphStoreTools", "GraphServer"],
    "GraphOffline": [
      "GraphModel", "GraphWire", "GraphReplica", "GraphClient", "GraphStore", "GraphServer", "GraphEmbedded",
      "GraphReplicaStore",
    ],
    "GraphStoreFaults": ["GraphModel", "GraphLog"],
    "GraphSimulation": [
      "GraphModel", "GraphLog", "GraphWire", "GraphHub", "GraphReplica", "GraphStore", "GraphStoreTools",
      "GraphReplicaStore", "GraphStoreFaults",
    ],
    "CommandLineIO": ["GraphModel"],
    "CoreDataNames": [],
    "CoreDataStore": ["GraphModel", "CoreDataNames"],
    "GraphShell": [
      "CommandLineIO", "CoreDataStore", "TerminalCells", "GraphModel", "GraphWire", "GraphJSON", "GraphReplica",
      "GraphControllers", "GraphClient",
    ],
    "StickiesModel": ["GraphModel", "GraphWire", "GraphReplica"],
    "StickiesKit": ["GraphModel", "GraphWire", "GraphReplica", "GraphControllers", "GraphClient", "StickiesModel"],
    "StickiesFiles": ["GraphModel"],
    "StickiesWeb": [],
    "TerminalCells": [],
    "StickiesTerminal": [
      "TerminalCells", "TerminalApplication", "GraphModel", "GraphReplica", "GraphControllers", "GraphClient",
      "GraphOffline", "StickiesModel", "StickiesKit", "StickiesFiles", "CommandLineIO", "FreedMemory",
    ],
    "stickiesd": [
      "GraphModel", "GraphWire", "GraphStore", "GraphStoreTools", "GraphAccess", "GraphHub", "GraphServer",
      "GraphHTTP", "StickiesWeb", "StickiesModel", "CommandLineIO", "FreedMemory",
    ],
    "stickies": [
      "CommandLineIO", "GraphModel", "GraphWire", "GraphJSON", "GraphReplica", "GraphClient", "GraphReplicaStore",
      "GraphOffline", "GraphShell", "StickiesModel", "StickiesKit", "StickiesFiles", "StickiesTerminal",
      "TerminalApplication", "TerminalCells",
      "FreedMemory",
    ],
    "graph-sim": ["GraphSimulation"],
    "CoreDataModels": ["GraphModel", "CoreDataNames"],
    "ModelClasses": ["ModelFiles"],
    "graph-generate": ["ModelClasses", "CoreDataModels"],
    "graph-classes": ["ModelClasses"],
    "wire-generate": [],
    "GraphTesting": ["GraphModel", "GraphWire", "GraphReplica", "GraphStore", "GraphStoreTools"],
  ]

  private static let theirs: [String: Set<String>] = [
    "GraphHub": ["DequeModule"],
    "GraphControllers": ["Synchronization"],
    "GraphStore": ["GRDB", "GRDBSQLite", "HeapModule", "Logging"],
    "GraphStoreTools": ["GRDB", "GRDBSQLite"],
    "GraphReplicaStore": ["GRDB"],
    "GraphAccess": ["GRDB", "Crypto"],
    "GraphStoreFaults": ["GRDBSQLite"],
    "CoreDataStore": ["GRDBSQLite"],
    "GraphServer": ["NIOCore", "NIOPosix", "NIOSSL", "NIOTLS", "Logging", "ServiceLifecycle"],
    "GraphHTTP": [
      "Crypto", "HTTPTypes", "HummingbirdCore", "Logging", "NIOCore", "NIOHTTP1", "NIOHTTPTypes", "NIOHTTPTypesHTTP1",
      "NIOPosix",
    ],
    "GraphClient": ["DequeModule", "NIOCore", "NIOPosix", "NIOSSL", "NIOTLS", "Logging", "Metrics", "Tracing"],
    "GraphClientService": ["ServiceLifecycle"],
    "GraphEmbedded": ["Logging"],
    "GraphOffline": ["Logging"],
    "CommandLineIO": ["Logging"],
    "StickiesKit": ["Logging"],
    "GraphShell": ["ArgumentParser"],
    "stickiesd": [
      "ArgumentParser", "Configuration", "Crypto", "Logging", "ServiceLifecycle", "UnixSignals",
    ],
    "stickies": ["ArgumentParser"],
    "graph-sim": ["ArgumentParser"],
  ]

  /// Foundation is the toolchain's; the pure targets do without it.
  private static let withoutFoundation: Set<String> = [
    "GraphModel", "GraphWire", "GraphHub", "GraphControllers", "TerminalApplication", "TerminalCells", "CoreDataNames",
  ]
  /// A client links no Foundation: its tables of languages alone are larger than the rest of the program.
  private static let withEssentialsOnly: Set<String> = [
    // For the types of attributes in generated classes.
    "GraphReplica",
    "GraphClient", "GraphClientService", "CommandLineIO", "GraphShell", "StickiesModel", "StickiesKit", "StickiesFiles",
    "StickiesTerminal", "CoreDataModels", "CoreDataStore", "stickies",
  ]
  private static let toolchain: Set<String> = [
    "Foundation", "FoundationEssentials", "Dispatch", "Observation", "Synchronization", "Glibc", "Musl", "Darwin",
    "Swift",
  ]

  /// The Swift files of a folder, which are read once for all tests.
  static func sources(_ folder: String) throws -> [(target: String, path: String, text: String)] {
    if let known = readFolders.withLock({ $0[folder] }) { return known }
    let found = try readSources(folder)
    readFolders.withLock { $0[folder] = found }
    return found
  }

  private static let readFolders = Mutex([String: [(target: String, path: String, text: String)]]())

  private static func readSources(_ folder: String) throws -> [(target: String, path: String, text: String)] {
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

  /// The scripts, and the examples in Python.
  static func scripts() throws -> [(path: String, text: String)] {
    var found = [(String, String)]()
    for folder in ["scripts", "docs/examples"] {
      guard let walker = FileManager.default.enumerator(atPath: root.appendingPathComponent(folder).path) else {
        continue
      }
      for case let path as String in walker where path.hasSuffix(".py") || !path.contains(".") {
        // Folders can't be read.
        guard let text = try? file("\(folder)/\(path)"), text.hasPrefix("#!") || path.hasSuffix(".py") else { continue }
        found.append(("\(folder)/\(path)", text))
      }
    }
    return found
  }

  static func file(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  /// The module of every import, in any form: `@testable import X`, `import struct X.Y`, `public import X`.
  private static func imports(_ text: String) -> [String] {
    // Where there is no FoundationEssentials, its types are in Foundation.
    let fallback =
      #/#if canImport\(FoundationEssentials\)\s+(import FoundationEssentials)\s+#else\s+import Foundation\s+#endif/#
    return text.replacing(fallback) { $0.output.1 }.split(separator: "\n").compactMap { line in
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
    let imported = Dictionary(grouping: files, by: \.target).mapValues { Set($0.flatMap { Self.imports($0.text) }) }
    for (target, allowed) in Self.ours.merging(Self.theirs, uniquingKeysWith: { $0.union($1) }) {
      let unused = allowed.subtracting(imported[target, default: []])
      #expect(unused.isEmpty, "the table allows \(target) imports that no file has: \(unused.sorted())")
    }
  }

  /// The package manager finds modules that another target of the build declares, and builds some that no file uses.
  @Test func packageDeclaresWhatTargetsImport() throws {
    let targets = PackageManifest(try Self.file("Package.swift")).targets
    let programs = Set(targets.filter { $0.kind == "executableTarget" }.map(\.name))
    let inSources = targets.filter { $0.kind != "plugin" && $0.folder.hasPrefix("Sources/") }
    #expect(Set(inSources.map(\.name)) == Set(Self.ours.keys), "each target of Sources is in the table of layers")
    for target in targets where target.kind != "plugin" {
      let texts = try Self.sources(target.folder).map(\.text)
      // Strings of tests contain programs in other languages.
      var imported = Set(texts.flatMap { Self.imports(SourceText.shared($0).code) })
      imported.subtract(Self.toolchain.union(["Testing"]))
      // The generated classes import these.
      if target.hasPlugin { imported.formUnion(["GraphModel", "GraphReplica"]) }
      let undeclared = imported.subtracting(target.dependencies.map(PackageManifest.module))
      #expect(undeclared.isEmpty, "Package.swift declares no dependency of \(target.name) on \(undeclared.sorted())")
      let unused = target.dependencies.filter { name in
        // A test runs a program instead of importing it.
        let isRun = programs.contains(name) && texts.contains { $0.contains("\"\(name)\"") }
        return !isRun && !imported.contains(PackageManifest.module(name))
      }
      #expect(unused.isEmpty, "no file of \(target.name) imports \(unused.sorted()), which Package.swift declares")
    }
  }

  @Test func lowerLayersDoNotMentionNotes() throws {
    let below = Set(Self.ours.keys).subtracting([
      "StickiesModel", "StickiesKit", "StickiesFiles", "StickiesTerminal", "StickiesWeb", "stickiesd", "stickies",
      "graph-sim",
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
    code.contains("stickiesd") || code.contains("stickies graph") || code.contains("stickies sync")
  }

  private static func isVerb(_ code: String) -> Bool { code.contains("note(") }

  @Test func everyFileOfTourExists() throws {
    let tour = try Self.file("docs/tour.md")
    let paths = tour.matches(of: #/`((?:Sources|Schema|scripts|Tests|docs)/[^`\s]+)`/#).map { String($0.output.1) }
    #expect(paths.count >= 8)
    for path in paths {
      #expect(
        FileManager.default.fileExists(atPath: Self.root.appendingPathComponent(path).path),
        "docs/tour.md names \(path)")
    }
  }

  @Test func everyFunctionOfTourIsInItsFile() throws {
    let tour = try Self.file("docs/tour.md")
    let steps = tour.matches(of: #/`\w+\.(\w+)` in\s+`(Sources/[^`\s]+)`/#)
    #expect(steps.count >= 8)
    for step in steps {
      let text = try Self.file(String(step.output.2))
      #expect(text.contains("func \(step.output.1)("), "docs/tour.md: \(step.output.2) has no \(step.output.1)")
    }
  }

  @Test func everyTargetIsInArchitecture() throws {
    let page = try Self.file("docs/architecture.md")
    let targets = PackageManifest(try Self.file("Package.swift")).targets
    let names = Set(targets.map(\.name))
    #expect(names.count > 30)
    for target in targets {
      // The tests of one target have its name.
      let isOfATarget = target.kind == "testTarget" && names.contains(String(target.name.dropLast("Tests".count)))
      #expect(isOfATarget || page.contains("`\(target.name)`"), "docs/architecture.md knows no \(target.name)")
    }
  }

  @Test func everyTestTargetRunsInContinuousIntegration() throws {
    let workflow = try Self.file(".github/workflows/test.yml")
    let parts = workflow.split(separator: "\n").filter { $0.hasPrefix("          - ") }
    let run = Set(parts.flatMap { $0.split { !$0.isLetter } }.map(String.init))
    let targets = PackageManifest(try Self.file("Package.swift")).targets.filter { $0.kind == "testTarget" }
    #expect(targets.count > 15)
    for target in targets {
      #expect(run.contains(String(target.name.dropLast("Tests".count))), "no part of the workflow runs \(target.name)")
    }
  }

  @Test func fileHasOneTopic() throws {
    for (_, path, text) in try Self.sources("Sources") {
      let lines = text.count { $0 == "\n" }
      #expect(lines <= 450, "\(path) has \(lines) lines")
    }
  }
}
