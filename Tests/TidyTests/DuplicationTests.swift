import Testing

/// Code is written once: no two places in Sources share more than twelve equal lines. Comments, imports, the contents
/// of literals, and lines of punctuation do not count, so tables of literals may repeat themselves.
@Suite struct DuplicationTests {
  private static let limit = 12

  private struct Line {
    let number: Int
    /// Equal for equal lines.
    let id: Int
  }

  /// The lines of a file that count.
  private static func lines(_ text: String, _ ids: inout [Substring: Int]) -> [Line] {
    let code = SourceText.shared(text).code.split(separator: "\n", omittingEmptySubsequences: false)
    return code.enumerated().compactMap { index, line in
      guard let start = line.firstIndex(where: { $0 != " " }), let end = line.lastIndex(where: { $0 != " " }) else {
        return nil
      }
      let words = line[start...end]
      guard words.count(where: \.isLetter) > 2, !words.hasPrefix("import ") else { return nil }
      let id = ids[words, default: ids.count]
      ids[words] = id
      return Line(number: index + 1, id: id)
    }
  }

  /// The pairs of places that share more lines than the limit, each by its first line.
  private static func duplicates(_ files: [(path: String, text: String)]) -> [String] {
    let length = limit + 1
    var ids = [Substring: Int]()
    let lines = files.map { Self.lines($0.text, &ids) }
    var places = [[Int]: (file: Int, line: Int)]()
    var found = [String]()
    for file in lines.indices where lines[file].count >= length {
      // The place that the previous line's run equals: a longer run is one pair.
      var previous: (file: Int, line: Int)?
      for line in 0...(lines[file].count - length) {
        let run = lines[file][line..<(line + length)].map(\.id)
        guard let first = places[run] else {
          places[run] = (file, line)
          previous = nil
          continue
        }
        if previous?.file != first.file || previous?.line != first.line - 1 {
          let one = "\(files[first.file].path):\(lines[first.file][first.line].number)"
          found.append("\(one) and \(files[file].path):\(lines[file][line].number)")
        }
        previous = first
      }
    }
    return found
  }

  @Test func codeIsWrittenOnce() throws {
    let files = try LayeringTests.sources("Sources").filter { !$0.path.contains("/Generated/") }
    let found = Self.duplicates(files.map { ($0.path, $0.text) })
    #expect(found.isEmpty, "more than \(Self.limit) lines are equal at \(found.joined(separator: "; "))")
  }

  @Test func duplicatesAreFound() {
    let body = (0..<20).map { "  let value\($0) = \"\($0)\" // \($0)\n" }
    let file = ("A.swift", "import A\nstruct A {\n" + body.joined() + "}\n")
    let copy = ("B.swift", "struct B {\n" + body.prefix(13).joined(separator: "\n") + "}\n")
    #expect(Self.duplicates([file, copy]) == ["A.swift:3 and B.swift:2"])
    let part = ("B.swift", "struct B {\n" + body.prefix(12).joined(separator: "\n") + "}\n")
    #expect(Self.duplicates([file, part]).isEmpty)
    let table = ("C.swift", String(repeating: "  \"one\", \"two\", 3,\n", count: 40))
    #expect(Self.duplicates([table]).isEmpty)
  }
}
