/// The names that a part of a converted model has in the Core Data model of the app, and had in its earlier versions.
///
/// A model file does not allow every name, and a part has another name than in the app if a later part has its name. So
/// the conversion writes the names into the documentation of the part, which no hash contains and every client gets
/// with the model. An import finds tables and columns by these names, and guesses none. A part without this sentence
/// has the same name in the app, in all versions.
package struct AppNames: Equatable, Sendable {
  /// The names, each once, the present one first; never empty.
  package let names: [String]

  /// - Parameter names: the names, the present one first. A name may appear in several versions.
  package init(_ names: [String]) {
    precondition(!names.isEmpty, "a part of the app has a name")
    var seen = Set<String>()
    self.names = names.filter { seen.insert($0).inserted }
  }

  /// Reads the names from the documentation of a part; nil if it has no sentence about them.
  package init?(documentation: String) {
    for start in documentation.ranges(of: "Called \"") {
      // The names are between the quotation marks.
      let pieces = documentation[start.upperBound...].split(separator: "\"", omittingEmptySubsequences: false)
      guard pieces.count > 1, pieces[1].hasPrefix(Self.middle) else { continue }
      var names = [String]()
      for number in stride(from: 0, to: pieces.count - 1, by: 2) {
        names.append(String(pieces[number]))
        if pieces[number + 1].contains(".") { break }
      }
      self.init(names)
      return
    }
    return nil
  }

  private static let middle = " in Core Data"

  /// The sentence for the documentation of the part, such as `Called "title" in Core Data, earlier "label" and "text".`
  package var documentation: String {
    let quoted = names.map { "\"\($0)\"" }
    let present = "Called \(quoted[0])\(Self.middle)"
    guard quoted.count > 1, let oldest = quoted.last else { return "\(present)." }
    let list = quoted.dropFirst().dropLast().map { "\($0), " }.joined()
    return "\(present), earlier \(list.isEmpty ? "" : "\(list.dropLast(2)) and ")\(oldest)."
  }
}
