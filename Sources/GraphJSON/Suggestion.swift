import GraphModel

/// Suggests the known word that is nearest to a mistyped one.
package enum Suggestion {
  /// The maximum size of a word for which a name is suggested, in bytes.
  static let maximumSize = 256

  /// The end of a message about an unknown word, as in `. Did you mean "list"?`.
  /// - Parameters:
  ///   - letters: the length by which the tolerated distance is limited; nil for the name's length.
  ///   - other: the end of the message if no name is near.
  package static func sentence(
    for word: String, among names: [String], letters: Int? = nil, otherwise other: String
  ) -> String {
    // The comparison takes the product of the lengths, and no name is near to such a word.
    if word.utf8.count > maximumSize { return other }
    let guess = names.map { ($0, distance(word.lowercased(), $0.lowercased())) }.min { $0.1 < $1.1 }
    guard let (name, distance) = guess, distance <= max(1, (letters ?? name.count) / 3) else { return other }
    return ". Did you mean \"\(name)\"?"
  }

  /// The message about a name that is not a property of an entity.
  /// - Parameter names: the valid names; nil for all of the entity's properties.
  package static func sentence(forProperty name: String, of entity: Entity, among names: [String]? = nil) -> String {
    if let advice = entity.adviceOnComposite(name) { return advice }
    let names = names ?? entity.properties.map(\.name)
    let more = sentence(for: name, among: names, otherwise: "; it has \(names.joined(separator: ", "))")
    return "\(entity.name) has no property \"\(name)\"\(more)"
  }

  /// The edit distance: insertions, deletions, substitutions and swaps of neighbors.
  package static func distance(_ left: String, _ right: String) -> Int {
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
