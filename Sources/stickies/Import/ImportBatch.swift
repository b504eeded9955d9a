import GraphModel
import StickiesKit

/// What an import wants to be there, before it is compared with what is.
struct ImportBatch {
  struct Skip {
    var file: String
    var reason: String
  }

  struct Note {
    /// The key by which a second run knows the note again.
    var origin: String
    var text: String
    var color: Color
    var isPinned: Bool
    var created: Timestamp?
    var updated: Timestamp?
    var board: String
    var tags: [String]
    /// Attributes of our own format that Keep does not have, by name.
    var attributes = [String: Value]()
    /// What the file calls it, for links.
    var id: String?
  }

  struct Link {
    var from: String
    var to: String
    var label: String
  }

  var notes = [Note]()
  var links = [Link]()
  /// Boards by name, with their color, in the order in which they were met.
  var boards = [(name: String, color: String?, created: Timestamp?)]()
  var tags = [String]()
  var skipped = [Skip]()

  mutating func board(_ name: String, color: String? = nil, created: Timestamp? = nil) {
    if !boards.contains(where: { $0.name == name }) { boards.append((name, color, created)) }
  }
}

struct ImportResult {
  var imported = 0
  var unchanged = 0
  var skipped = [ImportBatch.Skip]()
}
