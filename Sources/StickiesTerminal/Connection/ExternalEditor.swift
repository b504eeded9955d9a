/// An external text editor.
public struct ExternalEditor {
  /// Opens a text and returns the edited text when the program has ended.
  public let edit: (String) async throws -> String
  /// The text last saved by the open program; nil if there is none.
  public let saved: () -> String?
  /// Deletes the file of the finished program, once its text is safe.
  public let discard: () -> Void

  /// Creates an editor.
  public init(
    edit: @escaping (String) async throws -> String, saved: @escaping () -> String?, discard: @escaping () -> Void
  ) {
    self.edit = edit
    self.saved = saved
    self.discard = discard
  }
}
