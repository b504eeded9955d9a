import GraphModel

/// A property of a note that is written to a file's front matter and can be changed there.
public enum NoteField: String, Sendable, CaseIterable {
  /// The paper's color, by its name in the palette.
  case color
  /// The names of the note's tags.
  case tags
  /// The left and the top edge on the board, in points.
  case x, y
  /// The size, in points: 1 to 100,000.
  case width, height
  /// The stacking order: a note lies above those with a lower value.
  case z
  /// Whether the note is sorted before others.
  case pinned
  /// Whether front ends ask before they edit the note.
  case locked
  /// Whether only the first line is shown.
  case collapsed

  /// The type of a field's value.
  public enum Kind: Sendable {
    /// A color of the palette.
    case color
    /// A list of distinct words.
    case words
    /// A finite number, within the model's limits if it has any.
    case number(ClosedRange<Double>?)
    /// `true` or `false`.
    case flag
  }

  /// The model's type and limits, so that an invalid file is reported before anything is sent.
  public var kind: Kind {
    switch self {
    case .color: .color
    case .tags: .words
    case .x, .y, .z: .number(nil)
    case .width, .height: .number(1...100_000)
    case .pinned, .locked, .collapsed: .flag
    }
  }
}

/// The value of a field.
public enum NoteValue: Sendable {
  /// The name of a color.
  case word(String)
  /// A finite number, within the limits of its field.
  case number(Double)
  /// True or false.
  case flag(Bool)
  /// Distinct words, ascending by bytes.
  case words([String])

  /// Sorts words and removes duplicates.
  public static func words(of words: some Sequence<String>) -> NoteValue {
    var ordered = [String]()
    for word in words.sorted(by: { UTF8Comparison.order($0, $1) == .ascending }) {
      if let last = ordered.last, UTF8Comparison.equal(last, word) { continue }
      ordered.append(word)
    }
    return .words(ordered)
  }
}

extension NoteValue: Equatable {
  /// Compares strings by bytes, like the model.
  public static func == (left: NoteValue, right: NoteValue) -> Bool {
    switch (left, right) {
    case (.word(let a), .word(let b)): UTF8Comparison.equal(a, b)
    case (.number(let a), .number(let b)): a == b
    case (.flag(let a), .flag(let b)): a == b
    case (.words(let a), .words(let b)): a.elementsEqual(b, by: UTF8Comparison.equal)
    default: false
    }
  }
}
