import Foundation
import Testing

/// The browser's modules: those that correspond to pure targets are pure, too, and import no layer above.
@Suite struct WebModuleTests {
  /// The folders that a pure folder may import.
  private static let layers: [String: Set<String>] = [
    "wire": ["wire"], "context": ["wire", "context"], "replica": ["wire", "context", "replica"],
  ]

  /// Names of the page, of clocks, randomness, storage and the network, and what makes code asynchronous.
  private static let impure = [
    #"(?:^|[^.\w])(?:window|document|navigator|location|performance|crypto|console|process)\."#,
    #"\b(?:fetch|setTimeout|setInterval|queueMicrotask|requestAnimationFrame|structuredClone)\("#,
    #"\b(?:Date|Promise|WebSocket|XMLHttpRequest|EventTarget|localStorage|sessionStorage|indexedDB|globalThis)\b"#,
    #"\b(?:async|await)\b"#, #"\bMath\.random\b"#, #"\bimport\("#, #"\bnew Function\b|\beval\("#,
  ]

  /// The modules of a folder of Web.
  private static func modules(_ folder: String) throws -> [(path: String, text: String)] {
    let base = "Web/\(folder)"
    let walker = FileManager.default.enumerator(atPath: LayeringTests.root.appendingPathComponent(base).path)
    var found = [(path: String, text: String)]()
    while let path = walker?.nextObject() as? String {
      guard path.hasSuffix(".js") else { continue }
      found.append(("\(base)/\(path)", try LayeringTests.file("\(base)/\(path)")))
    }
    return found
  }

  /// The lines without comments, which stand on lines of their own or behind two slashes.
  private static func code(_ text: String) -> [String] {
    text.replacing(#/\/\*[\s\S]*?\*\//#) { match in String(match.output.filter { $0 == "\n" }) }
      .split(separator: "\n", omittingEmptySubsequences: false).map { line in
        line.drop { $0 == " " }.hasPrefix("//") ? "" : String(line)
      }
  }

  /// The impure names of a text, each with its line.
  private static func impurities(_ text: String) throws -> [String] {
    // A word boundary of Unicode is not one between `Date` and `.now`.
    let patterns = try impure.map { try Regex($0).wordBoundaryKind(.simple) }
    return code(text).enumerated().flatMap { index, line in
      patterns.compactMap { line.firstMatch(of: $0).map { "\(index + 1): \(line[$0.range])" } }
    }
  }

  @Test func pureModulesUseNeitherPageNorClock() throws {
    for folder in Self.layers.keys {
      let modules = try Self.modules(folder)
      #expect(!modules.isEmpty, "Web/\(folder) has no modules")
      for (path, text) in modules {
        for found in try Self.impurities(text) { Issue.record("\(path):\(found) is not allowed in a pure module") }
      }
    }
  }

  @Test func pureModulesImportNoLayerAbove() throws {
    for (folder, allowed) in Self.layers {
      for (path, text) in try Self.modules(folder) {
        for match in text.matches(of: #/from '(\.\.?)\/(?:(\w+)\/)?\w+\.js'/#) {
          let imported = match.output.2.map(String.init) ?? folder
          #expect(allowed.contains(imported), "\(path) imports Web/\(imported)")
        }
        let count = text.matches(of: #/\bfrom '/#).count
        #expect(
          count == text.matches(of: #/from '\.\.?\/(?:\w+\/)?\w+\.js'/#).count, "\(path) imports a file outside of Web")
      }
    }
  }

  @Test func linesFitScreen() throws {
    for (path, text) in try (Array(Self.layers.keys) + ["net"]).flatMap({ try Self.modules($0) }) {
      for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        #expect(line.count <= 120, "\(path):\(number + 1) has \(line.count) columns")
      }
    }
  }

  @Test func impureNamesAreFound() throws {
    let text = """
      // Date in a comment
      /* setTimeout(
       */
      const a = Date.now();
      const b = subscribe.window.offset;
      const c = window.offset;
      setTimeout(() => Math.random(), 1);
      """
    #expect(try Self.impurities(text) == ["4: Date", "6:  window.", "7: setTimeout(", "7: Math.random"])
  }
}
