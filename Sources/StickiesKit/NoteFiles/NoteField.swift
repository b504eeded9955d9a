import GraphModel

/// A property of a note that stands in a file's front matter and may be changed there.
public enum NoteField: String, Sendable, CaseIterable {
  /// The paper's color, by its name in the palette.
  case color
  /// The names of the note's tags.
  case tags
  /// The left and the top edge on the board, in points.
  case x, y
  /// The size, in points: 1 to 100,000.
  case width, height
  /// The place in the pile: a note lies above those with a lower one.
  case z
  /// Whether the note comes before others.
  case pinned
  /// Whether faces ask before they edit the note.
  case locked
  /// Whether only the first line shows.
  case collapsed

  /// What a value of the field looks like.
  public enum Kind: Sendable {
    /// One of the palette.
    case color
    /// A list of words, none twice.
    case words
    /// A finite number, within limits where the model has some.
    case number(ClosedRange<Double>?)
    /// `true` or `false`.
    case flag
  }

  /// The model's type and limits, so that a file that breaks them is named before anything is sent.
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
  /// Ascending by bytes, none twice.
  case words([String])

  /// Words in any order, some perhaps twice.
  public static func words(of words: some Sequence<String>) -> NoteValue {
    var ordered = [String]()
    for word in words.sorted(by: { Bytes.order($0, $1) == .ascending }) {
      if let last = ordered.last, Bytes.equal(last, word) { continue }
      ordered.append(word)
    }
    return .words(ordered)
  }
}

extension NoteValue: Equatable {
  /// By bytes, as the model compares strings.
  public static func == (left: NoteValue, right: NoteValue) -> Bool {
    switch (left, right) {
    case (.word(let a), .word(let b)): Bytes.equal(a, b)
    case (.number(let a), .number(let b)): a == b
    case (.flag(let a), .flag(let b)): a == b
    case (.words(let a), .words(let b)): a.elementsEqual(b, by: Bytes.equal)
    default: false
    }
  }
}
