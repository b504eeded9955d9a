/// Lines of Swift, in the form that swift-format leaves as it is.
enum SwiftCode {
  static let lineLength = 120

  static func indented(_ lines: [String], by columns: Int = 2) -> [String] {
    lines.map { $0.isEmpty ? $0 : String(repeating: " ", count: columns) + $0 }
  }

  /// A block, in one line if its body has one and both fit.
  /// - Parameter column: the indentation that is added later.
  static func block(_ head: String, _ body: [String], column: Int) -> [String] {
    if let line = body.first, body.count == 1, !line.hasPrefix("//") {
      let short = "\(head) { \(line) }"
      if column + short.count <= lineLength { return [short] }
    }
    return ["\(head) {"] + indented(body) + ["}"]
  }

  static func check(_ condition: String, orThrow error: String, column: Int) -> [String] {
    block("guard \(condition) else", ["throw MalformedMessage(\"\(error)\")"], column: column)
  }

  /// A case of a switch, in one line if its body has one and both fit.
  static func label(_ pattern: String, _ body: [String], column: Int) -> [String] {
    if let line = body.first, body.count == 1, column + pattern.count + 2 + line.count <= lineLength {
      return ["\(pattern): \(line)"]
    }
    return ["\(pattern):"] + indented(body)
  }
}
