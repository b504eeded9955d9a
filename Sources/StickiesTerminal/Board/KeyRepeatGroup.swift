import GraphModel

/// A series of key presses that move or resize notes, or a held key. Presses in quick succession on the same notes
/// are one undo step, as a drag is.
struct KeyRepeatGroup {
  /// The pause that ends a series, in milliseconds.
  static let pauseMilliseconds: Int64 = 1_000

  /// The name of the change, such as "Move".
  let name: String
  /// The changed notes.
  let notes: Set<ObjectID>
  /// The undo group.
  let group: UInt64
  /// The time of the last press.
  let time: Int64

  /// The undo group for another press; nil if the press begins a new series.
  func group(of name: String, _ notes: Set<ObjectID>, at now: Int64) -> UInt64? {
    name == self.name && notes == self.notes && now - time < Self.pauseMilliseconds ? group : nil
  }
}
