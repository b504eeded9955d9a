/// A program in which a person edits a text.
public struct OutsideEditor {
  /// The text that the person makes of this one, when the program has ended.
  public let edit: (String) async throws -> String
  /// What is saved in the program that is open; nil for none.
  public let saved: () -> String?
  /// Lets go of what the program has ended with: it is taken care of.
  public let discard: () -> Void

  /// An editor.
  public init(
    edit: @escaping (String) async throws -> String, saved: @escaping () -> String?, discard: @escaping () -> Void
  ) {
    self.edit = edit
    self.saved = saved
    self.discard = discard
  }
}
