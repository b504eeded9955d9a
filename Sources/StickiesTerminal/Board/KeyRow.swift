import GraphModel

/// Presses of keys that move notes, or resize them: one after the other in a row, or a key that is held. Those that follow each
/// other quickly, on the same notes, are one step of undo, as a drag is.
struct KeyRow {
  /// So long a pause ends a row, in milliseconds.
  static let pauseMilliseconds: Int64 = 1_000

  /// What is done, such as "Move".
  let name: String
  /// To which notes.
  let notes: Set<ObjectID>
  /// The group of undo.
  let group: UInt64
  /// When the last key was pressed.
  let time: Int64

  /// The group for one more press; nil for one that begins another row.
  func group(of name: String, _ notes: Set<ObjectID>, at now: Int64) -> UInt64? {
    name == self.name && notes == self.notes && now - time < Self.pauseMilliseconds ? group : nil
  }
}
