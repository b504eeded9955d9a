import Foundation
import GraphModel
import GraphTesting
import Testing

@Suite struct CollationTests {
  @Test func localizedOrderMatchesHumanExpectation() {
    let sorted = [
      "", " ", "  b", "!", "-", "_a", "~", "€", "😀", "0", "1", "10", "2", "٣", "9", "½", "a", "A", "á", "Á", "ä", "Ä",
      "aa", "ab", "Ab", "äb", "ac", "e", "E", "é", "É", "ea", "Éa", "eb", "ss", "ß", "SS", "st", "straße", "Strasse2",
      "z", "Zz", "ø", "σας", "日本",
    ]
    for (left, right) in zip(sorted, sorted.dropFirst()) {
      #expect(Collation.localized.order(left, right) == .ascending, "\(left) before \(right)")
      #expect(Collation.localized.order(right, left) == .descending, "\(right) behind \(left)")
    }
    #expect(sorted.reversed().sorted { Collation.localized.order($0, $1) == .ascending } == sorted)
  }

  @Test func naturalOrderComparesDigitRunsAsNumbers() {
    let long = String(repeating: "9", count: 300)
    let sorted = [
      "file", "file 1", "file0", "file00", "file1", "file01", "file001", "file1a", "file01a", "file1b", "file2",
      "file2.9",
      "file2.10", "file02.10", "file9", "file٩", "file10", "file\(UInt64.max)", "file1\(UInt64.max)",
      "file\(long)", "file1\(long)", "file1\(long)0", "filea",
    ]
    for (left, right) in zip(sorted, sorted.dropFirst()) {
      #expect(Collation.natural.order(left, right) == .ascending, "\(left) before \(right)")
    }
    #expect(Collation.localized.order("file10", "file2") == .ascending)
    #expect(Collation.natural.order("note 9", "Note 10") == .ascending)
    #expect(Collation.natural.order("note 9", "NOTE 9") == .ascending)
  }

  @Test func canonicallyEquivalentTextsAreAdjacentAndDistinct() {
    for collation in Collation.allCases {
      #expect(collation.order("é", "e\u{301}") != .same)
      #expect(collation.order("e\u{301}", "É") == .ascending)
      #expect(collation.order("é", "É") == .ascending)
      #expect(collation.order("co\u{AD}op", "coop") == .descending)
      #expect(collation.order("co\u{AD}op", "coOp") == .descending)
      #expect(collation.order("co\u{AD}op", "coor") == .ascending)
      #expect(collation.order("a\u{0}b", "a") == .descending)
      #expect(collation.order("same", "same") == .same)
    }
  }

  @Test func keyIsSmallAndBuiltInOnePass() {
    #expect(Collation.localized.key("") == [0, 0, 0])
    #expect(Collation.natural.key("") == [0, 0, 0, 0])
    #expect(Collation.localized.key("abc").count == 9)
    #expect(Collation.natural.key(String(repeating: "7", count: 100_000)).count == 200_009)
    #expect(Collation.natural.key(String(repeating: "0", count: 100_000)).count == 100_011)
  }

  // MARK: - The twin

  /// Compares two texts level by level, with numbers as strings, without making a key.
  private struct Twin {
    struct Part: Equatable {
      var group: Int
      var text: [UInt32]
      var marks = [UInt32]()
      var letterCase: Int
      var zeros = 0
    }

    var leading = [UInt32]()
    var parts = [Part]()

    init(_ text: String, isNatural: Bool) {
      var isInNumber = false
      for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars {
        if scalar.properties.canonicalCombiningClass.rawValue > 0 || scalar.properties.isDefaultIgnorableCodePoint {
          if parts.isEmpty { leading.append(scalar.value) } else { parts[parts.count - 1].marks.append(scalar.value) }
          continue
        }
        if scalar.properties.generalCategory == .decimalNumber {
          let digit = UInt32(scalar.properties.numericValue ?? 0)
          if !isNatural || !isInNumber { parts.append(Part(group: 2, text: [], letterCase: 0)) }
          if isNatural, digit == 0, parts[parts.count - 1].text.isEmpty {
            parts[parts.count - 1].zeros += 1
          } else {
            parts[parts.count - 1].text.append(digit)
          }
          isInNumber = true
          continue
        }
        isInNumber = false
        let character = String(scalar)
        let folded = character.lowercased().uppercased().lowercased()
        let letterCase = character.lowercased() != character ? 2 : folded != character ? 1 : 0
        for part in folded.unicodeScalars {
          let group =
            switch part.properties.generalCategory {
            case .letterNumber, .otherNumber: 3
            case let category where "\(category)".hasSuffix("Letter") || "\(category)".hasSuffix("Mark"): 4
            default: 1
            }
          parts.append(Part(group: group, text: [part.value], letterCase: letterCase))
        }
      }
    }

    static func order(_ a: String, _ b: String, isNatural: Bool) -> ValueOrdering {
      let (x, y) = (Twin(a, isNatural: isNatural), Twin(b, isNatural: isNatural))
      for (left, right) in zip(x.parts, y.parts) {
        if left.group != right.group { return ValueOrdering(left.group, right.group) }
        if left.text.count != right.text.count { return ValueOrdering(left.text.count, right.text.count) }
        for (one, other) in zip(left.text, right.text) where one != other { return ValueOrdering(one, other) }
      }
      if x.parts.count != y.parts.count { return ValueOrdering(x.parts.count, y.parts.count) }
      for (left, right) in zip([x.leading] + x.parts.map(\.marks), [y.leading] + y.parts.map(\.marks))
      where left != right {
        return left.lexicographicallyPrecedes(right) ? .ascending : .descending
      }
      for (left, right) in zip(x.parts, y.parts) where left.letterCase != right.letterCase {
        return ValueOrdering(left.letterCase, right.letterCase)
      }
      for (left, right) in zip(x.parts, y.parts) where left.zeros != right.zeros {
        return ValueOrdering(left.zeros, right.zeros)
      }
      return Array(a.utf8) == Array(b.utf8)
        ? .same : a.utf8.lexicographicallyPrecedes(b.utf8) ? .ascending : .descending
    }
  }

  private static func text(_ random: inout SeededGenerator) -> String {
    let scalars = [
      "a", "A", "b", "é", "e", "E", "\u{301}", "\u{308}", "ß", "s", "S", "0", "0", "1", "9", "٣", "½", "Ⅳ", " ", "-",
      "~",
      "[", "€", "😀", "\u{FE0F}", "\u{AD}", "σ", "ς", "Σ", "İ", "ﬁ", "中", "한", "\u{0}", "ø", "ǆ", "ǅ", "Ǆ",
    ]
    return (0..<Int.random(in: 0...5, using: &random)).compactMap { _ in random.pick(scalars) }.joined()
  }

  @Test(arguments: Collation.allCases) func keysAgreeWithLevelByLevelComparison(collation: Collation) {
    for seed in UInt64(0)..<6_000 {
      var random = SeededGenerator(seed: seed)
      let left = Self.text(&random)
      // Half of the pairs differ in details; otherwise the levels after the first would hardly be tested.
      let right =
        random.chance(50)
        ? Self.text(&random)
        : String(
          String.UnicodeScalarView(
            left.unicodeScalars.flatMap { scalar -> [Unicode.Scalar] in
              switch Int.random(in: 0..<5, using: &random) {
              case 0: Array(String(scalar).uppercased().unicodeScalars)
              case 1: [scalar, "\u{301}"]
              case 2: scalar == "1" ? ["0", "1"] : [scalar]
              default: [scalar]
              }
            }))
      let expected = Twin.order(left, right, isNatural: collation == .natural)
      #expect(
        collation.order(left, right) == expected,
        "seed \(seed): \(left.debugDescription) and \(right.debugDescription)")
    }
  }

  @Test(arguments: Collation.allCases) func orderIsTotal(collation: Collation) {
    for seed in UInt64(0)..<300 {
      var random = SeededGenerator(seed: seed)
      let texts = (0..<12).map { _ in Self.text(&random) }
      let orders = texts.map { a in texts.map { b in collation.order(a, b) } }
      for (a, row) in orders.enumerated() {
        for (b, order) in row.enumerated() {
          #expect(order == orders[b][a].reversed, "seed \(seed): \(texts[a]), \(texts[b])")
          #expect((order == .same) == (Array(texts[a].utf8) == Array(texts[b].utf8)), "seed \(seed)")
          guard order == .ascending else { continue }
          let failing = texts.indices.filter { orders[b][$0] == .ascending && row[$0] != .ascending }
          #expect(failing.isEmpty, "seed \(seed): \(texts[a]), \(texts[b])")
        }
      }
    }
  }
}
