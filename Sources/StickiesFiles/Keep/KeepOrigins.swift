import GraphModel

/// The origins of Keep's notes: `keep:`, the creation time in microseconds, `:` and the file name.
///
/// Earlier releases wrote only the time, so such an origin matches any file with that creation time.
public enum KeepOrigins {
  /// Returns the origin of a note in a file of this name.
  public static func origin(of note: KeepNote, file: String) -> String { "\(earlier(note)):\(file)" }

  /// Returns the origin in the form of earlier releases.
  public static func earlier(_ note: KeepNote) -> String { "keep:\(note.identity)" }

  /// Returns a short name for a text: its 64-bit FNV-1a hash.
  public static func fingerprint(_ text: String) -> String {
    let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    return String(hash, radix: 16)
  }

  /// A note in the store that was imported from Keep.
  public struct Stored: Sendable {
    /// The note's id.
    public var id: ObjectID
    /// The origin, in either form.
    public var origin: String
    /// The note's current text.
    public var text: String
    /// The time of its last change.
    public var updated: Timestamp?

    /// Creates a description of a stored note.
    public init(id: ObjectID, origin: String, text: String, updated: Timestamp?) {
      (self.id, self.origin, self.text, self.updated) = (id, origin, text, updated)
    }
  }

  /// Matches files with unknown origins to the store's notes.
  ///
  /// A file that has another name in a later export (Keep names files by titles and times of edits) is matched by its
  /// creation time and text. A note without a file name in its origin is matched to the file with its text. If no
  /// file has it, the note or the file was edited, and the note is matched to the first file that can be an edit of
  /// it. A file with the same time of the last edit and another text cannot: it is a different note created in the
  /// same microsecond.
  /// - Parameter stored: the notes of these creation times that no other file of the import matches.
  /// - Returns: the ids, by the indexes of `files`.
  public static func claims(_ files: [KeepNote], _ stored: [Stored]) -> [Int: ObjectID] {
    var claims = [Int: ObjectID]()
    var free = Dictionary(grouping: stored) { $0.origin.split(separator: ":").dropFirst().first.map(String.init) }
    func claim(_ isSame: (KeepNote, Stored) -> Bool) {
      for (index, file) in files.enumerated() where claims[index] == nil {
        guard let place = free["\(file.identity)"]?.firstIndex(where: { isSame(file, $0) }) else { continue }
        claims[index] = free["\(file.identity)"]?.remove(at: place).id
      }
    }
    claim {
      UTF8Comparison.equal($0.text, $1.text)
        || (UTF8Comparison.equal(earlier($0), $1.origin) && UTF8Comparison.equal($0.plainText, $1.text))
    }
    claim {
      UTF8Comparison.equal(earlier($0), $1.origin)
        && ($0.updated != $1.updated || $0.text.utf8.starts(with: $1.text.utf8))
    }
    return claims
  }
}
