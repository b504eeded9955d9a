import Foundation
import Testing

/// Every public declaration of a library has a doc comment, and so does every line of a public enum's cases. Exceptions
/// are requirements of protocols, which are documented there: of Swift's own protocols the list below, of ours every
/// requirement of a documented protocol that the type names.
@Suite struct DocumentationTests {
  /// The targets that other targets import; no target imports the programs.
  private static let libraries: Set<String> = [
    "GraphModel", "GraphWire", "GraphLog", "GraphStore", "GraphStoreTools", "GraphHub", "GraphReplica",
    "GraphServer", "GraphAccess", "GraphClient", "GraphClientService", "GraphEmbedded", "GraphControllers",
    "CommandLineIO", "GraphShell", "GraphSimulation", "GraphStoreFaults", "GraphTesting", "StickiesModel",
    "StickiesFiles", "StickiesKit", "StickiesTerminal",
    "TerminalApplication", "TerminalCells", "CoreDataModels", "CoreDataNames", "CoreDataStore",
  ]

  private static let documentedBySwift: Set<String> = [
    "description", "debugDescription", "==", "<", "hash", "init(rawValue", "init(nilLiteral", "init(from", "encode",
    "next",
    "makeAsyncIterator",
  ]

  private struct Declaration {
    let name: String
    let isDocumented: Bool
    let line: Int
    /// The heads of the types and extensions around it, the nearest first.
    let around: [Substring]
  }

  private static let words = "func|var|let|init|subscript|struct|class|enum|protocol|typealias|associatedtype|actor"

  /// The public declarations of a file, the cases of its public enums, and the requirements of its public protocols.
  private static func declarations(_ text: String) throws -> [Declaration] {
    let anyModifier = #"(?:@[A-Za-z]+(?:\([^)]*\))? +|(?:[a-z]+(?:\([a-z]+\))? +))*?"#
    let head = try Regex<(Substring, Substring, Substring, Substring)>(
      #"^ *(\#(anyModifier))(\#(words))\b ?\??([^ A-Za-z_`({:]+(?= )|[A-Za-z_0-9`]*(?:\((?:from|rawValue|nilLiteral)\b)?)"#
    )
    let type = try Regex(#"\b(?:extension|struct|class|enum|protocol|actor) "#)
    let publicEnum = try Regex(#"\bpublic (?:[a-z]+ )*enum "#)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    func indent(_ line: Substring) -> Int { line.prefix { $0 == " " }.count }

    var found = [Declaration]()
    var around = [Substring]()
    var isString = false
    for (index, line) in lines.enumerated() {
      // The line that a text begins on may declare what it is.
      let isInString = isString
      if line.components(separatedBy: "\"\"\"").count % 2 == 0 { isString.toggle() }
      let trimmed = line.drop { $0 == " " }
      if isInString || trimmed.isEmpty || trimmed.hasPrefix("//") { continue }
      while let nearest = around.first, indent(nearest) >= indent(line) { around.removeFirst() }
      defer { if line.contains(type), !trimmed.hasPrefix("}") { around.insert(line, at: 0) } }
      var above = index - 1
      while above >= 0, lines[above].drop(while: { $0 == " " }).hasPrefix("@") { above -= 1 }
      let isDocumented = above >= 0 && lines[above].drop { $0 == " " }.hasPrefix("///")
      // Those of a switch stand deeper. A line may have several that belong together.
      if trimmed.hasPrefix("case ") || trimmed.hasPrefix("indirect case "), let nearest = around.first,
        nearest.contains(publicEnum), indent(line) == indent(nearest) + 2
      {
        found.append(Declaration(name: String(trimmed), isDocumented: isDocumented, line: index + 1, around: around))
        continue
      }
      let isRequirement = around.first.map { $0.contains("public protocol ") } ?? false
      // Most lines declare nothing public, and the expression is slow.
      guard isRequirement || line.contains("public ") || line.contains("open "),
        let match = line.firstMatch(of: head)
      else { continue }
      let modifiers = match.output.1.split(separator: " ")
      guard modifiers.contains("public") || modifiers.contains("open") || isRequirement else { continue }
      let name =
        match.output.2 == "init" || match.output.2 == "subscript" ? match.output.2 + match.output.3 : match.output.3
      found.append(Declaration(name: String(name), isDocumented: isDocumented, line: index + 1, around: around))
    }
    return found
  }

  /// The words behind a type's colon.
  private static func parents(_ head: Substring) -> [String] {
    let head = head.range(of: " where ").map { head[..<$0.lowerBound] } ?? head
    guard let colon = head.firstIndex(of: ":") else { return [] }
    return head[head.index(after: colon)...].split { !$0.isLetter && $0 != "." }.map(String.init)
  }

  @Test func everyPublicDeclarationIsDocumented() throws {
    let files = try LayeringTests.sources("Sources").filter {
      // The names of generated classes are documented in their model.
      Self.libraries.contains($0.target) && !$0.path.contains("/Generated/")
    }
    var requirements = [String: Set<String>]()
    var refined = [String: [String]]()
    let declared = try files.map { try Self.declarations($0.text) }
    for ((_, _, text), declarations) in zip(files, declared) {
      for declaration in declarations {
        guard let head = declaration.around.first, let place = head.range(of: "protocol ") else { continue }
        let name = String(head[place.upperBound...].prefix { $0.isLetter })
        if declaration.isDocumented { requirements[name, default: []].insert(declaration.name) }
      }
      for line in text.split(separator: "\n") {
        guard line.hasPrefix("public protocol ") else { continue }
        refined[String(line.dropFirst(16).prefix { $0.isLetter })] = Self.parents(line)
      }
    }
    #expect(requirements.count >= 5)

    /// Whether a declaration satisfies a requirement of a protocol that its type names, or of one that refines it.
    func answers(_ name: String, _ protocols: [String]) -> Bool {
      protocols.contains { requirements[$0]?.contains(name) == true || answers(name, refined[$0] ?? []) }
    }

    var (count, cases) = (0, 0)
    for ((_, path, _), declarations) in zip(files, declared) {
      for declaration in declarations {
        count += 1
        if declaration.name.hasPrefix("case ") { cases += 1 }
        let isAnswer =
          Self.documentedBySwift.contains(declaration.name)
          || answers(declaration.name, declaration.around.first.map(Self.parents) ?? [])
        #expect(declaration.isDocumented || isAnswer, "\(path):\(declaration.line) says nothing of \(declaration.name)")
      }
    }
    #expect(count > 800, "only \(count) public declarations were found")
    #expect(cases > 500, "only \(cases) lines of cases were found")
  }

  @Test func everyLimitIsOnPageOfLimits() throws {
    let page = try LayeringTests.file("docs/limits.md")
    let limit = try Regex(#"^ +.*\bstatic (?:let|var) (?:maximum\w*|\w*[lL]imit)\b"#)
    let type = try Regex(#"^[a-z@].*\b(?:struct|class|enum|extension) (?:[A-Z]\w*\.)*([A-Z]\w*)"#)
    var types = Set<String>()
    for (_, _, text) in try LayeringTests.sources("Sources") {
      var name: Substring?
      for line in text.split(separator: "\n") {
        if line.first != " ", let match = try type.firstMatch(in: line) { name = match[1].substring }
        if line.contains("static "), line.contains(limit), let name { types.insert(String(name)) }
      }
    }
    #expect(types.count > 50, "only \(types.count) types with limits were found")
    for name in types { #expect(page.contains("`\(name)`"), "docs/limits.md does not list the limits of \(name)") }
  }

  @Test(arguments: [
    "GraphModel", "GraphWire", "GraphStore", "GraphStoreTools", "GraphHub", "GraphReplica", "GraphControllers",
    "GraphServer", "GraphClient", "GraphEmbedded", "GraphShell", "StickiesModel", "StickiesFiles", "TerminalCells",
    "TerminalApplication",
  ])
  func libraryPageListsExistingDeclarations(target: String) throws {
    let page = try LayeringTests.file("Sources/\(target)/\(target).docc/\(target).md")
    let names = page.matches(of: #/``([A-Za-z]+)``/#).map { String($0.output.1) }
    #expect(names.first == target)
    #expect(names.count > 1)
    let text = try LayeringTests.sources("Sources/\(target)").map(\.text).joined()
    for name in names.dropFirst() {
      let type = try Regex(#"(?m)^(?:public|open) .*\b\#(name)\b"#)
      #expect(text.contains(type), "Sources/\(target) has no \(name)")
    }
  }
}
