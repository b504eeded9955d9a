import Foundation
import Testing

/// The interface of StickiesKit: docs/api.txt lists it, so that a change of it is noticed and reviewed.
@Suite struct PublicSurfaceTests {
  /// Names that programs and their other modules also use.
  private static let common: Set<String> = [
    "Model", "Value", "Change", "Color", "Link", "Frame", "Entity", "Property", "Attribute", "Transaction", "Edit",
  ]

  /// Read once for all tests.
  private static let declarations = Result { try PublicDeclarations(root: LayeringTests.root) }

  @Test func interfaceIsThatOfList() throws {
    let current = Set(try Self.declarations.get().lines)
    let listed = Set(try LayeringTests.file("docs/api.txt").split(separator: "\n").map(String.init))
    #expect(listed.count > 500, "docs/api.txt has only \(listed.count) declarations")
    let changes =
      current.subtracting(listed).sorted().map { "+ \($0)" } + listed.subtracting(current).sorted().map { "- \($0)" }
    #expect(
      changes.isEmpty,
      """
      the public declarations of StickiesKit have changed; run scripts/list-api and review the difference of docs/api.txt
      \(changes.joined(separator: "\n"))
      """)
  }

  private static let systems = ["Glibc", "Musl", "Darwin"]

  @Test func importBringsFewNames() throws {
    let types = try Self.declarations.get().types
    #expect(types.count > 80, "only \(types.count) types were found")
    #expect(types.count <= 120, "import StickiesKit brings \(types.count) types: \(types.sorted())")
    #expect(types.isDisjoint(with: Self.common), "other modules use \(types.intersection(Self.common).sorted())")
  }

  /// A program that calls for the effect need not use the result: that of a commit, or that of the body of a call.
  @Test func resultsOfCallsWithEffectsAreDiscardable() throws {
    let returns = #/-> (?:SaveResult\??|BatchResult|Result)(?:\s+where [^{]*)?\s\{/#
    let targets: Set = ["GraphClient", "GraphEmbedded", "StickiesKit"]
    var calls = 0
    for (target, path, text) in try LayeringTests.sources("Sources") where targets.contains(target) {
      let parts = SourceText.shared(text).code.components(separatedBy: "\n  public ")
      for (before, part) in zip(parts, parts.dropFirst()) {
        guard let declaration = part.components(separatedBy: "\n\n").first, declaration.contains(returns) else {
          continue
        }
        calls += 1
        let line = declaration.prefix { $0 != "\n" }
        #expect(before.hasSuffix("@discardableResult"), "\(path): the result of \(line) is not discardable")
      }
    }
    #expect(calls > 20, "only \(calls) calls were found")
  }

  /// There is a C library of each system; the one of Linux is called Glibc or Musl. A file imports the one that there
  /// is, and uses it by no name.
  @Test func librariesOfOneSystemAreImportedConditionally() throws {
    let choice = """
      #if canImport(Glibc)
        import Glibc
      #elseif canImport(Musl)
        import Musl
      #elseif canImport(Darwin)
        import Darwin
      #endif
      """
    var files = 0
    for folder in ["Sources", "Tests", "Benchmarks/Sources", "Fuzz/Sources", "docs/examples"] {
      for (_, path, text) in try LayeringTests.sources(folder) {
        // Most files name none of them.
        guard Self.systems.contains(where: { text.contains($0) }) else { continue }
        if text.contains(choice) { files += 1 }
        let code = SourceText(text.replacing(choice, with: "")).code
        let lines = code.split(separator: "\n").filter { line in
          Self.systems.contains { line.contains("import \($0)") || line.contains("\($0).") }
        }
        #expect(lines.isEmpty, "\(path) names the library of one system: \(lines)")
      }
    }
    #expect(files > 50)
  }

  /// Apple's systems have no module of this name. Generated code imports it for the tests on Linux.
  @Test func partOfFoundationIsImportedConditionally() throws {
    var files = 0
    for folder in ["Sources", "Tests", "Benchmarks/Sources", "Fuzz/Sources", "docs/examples"] {
      for (_, path, text) in try LayeringTests.sources(folder) where text.contains("import FoundationEssentials") {
        if path.hasSuffix(".pb.swift") { continue }
        files += 1
        #expect(!"\n\(text)".contains("\nimport FoundationEssentials"), "\(path) imports it without a condition")
      }
    }
    #expect(files > 20)
  }

  @Test func publicDeclarationsAreFound() throws {
    let texts = [
      "Kit": """
      /// A type.
      @MainActor
      public final class Shelf<Item>: Sendable where Item: Sendable {
        public private(set) var items: [Item] = { [] }()
        var hidden = 1
        public enum State { case empty, full(Int) }
        public init(_ items: [Item]) { self.items = items }
        public static func == (
          left: Shelf, right: Shelf
        ) -> Bool { left === right }
        func body() { struct Inner { public var x = 1 } }
      }
      struct Internal { public var count = 1 }
      public protocol Named { var name: String { get } }
      extension Shelf where Item == String {
        public var joined: String { "{" }
      }
      public typealias Number = Int
      """,
      "Base": "public struct Used { public var id: Int }\npublic struct Unused { public var id: Int }",
    ]
    let exports = "@_exported import Kit\n@_exported import struct Base.Used\nimport Base"
    let found = PublicDeclarations(exports: exports) { texts[$0].map { [$0] } ?? [] }
    #expect(found.types == ["Shelf", "Shelf.State", "Named", "Number", "Used"])
    #expect(
      found.lines == [
        "Base", "  Used: var id: Int", "  struct Used",
        "Kit", "  @MainActor final class Shelf<Item>: Sendable where Item: Sendable", "  Named: var name: String",
        "  Shelf where Item == String: var joined: String", "  Shelf.State: case empty, full(Int)",
        "  Shelf: enum State", "  Shelf: init(_ items: [Item])",
        "  Shelf: static func == (left: Shelf, right: Shelf) -> Bool", "  Shelf: var items: [Item]",
        "  protocol Named", "  typealias Number = Int",
        "StickiesKit",
      ])
  }
}
