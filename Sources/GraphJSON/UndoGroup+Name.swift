import GraphModel

extension UndoGroup {
  /// The name of the step, which messages show; nil for a step without a name.
  package var shownName: String? { name.isEmpty ? nil : name }
}
