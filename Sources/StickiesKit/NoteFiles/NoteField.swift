import GraphModel

/// A property of a note that stands in a file's front matter and may be changed there.
public enum NoteField: String, Sendable, CaseIterable {
  case color, tags, x, y, width, height, z, pinned, locked, collapsed

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
  case word(String)
  case number(Double)
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
