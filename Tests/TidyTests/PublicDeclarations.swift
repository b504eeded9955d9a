import Foundation

/// The public declarations that `import StickiesKit` brings, read from the sources: types and their members, one a line
/// and without bodies, so that a change of the interface is a change of one line.
struct PublicDeclarations {
  /// The full names of the exported types.
  private(set) var types = Set<String>()
  /// The lines of docs/api.txt: each module, and its declarations in alphabetical order.
  private(set) var lines = [String]()

  /// - Parameters:
  ///   - exports: the text of the file with the exported imports.
  ///   - sources: the texts of a module's files, in any order.
  init(exports: String, sources: (_ module: String) throws -> [String]) rethrows {
    let modules = try Self.exported(exports).sorted { $0.key < $1.key }.map { module, names in
      let declarations = try sources(module).flatMap { text in
        var scan = DeclarationScan(SourceText.shared(text).code)
        return scan.declarations()
      }
      return (module, names, declarations)
    }
    for (_, names, declarations) in modules {
      for declaration in declarations where names.contains(declaration.outermost) {
        if let type = declaration.type { types.insert(type) }
      }
    }
    for (module, names, declarations) in modules {
      // A module can extend the exported types of another one.
      let visible = declarations.filter { names.contains($0.outermost) || types.contains($0.outermost) }
      lines += [module] + Set(visible.map { "  " + $0.line }).sorted()
    }
  }

  /// Reads the sources of a repository.
  init(root: URL) throws {
    let sources = root.appendingPathComponent("Sources")
    let exports = sources.appendingPathComponent("StickiesKit/Exports.swift")
    try self.init(exports: String(contentsOf: exports, encoding: .utf8)) { module in
      let folder = sources.appendingPathComponent(module)
      guard let walker = FileManager.default.enumerator(atPath: folder.path) else { return [] }
      var texts = [String]()
      for case let path as String in walker where path.hasSuffix(".swift") {
        texts.append(try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8))
      }
      return texts
    }
  }

  /// The exported part of a module.
  enum Names {
    case all
    case some(Set<String>)

    func contains(_ name: String) -> Bool { if case .some(let names) = self { names.contains(name) } else { true } }
  }

  /// The modules that the exported imports name, and that of the file itself.
  private static func exported(_ text: String) -> [String: Names] {
    var found = ["StickiesKit": Names.all]
    for line in text.split(separator: "\n") where line.hasPrefix("@_exported import ") {
      let path = line.split(separator: " ").suffix(1).joined().split(separator: ".").map(String.init)
      switch found[path[0]] {
      case _ where path.count == 1: found[path[0]] = .all
      case .all: break
      case .some(.some(let names)): found[path[0]] = .some(names.union([path[1]]))
      case nil: found[path[0]] = .some([path[1]])
      }
    }
    return found
  }
}

/// A pass over the code of one file that finds its public declarations. Conditional compilation is not evaluated.
struct DeclarationScan {
  /// A public declaration.
  struct Declaration {
    /// The type at the top of the file that it is or belongs to; the name of a function that belongs to none.
    let outermost: String
    /// Without its body and without `public`.
    let line: String
    /// The full name, if it declares a type.
    let type: String?
  }

  /// A type or an extension whose braces are open.
  private struct Scope {
    let name: String
    /// The name, with the conditions of an extension.
    let label: String
    let kind: String
    let isVisible: Bool
  }

  private let code: [Character]
  private var place = 0
  private var scopes = [Scope]()
  private var found = [Declaration]()
  /// The text since the end of the previous declaration.
  private var head = ""
  private var parentheses = 0

  private static let types: Set<String> = ["struct", "class", "enum", "protocol", "actor"]
  private static let keywords = types.union([
    "typealias", "extension", "func", "var", "let", "init", "subscript", "case",
  ])

  init(_ code: String) { self.code = Array(code) }

  /// The public declarations, in the order of the file.
  mutating func declarations() -> [Declaration] {
    while place < code.count {
      let character = code[place]
      place += 1
      switch character {
      case "(", "[":
        parentheses += 1
        head.append(character)
      case ")", "]":
        parentheses -= 1
        head.append(character)
      case "{" where parentheses > 0: head += "{\(body())}"
      case "{": open()
      case "}":
        finish()
        if !scopes.isEmpty { scopes.removeLast() }
      case "\n": if parentheses == 0, !continues { finish() } else { head.append(" ") }
      default: head.append(character)
      }
    }
    finish()
    return found
  }

  /// Whether the declaration goes on in the next line.
  private var continues: Bool {
    let words = head.split(separator: " ")
    // Attributes that stand alone, such as `@available(*, unavailable, renamed: "")`.
    if words.first?.hasPrefix("@") == true, Self.parts(head) == nil { return true }
    if [":", ",", "="].contains(words.last?.last) && words.last != "func" { return words.last != "case" }
    if words.last?.hasSuffix("->") == true { return true }
    let next = code[place...].drop { $0.isWhitespace }.prefix(6)
    return ["where ", "->", "{", "async ", "throws"].contains { String(next).hasPrefix($0) }
  }

  /// Handles an opening brace: of a type, or of a body, which is skipped.
  private mutating func open() {
    guard let scope = scope(head) else {
      finish()
      _ = body()
      return
    }
    finish()
    scopes.append(scope)
  }

  /// Skips a body whose brace has been read.
  private mutating func body() -> String {
    var depth = 1
    let start = place
    while place < code.count, depth > 0 {
      if code[place] == "{" { depth += 1 } else if code[place] == "}" { depth -= 1 }
      place += 1
    }
    return String(code[start..<max(start, place - 1)])
  }

  /// The keyword of a declaration, with the words before and the text behind it; nil if there is none.
  private static func parts(_ head: String) -> (modifiers: [String], keyword: String, rest: String)? {
    let words = head.split(separator: " ").map(String.init)
    for (index, word) in words.enumerated() {
      let keyword = String(word.prefix { $0.isLetter })
      guard keywords.contains(keyword) else { continue }
      // `class var` declares a member.
      if keyword == "class", words.dropFirst(index + 1).first.map({ keywords.contains($0) }) == true { continue }
      let rest = ([String(word.dropFirst(keyword.count))] + words[(index + 1)...]).joined(separator: " ")
      return (Array(words[..<index]), keyword, rest.hasPrefix(" ") ? String(rest.dropFirst()) : rest)
    }
    return nil
  }

  private static func name(_ rest: String) -> String {
    String(rest.prefix { $0.isLetter || $0.isNumber || "_.`".contains($0) })
  }

  private func isPublic(_ modifiers: [String], _ keyword: String) -> Bool {
    guard scopes.allSatisfy(\.isVisible) else { return false }
    if modifiers.contains("public") || modifiers.contains("open") || keyword == "extension" { return true }
    return scopes.last?.kind == "protocol" || (keyword == "case" && scopes.last?.kind == "enum")
  }

  private func scope(_ head: String) -> Scope? {
    guard let (modifiers, keyword, rest) = Self.parts(head) else { return nil }
    guard Self.types.contains(keyword) || keyword == "extension" else { return nil }
    let name = Self.name(rest)
    var label = name
    // The conditions of a type are in its own line.
    if keyword == "extension", let condition = rest.split(separator: " where ", maxSplits: 1).dropFirst().first {
      label = "\(name) where \(condition)".trimmed
    }
    return Scope(name: name, label: label, kind: keyword, isVisible: isPublic(modifiers, keyword))
  }

  /// Ends the declaration whose head has been read.
  private mutating func finish() {
    defer { head = "" }
    guard let (modifiers, keyword, rest) = Self.parts(head), keyword != "extension", isPublic(modifiers, keyword) else {
      return
    }
    let name = Self.name(rest)
    let full = (scopes.map(\.name) + [name]).joined(separator: ".")
    let others = modifiers.filter { !["public", "internal(set)", "private(set)", "@discardableResult"].contains($0) }
    let isType = Self.types.contains(keyword) || (keyword == "typealias" && scopes.isEmpty)
    let text = (others + ["\(keyword)\(rest.first.map { "(?<".contains($0) } ?? true ? "" : " ")\(rest)"])
      .joined(separator: " ").trimmed.replacing(#/ =$/#, with: "")
    let around = scopes.map(\.label).joined(separator: ".")
    found.append(
      Declaration(
        outermost: full.split(separator: ".").first.map(String.init) ?? name,
        line: around.isEmpty ? text : "\(around): \(text)", type: isType ? full : nil))
  }
}

extension String {
  /// On one line, with single spaces.
  fileprivate var trimmed: String {
    split(separator: " ").joined(separator: " ").replacing("( ", with: "(").replacing(" )", with: ")")
  }
}
