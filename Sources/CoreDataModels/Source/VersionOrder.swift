/// The order of a bundle's versions, oldest first. A bundle does not record it. Numbers in the names give it, as in
/// `App`, `App 2`, `App 10`; for other names it is guessed from the contents, and a sentence says so.
struct VersionOrder {
  /// The places of the versions in the bundle, oldest first.
  private(set) var places = [Int]()
  /// A sentence about a guess; nil if the names give the order.
  private(set) var guess: String?

  private let names: [VersionName]
  private let models: [CoreDataModel]
  private let current: String?

  /// Finds the order.
  /// - Parameter models: the contents of the bundle's versions.
  init(of bundle: CoreDataBundle, _ models: [CoreDataModel]) {
    precondition(models.count == bundle.versions.count, "each version has contents")
    self.models = models
    names = bundle.versions.map { VersionName($0.name) }
    current = bundle.current
    let sorted = names.indices.sorted { names[$0] < names[$1] }
    if zip(sorted, sorted.dropFirst()).allSatisfy({ names[$1].isNumbered(after: names[$0]) }) {
      places = sorted
    } else {
      infer(sorted)
    }
  }

  /// Places a version after those whose parts its renaming identifiers name and those that have a lower number in the
  /// same name. Among the possible ones, the current version is last, and one with fewer parts precedes.
  private mutating func infer(_ sorted: [Int]) {
    var later = [Int: Set<Int>]()
    var evidence = [String]()
    let renamings = RenamingEvidence(models)
    for (one, other) in sorted.flatMap({ one in sorted.map { (one, $0) } }) where renamings.isRenamed(one, in: other) {
      later[one, default: []].insert(other)
    }
    if !later.isEmpty { evidence.append("the renaming identifiers") }
    for (place, one) in sorted.enumerated() {
      for other in sorted[(place + 1)...] where names[other].isNumbered(after: names[one]) {
        later[one, default: []].insert(other)
        if evidence.last != "the numbers in names" { evidence.append("the numbers in names") }
      }
    }
    if current != nil { evidence.append("the current version") }
    let sizes = models.map(\.size)
    if Set(sizes).count > 1 { evidence.append("the numbers of properties") }
    var unplaced = [Int](repeating: 0, count: sorted.count)
    for other in later.values.joined() { unplaced[other] += 1 }
    var remaining = sorted
    func rank(_ place: Int) -> (Int, Int) { (names[place].text == current ? 1 : 0, sizes[place]) }
    while !remaining.isEmpty {
      // Contradictory evidence has a cycle, in which the names decide.
      let possible = remaining.filter { unplaced[$0] == 0 }
      var next = possible.first ?? remaining[0]
      for place in possible where rank(place) < rank(next) { next = place }
      remaining.removeAll { $0 == next }
      for other in later[next, default: []] { unplaced[other] -= 1 }
      places.append(next)
    }
    let list = places.map { names[$0].text }
    guess =
      "a bundle does not record the order of its versions, and their names do not give it: \(list.joined(separator: ", ")) "
      + "is a guess from \((evidence + ["the names"]).joined(separator: ", ")); state the order with "
      + "--versions \"\(list.joined(separator: ","))\""
  }
}

/// The name of a version, in words and numbers. Other characters, and a `v` before a number, have no meaning.
struct VersionName: Comparable {
  private enum Part: Equatable {
    case number(Int)
    case word(String)
  }

  let text: String
  private let parts: [Part]

  init(_ text: String) {
    self.text = text
    var parts = [Part]()
    var run = ""
    func end() {
      // A number beyond 64 bits comes after all others.
      if let first = run.unicodeScalars.first {
        parts.append(Self.isDigit(first) ? .number(Int(run) ?? Int.max) : .word(run.lowercased()))
      }
      run = ""
    }
    for scalar in text.unicodeScalars {
      let isPart = Self.isDigit(scalar) || scalar.properties.isAlphabetic
      if !isPart || run.unicodeScalars.last.map(Self.isDigit) != Self.isDigit(scalar) { end() }
      if isPart { run.unicodeScalars.append(scalar) }
    }
    end()
    self.parts = parts.enumerated().filter { place, part in
      guard case .word(let word) = part, place > 0, place + 1 < parts.count, case .number = parts[place + 1] else {
        return true
      }
      return !Self.versionWords.contains(word)
    }.map(\.element)
  }

  private static let versionWords: Set = ["v", "ver", "version"]

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

  static func == (left: VersionName, right: VersionName) -> Bool { left.text == right.text }

  static func < (left: VersionName, right: VersionName) -> Bool {
    for (one, other) in zip(left.parts, right.parts) where one != other {
      switch (one, other) {
      case (.number(let a), .number(let b)): return a < b
      case (.word(let a), .word(let b)): return a < b
      case (.number, .word): return true
      case (.word, .number): return false
      }
    }
    return left.parts.count == right.parts.count ? left.text < right.text : left.parts.count < right.parts.count
  }

  /// Whether this name differs from a smaller one first in a number: `App 2` from `App`, or `App 10` from `App 2`.
  func isNumbered(after other: VersionName) -> Bool {
    for (place, (mine, others)) in zip(parts, other.parts).enumerated() where mine != others {
      switch (others, mine) {
      case (.number(let a), .number(let b)): return a < b
      case (.word(let a), .word(let b)):
        // `Model` and `Modelv4`.
        guard other.parts.count == place + 1, place + 1 < parts.count, case .number = parts[place + 1] else {
          return false
        }
        return b.hasPrefix(a) && Self.versionWords.contains(String(b.dropFirst(a.count)))
      default: return false
      }
    }
    guard parts.count > other.parts.count, case .number = parts[other.parts.count] else { return false }
    return true
  }
}

/// The versions whose parts another version's renaming identifiers name.
private struct RenamingEvidence {
  private struct Renaming {
    /// The part under its earlier name, and under its own: `Entity`, or `Entity.property`.
    let earlier, later: String
  }

  private let parts: [Set<String>]
  private let renamings: [[Renaming]]

  init(_ models: [CoreDataModel]) {
    parts = models.map { model in
      Set(model.entities.flatMap { entity in [entity.name] + entity.properties.map { "\(entity.name).\($0.name)" } })
    }
    renamings = zip(models, parts).map { model, parts in
      let found = model.entities.flatMap { entity -> [Renaming] in
        let earlier = entity.renamingIdentifier ?? entity.name
        let properties = entity.properties.compactMap { property -> Renaming? in
          guard let identifier = property.identifier, identifier != property.name else { return nil }
          return Renaming(earlier: "\(earlier).\(identifier)", later: "\(entity.name).\(property.name)")
        }
        return (earlier == entity.name ? [] : [Renaming(earlier: earlier, later: entity.name)]) + properties
      }
      // A name that is in use again says nothing.
      return found.filter { !parts.contains($0.earlier) }
    }
  }

  /// Whether a version has a part that the other version has renamed.
  func isRenamed(_ version: Int, in other: Int) -> Bool {
    version != other
      && renamings[other].contains { parts[version].contains($0.earlier) && !parts[version].contains($0.later) }
  }
}

extension CoreDataModel {
  /// The number of entities, attributes and relationships.
  fileprivate var size: Int { entities.reduce(entities.count) { $0 + $1.attributes.count + $1.relationships.count } }
}

extension CoreDataModel.Entity {
  /// The attributes and relationships with their renaming identifiers.
  fileprivate var properties: [(name: String, identifier: String?)] {
    attributes.map { ($0.name, $0.renamingIdentifier) } + relationships.map { ($0.name, $0.renamingIdentifier) }
  }
}
