import GraphModel

/// The words for a conflict in messages.
extension Conflict {
  /// The subject of the conflict: a property, or the object as a whole.
  func subject(in model: Model) -> String {
    if property == 0 { return "the object" }
    return if let known = model.property(property) { known.name } else { "property number \(property)" }
  }

  /// The author of the other change. History may no longer have the commit.
  var otherAuthor: String { author.isEmpty ? "an unknown author" : author }

  /// The commit of the other change, as the end of a clause; empty if it is unknown.
  var atRevision: String { revision == 0 ? "" : " in revision \(revision)" }

  /// The beginning of the object's id.
  var shortID: Substring { id.description.prefix(8) }
}
