/// Everything that is wrong with a model file, each mistake with its place.
public struct ModelError: Error, CustomStringConvertible {
  /// One thing that is wrong.
  public struct Mistake: Sendable, Equatable, CustomStringConvertible {
    /// Where in the file: `entities[1].attributes[0].type`, or `line 3, column 7` where it is no JSON.
    public let path: String
    /// A sentence that begins behind the path.
    public let reason: String

    /// What is quoted from the file may be as long as the file.
    init(path: String, reason: String) {
      self.path = path.excerpt(of: 300)
      self.reason = reason.excerpt(of: 600)
    }

    public var description: String { path.isEmpty ? reason : "\(path): \(reason)" }
  }

  /// All that one pass found, never empty; a later pass does not run before an earlier one is clean.
  public let mistakes: [Mistake]

  public var description: String { mistakes.map(\.description).joined(separator: "\n") }
}
