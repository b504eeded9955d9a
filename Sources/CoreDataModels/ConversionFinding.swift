/// A difference between a Core Data model and the converted one, at its line of the source.
public struct ConversionFinding: Sendable, Hashable {
  /// The kind of difference. The raw values are for people.
  public enum Kind: String, Sendable, CaseIterable {
    /// The converted model has no counterpart.
    case leftOut = "left out"
    /// The counterpart differs.
    case changed
    /// The converted model needs a part that the source does not have.
    case added
    /// The name is not valid in a model file, or is in use.
    case renamed
  }

  /// The kind of difference.
  public let kind: Kind
  /// The path of the source file.
  public let file: String
  /// The place in the file.
  public let place: SourcePlace
  /// The part of the model, in the names of the source: `Person.photo`. Empty for the whole model.
  public let subject: String
  /// The difference, as a sentence that begins in lower case.
  public let text: String

  /// The form of a compiler's message: `App.xcdatamodel/contents:12:9: left out: Person.photo: …`.
  public var description: String {
    "\(file):\(place.line):\(place.column): \(kind.rawValue): \(subject.isEmpty ? "" : subject + ": ")\(text)"
  }
}

extension ConversionFinding: CustomStringConvertible {}

/// A Core Data model that can't be converted, with all mistakes that were found.
public struct CoreDataModelError: Error, Sendable, CustomStringConvertible {
  /// A mistake in the source.
  public struct Mistake: Sendable, Hashable, CustomStringConvertible {
    /// The path of the file or folder.
    public let file: String
    /// The place in the file; nil for a mistake of the file or folder itself.
    public let place: SourcePlace?
    /// The mistake and a remedy, as a sentence that begins in lower case.
    public let reason: String

    public var description: String {
      if let place { "\(file):\(place.line):\(place.column): error: \(reason)" } else { "\(file): error: \(reason)" }
    }
  }

  /// All mistakes, never empty.
  public let mistakes: [Mistake]

  /// An error with one mistake.
  init(_ file: String, _ place: SourcePlace? = nil, _ reason: String) {
    mistakes = [Mistake(file: file, place: place, reason: reason)]
  }

  /// An error with several mistakes.
  init(_ mistakes: [Mistake]) {
    precondition(!mistakes.isEmpty, "an error has a mistake")
    self.mistakes = mistakes
  }

  public var description: String { mistakes.map(\.description).joined(separator: "\n") }
}
