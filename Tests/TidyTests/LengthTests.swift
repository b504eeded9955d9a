import Testing

/// Functions and comments are short. The formatter checks the lines of code.
@Suite struct LengthTests {
  private static let functionLines = 60
  private static let columns = 120

  /// The functions of a file that are too long, each as its first line and its length.
  private static func longFunctions(_ file: SourceText) throws -> [(line: Int, count: Int)] {
    let head = try Regex(#"^ *(?:@?[\w()]+ )*(?:func |init[?(<]|deinit )"#)
    let lines = file.code.split(separator: "\n", omittingEmptySubsequences: false).map { line -> Substring in
      if let last = line.lastIndex(where: { $0 != " " }) { line[...last] } else { "" }
    }
    return try lines.indices.compactMap { first -> (line: Int, count: Int)? in
      let line = lines[first]
      guard line.contains("func ") || line.contains("init"), try head.prefixMatch(in: line) != nil else { return nil }
      // The brace may end a later line of the signature. A requirement and a function of one line have no such brace.
      let signatureEnd = lines[first...].firstIndex { $0.isEmpty || $0.hasSuffix("{") || $0.hasSuffix("}") }
      guard let signatureEnd, lines[signatureEnd].hasSuffix("{") else { return nil }
      let end = String(line.prefix { $0 == " " }) + "}"
      guard let last = lines[(signatureEnd + 1)...].firstIndex(where: { $0.hasPrefix(end) }) else { return nil }
      let count = last - first + 1
      return count > functionLines ? (line: first + 1, count: count) : nil
    }
  }

  @Test func functionFitsScreen() throws {
    for (_, path, text) in try LayeringTests.sources("Sources") where !path.contains("/Generated/") {
      for (line, count) in try Self.longFunctions(SourceText.shared(text)) {
        Issue.record("\(path):\(line): the function has \(count) lines")
      }
    }
  }

  @Test func commentFitsLine() throws {
    for (_, path, text) in try LayeringTests.sources("Sources") + LayeringTests.sources("Tests") {
      for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
      where line.utf8.count > Self.columns && line.count > Self.columns {
        let isComment = line.drop { $0 == " " }.hasPrefix("//")
        #expect(!isComment, "\(path):\(number + 1) has \(line.count) columns")
      }
    }
  }

  @Test func linesOfFunctionsAreCounted() throws {
    let body = String(repeating: "    work()\n", count: 58)
    let text = """
      protocol Worker {
        func work()
      }
      struct Example: Worker {
        func work() {}
        private func fits() {
      \(body)  }
        @discardableResult
        static func isTooLong(
          _ text: String
        ) -> Bool {
      \(body)  }
      }
      """
    let long = try Self.longFunctions(SourceText(text))
    #expect(long.map(\.line) == [67])
    #expect(long.map(\.count) == [62])
  }
}
