import GraphModel

/// The origins of Keep's notes: `keep:`, the creation time in microseconds, `:` and the file name.
///
/// Earlier releases wrote only the time, so a note with such an origin stands for one of the files with that time.
public enum KeepOrigins {
  /// The origin of a note that a file of this name holds.
  public static func origin(of note: KeepNote, file: String) -> String { "\(earlier(note)):\(file)" }

  /// The form of earlier releases.
  public static func earlier(_ note: KeepNote) -> String { "keep:\(note.identity)" }

  /// A short name for a text: FNV-1a of 64 bits.
  public static func fingerprint(_ text: String) -> String {
    let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    return String(hash, radix: 16)
  }

  /// A note of the store that came from Keep.
  public struct Stored: Sendable {
    /// The note.
    public var id: ObjectID
    /// Either form.
    public var origin: String
    /// What the note says now.
    public var text: String
    /// The time of its last change.
    public var updated: Timestamp?

    /// A note of the store.
    public init(id: ObjectID, origin: String, text: String, updated: Timestamp?) {
      (self.id, self.origin, self.text, self.updated) = (id, origin, text, updated)
    }
  }

  /// The notes of the store that are `files`, which are not known by their origins.
  ///
  /// A file that has another name in a later export (Keep names files by titles and times of edits) is known by its
  /// creation time and text. A note without a file name in its origin is the file with its text; if none has it, the
  /// note or the file was edited, and it is the first file that can be an edit of it. The same time of the last edit
  /// with another text can't be one: then it is another note of the same millisecond.
  /// - Parameter stored: the notes of these creation times that are no other file of the import.
  /// - Returns: ids by the indexes of `files`.
  public static func claims(_ files: [KeepNote], _ stored: [Stored]) -> [Int: ObjectID] {
    var claims = [Int: ObjectID]()
    var free = Dictionary(grouping: stored) { $0.origin.split(separator: ":").dropFirst().first.map(String.init) ?? "" }
    func claim(_ isSame: (KeepNote, Stored) -> Bool) {
      for (index, file) in files.enumerated() where claims[index] == nil {
        guard let place = free["\(file.identity)"]?.firstIndex(where: { isSame(file, $0) }) else { continue }
        claims[index] = free["\(file.identity)"]?.remove(at: place).id
      }
    }
    claim {
      Bytes.equal($0.text, $1.text) || (Bytes.equal(earlier($0), $1.origin) && Bytes.equal($0.plainText, $1.text))
    }
    claim {
      Bytes.equal(earlier($0), $1.origin) && ($0.updated != $1.updated || $0.text.utf8.starts(with: $1.text.utf8))
    }
    return claims
  }
}
