import Foundation

extension Bench {
  /// The command line: `graph-bench [DAEMON] [SECONDS] [SECTION]... [OPTION]...`.
  struct Options {
    var daemon = "../.build/release/stickiesd"
    /// Another build of the daemon, measured beside it.
    var baseline: String?
    var seconds = 2.0
    var peers = Peer.allCases
    var selection = Selection()

    init(_ arguments: [String]) {
      var words = arguments[...]
      while let word = words.popFirst() { take(word, &words) }
      selection.useAllIfEmpty()
      for path in [daemon] + (baseline.map { [$0] } ?? []) where access(path, X_OK) != 0 {
        Self.fail("there is no program \(path); build stickiesd, or pass its path")
      }
    }

    private mutating func take(_ word: String, _ rest: inout ArraySlice<String>) {
      switch word {
      case "--daemon": daemon = Self.value(of: word, &rest)
      case "--baseline": baseline = Self.value(of: word, &rest)
      case "--seconds": setSeconds(Self.value(of: word, &rest))
      case "--help", "-h":
        print(Self.usage)
        exit(0)
      case "--quick": (seconds, peers) = (1, [.redis])
      case "--only":
        for name in Self.value(of: word, &rest).split(separator: ",") { select(String(name)) }
      default:
        if Double(word) != nil { return setSeconds(word) }
        if word.contains("/") { daemon = word } else { select(word) }
      }
    }

    private mutating func setSeconds(_ text: String) {
      guard let number = Double(text), number > 0 else { Self.fail("\(text) is not a number of seconds") }
      seconds = number
    }

    private mutating func select(_ name: String) {
      if !selection.insert(name) { Self.fail("there is no section or row \(name)") }
    }

    private static func value(of option: String, _ rest: inout ArraySlice<String>) -> String {
      guard let value = rest.popFirst() else { fail("\(option) needs a value") }
      return value
    }

    private static func fail(_ message: String) -> Never {
      print("graph-bench: \(message)\n\n\(usage)")
      exit(64)
    }

    private static var usage: String {
      var lines = [
        "usage: graph-bench [DAEMON] [SECONDS] [SECTION]... [OPTION]...", "",
        "  --daemon PATH     the daemon; default: ../.build/release/stickiesd",
        "  --baseline PATH   another build of the daemon, measured beside it in each round",
        "  --only NAME,...   these sections, and these rows of sections, as in commits.16",
        "  --seconds NUMBER  the duration of each rate measurement; default: 2",
        "  --quick           rates over one second, and Redis as the only peer", "",
        "sections and their rows, all of them by default:",
      ]
      for section in Section.allCases {
        lines.append("  \(section.rawValue.padding(toLength: 13, withPad: " ", startingAt: 0))\(section.summary)")
        let rows = section.rows.map { "\(section.rawValue).\($0)" }
        if !rows.isEmpty { lines.append(String(repeating: " ", count: 15) + rows.joined(separator: ", ")) }
      }
      return lines.joined(separator: "\n")
    }
  }

  /// The sections and rows to measure.
  struct Selection {
    private enum Rows {
      case all
      case chosen(Set<String>)
    }

    private var rows = [Section: Rows]()

    /// The selected sections, in the order of the report.
    var sections: [Section] { Section.allCases.filter { rows[$0] != nil } }

    /// Selects a section or one of its rows.
    /// - Parameter name: for example `commits` or `commits.16`.
    /// - Returns: false if there is neither.
    mutating func insert(_ name: String) -> Bool {
      let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
      guard let first = parts.first, let section = Section(rawValue: first) else { return false }
      if parts.count == 1 {
        rows[section] = .all
        return true
      }
      guard section.rows.contains(parts[1]) else { return false }
      switch rows[section] {
      case nil: rows[section] = .chosen([parts[1]])
      case .chosen(let others)?: rows[section] = .chosen(others.union([parts[1]]))
      case .all?: break
      }
      return true
    }

    mutating func useAllIfEmpty() {
      if rows.isEmpty { for section in Section.allCases { rows[section] = .all } }
    }

    /// Whether a row of a section is selected.
    func includes(_ section: Section, _ row: String) -> Bool {
      switch rows[section] {
      case nil: false
      case .all?: true
      case .chosen(let selected)?: selected.contains(row)
      }
    }
  }
}
