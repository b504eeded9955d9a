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
    var board: String
    var tags: [String]
    /// Its other attributes, by name.
    var values: [String: Value]
    /// What the file calls it, for links.
    var id: String?
    /// The file, and the line where it has several notes.
    var place: String
    /// What Keep says of the note, by which notes of earlier imports are known.
    var keep: KeepNote?
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
  /// By the bytes of their names: canonically equivalent names are two boards or tags.
  private var boardNames = Set<ByteKey>()
  private var tagNames = Set<ByteKey>()
  /// The texts of Keep's notes, by origin.
  var keepTexts = [ByteKey: String]()

  /// All but what was skipped.
  mutating func removeAll() {
    let skipped = skipped
    self = ImportBatch()
    self.skipped = skipped
  }

  mutating func board(_ board: Named) {
    if boardNames.insert(board.name).inserted { boards.append(board) }
  }

  mutating func tag(_ tag: Named) {
    if tagNames.insert(tag.name).inserted { tags.append(tag) }
  }

  private static let exported = "stickies:"

  /// The origin of a note that a store exported with this id, and that had no origin there.
  static func origin(exportedAs id: String) -> String { exported + id }

  /// The id that the origin names; nil for a note that was no store's before.
  static func exportedID(_ origin: String) -> String? {
    origin.hasPrefix(exported) ? String(origin.dropFirst(exported.count)) : nil
  }

  /// Names how many letters of JSON were not Unicode, if any.
  mutating func skip(_ place: String, replaced count: Int) {
    guard count > 0 else { return }
    let letters = count == 1 ? "1 letter" : "\(count) letters"
    skip(place, "\(letters) that \(count == 1 ? "is" : "are") half a surrogate pair or no UTF-8 and became \u{FFFD}")
  }

  mutating func skip(_ file: String, _ reason: String) { skipped.append(Skip(file: file, reason: reason)) }
}

struct ImportResult {
  var imported = 0
  var unchanged = 0
  var skipped = [ImportBatch.Skip]()
}
