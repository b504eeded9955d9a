import Testing

/// A type has one idea: at most 25 stored properties, in at most 8 files of its target.
@Suite struct TypeSizeTests {
  private static let properties = 25
  private static let files = 8

  /// Tables of constants, whose members have no state.
  private static let tables: Set<String> = ["Symbols", "HubLimits"]
  /// Types that are still too large. The numbers may only fall.
  private static let tolerated: [String: (properties: Int, files: Int)] = [:]

  /// The stored properties and the files of each type that a target declares.
  private static func types(_ files: [SourceText]) throws -> [String: (properties: Int, files: Int)] {
    let modifiers =
      #"(?:@\w+(?:\([^)]*\))? |(?:public|private|fileprivate|package|internal|final|open|indirect|weak|unowned|lazy|nonisolated)(?:\(\w+\))? )*"#
    let head = try Regex(#"^\#(modifiers)(struct|class|enum|actor|extension|protocol) ([A-Z][\w.]*)"#)
    let property = try Regex(#"^\#(modifiers)(?:var|let) (\([^)]*\)|\w+)"#)
    var (counts, places, declared) = ([String: Int](), [String: Set<Int>](), Set<String>())
    for (number, file) in files.enumerated() {
      var open = [(name: String, depth: Int, hasStorage: Bool)]()
      var depth = 0
      let lines = file.code.split(separator: "\n")
      for (index, line) in lines.enumerated() {
        let words = line.drop { $0 == " " }
        if let match = try head.firstMatch(in: words), let kind = match[1].substring, let short = match[2].substring {
          let isExtension = kind == "extension"
          let name = isExtension || open.isEmpty ? String(short) : "\(open[open.count - 1].name).\(short)"
          places[name, default: []].insert(number)
          if !isExtension, kind != "protocol" { declared.insert(name) }
          if words.contains("{") { open.append((name, depth, ["struct", "class", "actor"].contains(kind))) }
        } else if let type = open.last, type.hasStorage, depth == type.depth + 1,
          let match = try property.firstMatch(in: words), let names = match[1].substring
        {
          let beforeValue = words.prefix { $0 != "=" }
          let body = lines[index...].prefix(2)
          let isObserved = body.contains { $0.contains("didSet") || $0.contains("willSet") }
          let isComputed = beforeValue.contains("{") && !isObserved
          if !isComputed { counts[type.name, default: 0] += names.count { $0 == "," } + 1 }
        }
        depth += line.count { $0 == "{" } - line.count { $0 == "}" }
        while let type = open.last, depth <= type.depth { open.removeLast() }
      }
    }
    return places.filter { declared.contains($0.key) }.reduce(into: [:]) { types, place in
      types[place.key] = (counts[place.key, default: 0], place.value.count)
    }
  }

  @Test func typeHasOneIdea() throws {
    let targets = Dictionary(grouping: try LayeringTests.sources("Sources"), by: \.target)
    var count = 0
    for (target, files) in targets {
      let types = try Self.types(files.map { SourceText.shared($0.text) })
      count += types.count
      for (name, size) in types where !Self.tables.contains(name) {
        let limit = Self.tolerated[name] ?? (Self.properties, Self.files)
        #expect(size.properties <= limit.properties, "\(target): \(name) has \(size.properties) stored properties")
        #expect(size.files <= limit.files, "\(target): \(name) lies in \(size.files) files")
      }
    }
    #expect(count > 1000, "only \(count) types were found")
  }

  @Test func storedPropertiesAreCounted() throws {
    let text = """
      public final class Example {
        private let one = 1
        var (two, three) = (2, 3)
        var four: Int {
          didSet { five = [{ 1 }] }
        }
        weak var five: Owner?
        var computed: Int { one }
        static let none = 0
        func body() {
          let local = 1
        }
        struct Inner {
          let six: Int
        }
      }
      extension Example {
        var more: Int { 1 }
      }
      """
    let types = try Self.types([SourceText(text), SourceText("extension Example {}")])
    let sizes = types.mapValues { [$0.properties, $0.files] }
    #expect(sizes == ["Example": [5, 2], "Example.Inner": [1, 1]])
  }
}
