/// All mistakes in a model file, each with its place.
public struct ModelError: Error, CustomStringConvertible {
  /// A mistake at one place of the file.
  public struct Problem: Sendable, Equatable, CustomStringConvertible {
    /// The place in the file: `entities[1].attributes[0].type`, or `line 3, column 7` if the file is not valid JSON.
    public let path: String
    /// The rest of the sentence after the path.
    public let reason: String

    /// Shortens both texts, because their quotes may be as long as the file.
    init(path: String, reason: String) {
      self.path = path.excerpt(of: 300)
      self.reason = reason.excerpt(of: 600)
    }

    public var description: String { path.isEmpty ? reason : "\(path): \(reason)" }
  }

  /// All mistakes that one pass found, never empty; the next pass only runs if there are none.
  public let mistakes: [Problem]

  public var description: String { mistakes.map(\.description).joined(separator: "\n") }
}
