import Testing

/// Impossible states are asserted, never given a default.
@Suite struct InvariantTests {
  /// The counts of each kind in the code of a target.
  private struct Counts {
    var lines = 0
    /// `?? 0`, `?? ""`, `?? []` and their like.
    var defaults = 0
    /// `else { return }` without a value, on one line or broken by the formatter.
    var returns = 0
    /// `table[key]?.property = value`: nothing is written if the key is missing.
    var chainedWrites = 0
    var assertions = 0

    init(_ files: [SourceText]) throws {
      let isDefault = try Regex(#"\?\? (?:-?\d|""|\[\]|\[:\]|true\b|false\b)"#)
      let isChainedWrite = try Regex(#"[\w\])]\?(?:\.\w+|\[[^\]]*\])+ [-+*/&|]?= "#)
      let isAssertion = try Regex(
        #"\b(?:assert|assertionFailure|precondition|preconditionFailure|fatalError|invariant)\("#)
      // The two lines before.
      var last: (Substring, Substring) = ("", "")
      for line in files.flatMap({ $0.code.split(separator: "\n") }) where !line.allSatisfy({ $0 == " " }) {
        lines += 1
        // Most lines have none of these.
        if line.contains("?") {
          defaults += line.matches(of: isDefault).count
          if line.contains("= ") { chainedWrites += line.matches(of: isChainedWrite).count }
        }
        let words = line.drop { $0 == " " }
        let endsBareReturn = words == "}" && last.1 == "return" && last.0.hasSuffix("else {")
        if endsBareReturn || line.contains("else { return }") { returns += 1 }
        last = (last.1, words)
        if line.contains("(") { assertions += line.matches(of: isAssertion).count }
      }
    }
  }

  /// The fewest assertions in a thousand lines. Programs and readers of files mostly handle input, which is never
  /// asserted; the simulation and the fixtures of tests report what is wrong.
  private static let assertions = [
    "stickies": 2, "stickiesd": 1, "StickiesFiles": 1, "TerminalCells": 1, "TerminalApplication": 1,
    "StickiesTerminal": 1, "GraphControllers": 3, "GraphSimulation": 1, "GraphTesting": 0, "wire-generate": 1,
  ]
  private static let usualAssertions = 5

  /// The number of bare returns that a target may have: each was looked at and can happen. A
  /// number rises only with new files, whose returns were looked at.
  private static let returns = [
    "GraphStore": 35, "GraphStoreTools": 11, "GraphHub": 3, "GraphReplica": 27, "GraphWire": 0, "GraphServer": 11,
    "GraphClient": 0, "GraphClientService": 0, "GraphEmbedded": 0, "GraphModel": 85, "GraphShell": 22, "stickies": 7,
    "stickiesd": 3, "StickiesFiles": 13,
    "TerminalCells": 8, "TerminalApplication": 12, "StickiesTerminal": 234, "GraphControllers": 37, "GraphLog": 2,
    "GraphSimulation": 14, "GraphStoreFaults": 3, "GraphTesting": 1, "CommandLineIO": 2, "graph-generate": 0,
    "GraphReplicaStore": 1, "GraphOffline": 0, "StickiesWeb": 0,
    "ModelClasses": 0, "graph-classes": 0, "GraphAccess": 0, "GraphJSON": 0, "GraphHTTP": 8,
    "CoreDataModels": 14, "CoreDataNames": 0, "CoreDataStore": 4, "graph-sim": 0, "StickiesModel": 0, "StickiesKit": 0,
    "wire-generate": 0,
  ]
  /// The number of defaults where it is more than two in a thousand lines. The numbers may only fall.
  private static let defaults = ["GraphTesting": 12]

  @Test(arguments: returns.keys.sorted())
  func impossibleStatesAreAsserted(target: String) throws {
    let files = try LayeringTests.sources("Sources").filter { $0.target == target }
    let counts = try Counts(files.map { SourceText.shared($0.text) })
    #expect(counts.lines > 0)
    #expect(
      counts.defaults <= Self.defaults[target, default: max(2, counts.lines * 2 / 1000)],
      "\(target) has \(counts.defaults) defaults in \(counts.lines) lines")
    #expect(counts.chainedWrites == 0)
    // A small target may have nothing to assert.
    if counts.lines > 500 {
      #expect(
        counts.assertions * 1000 >= counts.lines * Self.assertions[target, default: Self.usualAssertions],
        "\(target) has \(counts.assertions) assertions in \(counts.lines) lines")
    }
    let allowed = try #require(Self.returns[target])
    #expect(counts.returns <= allowed, "\(target) has \(counts.returns) bare returns")
  }

  @Test func everyTargetIsCounted() throws {
    let targets = Set(try LayeringTests.sources("Sources").map(\.target))
    #expect(targets.count > 20)
    #expect(targets == Set(Self.returns.keys))
  }

  @Test func kindsAreCounted() throws {
    let counts = try Counts([
      SourceText(
        """
        guard let row else { return }
        guard let row = row ?? newest else {
          // There is none.
          return
        }
        let count = counts[id] ?? 0 // ?? 0
        rows[id]?.state = .ready
        rows[id]?.names[0] += 1
        delegate?.changed(row ?? "")
        precondition(count == 0)
        """)
    ])
    #expect(
      [counts.lines, counts.defaults, counts.returns, counts.chainedWrites, counts.assertions] == [9, 2, 2, 2, 1])
  }
}
