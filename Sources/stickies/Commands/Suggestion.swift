import GraphModel

/// The nearest of the words that would have been understood.
enum Suggestion {
  /// The end of a message about a word that is none of `names`: `. Did you mean "list"?`; nil when none is near.
  /// - Parameter letters: how long the word is of which some may be wrong; nil for all of it.
  static func sentence(for word: String, among names: [String], letters: Int? = nil) -> String? {
    let guess = names.map { ($0, distance(word.lowercased(), $0.lowercased())) }.min { $0.1 < $1.1 }
    return guess.flatMap { name, distance in
      distance <= max(1, (letters ?? name.count) / 3) ? ". Did you mean \"\(name)\"?" : nil
    }
  }

  /// What is said of a name that is none of an entity's properties.
  /// - Parameter names: those that would do; nil for all of the entity's.
  static func sentence(forProperty name: String, of entity: Entity, among names: [String]? = nil) -> String {
    if let advice = entity.adviceOnComposite(name) { return advice }
    let names = names ?? entity.properties.map(\.name)
    let more = sentence(for: name, among: names) ?? "; it has \(names.joined(separator: ", "))"
    return "\(entity.name) has no property \"\(name)\"\(more)"
  }

  /// How many letters have to be put in, left out, changed or swapped with their neighbor.
  static func distance(_ left: String, _ right: String) -> Int {
    let (a, b) = (Array(left), Array(right))
    var rows = [Array(0...b.count)]
    for i in 1..<(a.count + 1) {
      var row = [i]
      for j in 1..<(b.count + 1) {
        let change = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
        var best = min(rows[i - 1][j] + 1, row[j - 1] + 1, change)
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { best = min(best, rows[i - 2][j - 2] + 1) }
        row.append(best)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
