import GraphModel
import StickiesFiles
import StickiesKit

/// The objects to import, before they are compared with the store.
struct ImportBatch {
  struct SkippedFile {
    var file: String
    var reason: String
  }

  struct Note {
    /// The key that identifies the note in later runs.
    var origin: String
    var board: String
    var tags: [String]
    /// Its other attributes, by name.
    var values: [String: Value]
    /// The id in the file, for links.
    var id: String?
    /// The file, with the line if it has several notes.
    var place: String
    /// The note as Keep exported it, for identifying notes of earlier imports.
    var keep: KeepNote?

    /// Whether another note has the same board, tags and values, all compared by bytes.
    func hasContents(of other: Note) -> Bool {
      ByteKey(board) == ByteKey(other.board) && Set(tags.map(ByteKey.init)) == Set(other.tags.map(ByteKey.init))
        && values == other.values
    }
  }

  /// A board or a tag, identified by its name, or by its id in the store that exported it.
  struct NamedObject {
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
  /// In the order of their first appearance.
  private(set) var boards = [NamedObject]()
  private(set) var tags = [NamedObject]()
  private(set) var skipped = [SkippedFile]()
  /// Keyed by bytes: canonically equivalent names are different boards or tags.
  private var boardNames = Set<ByteKey>()
  private var tagNames = Set<ByteKey>()
  /// The texts of Keep's notes, by origin.
  var keepTexts = [ByteKey: String]()

  /// Removes everything except the skipped entries.
  mutating func removeAll() {
    let skipped = skipped
    self = ImportBatch()
    self.skipped = skipped
  }

  mutating func addBoard(_ board: NamedObject) {
    if boardNames.insert(board.name).inserted { boards.append(board) }
  }

  mutating func addTag(_ tag: NamedObject) {
    if tagNames.insert(tag.name).inserted { tags.append(tag) }
  }

  private static let exported = "stickies:"

  /// The origin of a note that a store exported with this id and that had no origin there.
  static func origin(exportedAs id: String) -> String { exported + id }

  /// The id in an origin; nil for a note that was not exported from a store.
  static func exportedID(_ origin: String) -> String? {
    origin.hasPrefix(exported) ? String(origin.dropFirst(exported.count)) : nil
  }

  /// Reports the number of invalid Unicode characters in JSON, if any.
  mutating func skip(_ place: String, replaced count: Int) {
    guard count > 0 else { return }
    let letters = count == 1 ? "1 letter" : "\(count) letters"
    skip(place, "\(letters) \(count == 1 ? "was" : "were") half a surrogate pair or not UTF-8 and became \u{FFFD}")
  }

  mutating func skip(_ file: String, _ reason: String) { skipped.append(SkippedFile(file: file, reason: reason)) }
}

struct ImportResult {
  var imported = 0
  var unchanged = 0
  var skipped = [ImportBatch.SkippedFile]()
}
