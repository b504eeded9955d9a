/// The wording and rules of a change of all selected notes.
struct BulkChangeDescription {
  /// For example "Deleting".
  var doing: String
  /// Added to the message, as in "to Home"; empty for nothing.
  var place = ""
  /// For example "deleted".
  var done: String
  /// The effect of undo, as in "brings them back".
  var undone = "undoes it"
  /// Whether locked notes remain unchanged.
  var sparesLocked = true
}
