import GraphModel

/// What an import wants to be there, before it is compared with what is.
struct ImportBatch {
  struct Skip {
    var file: String
    var reason: String
  }

  struct Note {
    /// The key by which a second run knows the note again.
    var origin: String
    var board: String
    var tags: [String]
    /// Its other attributes, by name.
    var values: [String: Value]
    /// What the file calls it, for links.
    var id: String?
  }

  /// A board or a tag: known again by its name, or by its id in the store that it was exported from.
  struct Named {
    var name: String
    var id: String?
    var values = [String: Value]()
  }

  struct Link {
    var from: String
    var to: String
    var values: [String: Value]
    var place: String
  }

  var notes = [Note]()
  var links = [Link]()
  /// In the order in which they were met.
  private(set) var boards = [Named]()
  private(set) var tags = [Named]()
  private(set) var skipped = [Skip]()

  mutating func board(_ board: Named) {
    if !boards.contains(where: { $0.name == board.name }) { boards.append(board) }
  }

  mutating func tag(_ tag: Named) {
    if !tags.contains(where: { $0.name == tag.name }) { tags.append(tag) }
  }

  mutating func skip(_ file: String, _ reason: String) { skipped.append(Skip(file: file, reason: reason)) }
}

struct ImportResult {
  var imported = 0
  var unchanged = 0
  var skipped = [ImportBatch.Skip]()
}
