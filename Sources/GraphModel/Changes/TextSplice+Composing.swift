/// Composing successive edits of one text into one edit. Text that no splice touches stays untouched, so the result
/// merges with other clients' edits there.
extension TextSplice {
  /// A piece of the intermediate text: a range of the original, or inserted bytes.
  private enum Piece {
    case kept(Range<Int>)
    case new(ArraySlice<UInt8>)

    var count: Int {
      switch self {
      case .kept(let range): range.count
      case .new(let bytes): bytes.count
      }
    }

    func split(at count: Int) -> (Piece, Piece) {
      switch self {
      case .kept(let range):
        let middle = range.lowerBound + count
        return (.kept(range.lowerBound..<middle), .kept(middle..<range.upperBound))
      case .new(let bytes): return (.new(bytes.prefix(count)), .new(bytes.dropFirst(count)))
      }
    }
  }

  /// The splices with the effect of `first` followed by `second`. The offsets of `second` refer to the text after
  /// `first`.
  public static func compose(_ first: [TextSplice], then second: [TextSplice]) -> [TextSplice] {
    var pieces = [Piece]()
    var position = 0
    for splice in first where splice.offset >= position {
      pieces.append(.kept(position..<splice.offset))
      pieces.append(.new(ArraySlice(Array(splice.insertion.utf8))))
      position = splice.end
    }
    // An open end is enough: nothing follows it.
    pieces.append(.kept(position..<Int.max))
    var edited = [Piece]()
    var rest = pieces[...]
    position = 0
    for splice in second where splice.offset >= position {
      edited += removeFirst(splice.offset - position, from: &rest)
      edited.append(.new(ArraySlice(Array(splice.insertion.utf8))))
      _ = removeFirst(splice.length, from: &rest)
      position = splice.end
    }
    return splices(edited + rest)
  }

  /// The splices of `text`, reduced by text that they remove and insert again at the same place.
  public static func trim(_ splices: [TextSplice], of text: String) -> [TextSplice] {
    let bytes = Array(text.utf8)
    var result = [TextSplice]()
    for splice in splices {
      guard splice.offset >= 0, splice.end <= bytes.count else { return splices }
      let old = String(decoding: bytes[splice.offset..<splice.end], as: UTF8.self)
      var least = smallest(from: old, to: splice.insertion)
      least.offset += splice.offset
      if least.length > 0 || !least.insertion.isEmpty { result.append(least) }
    }
    return result
  }

  private static func removeFirst(_ count: Int, from pieces: inout ArraySlice<Piece>) -> [Piece] {
    var taken = [Piece]()
    var left = count
    while left > 0, let piece = pieces.popFirst() {
      if piece.count <= left {
        taken.append(piece)
        left -= piece.count
      } else {
        let (head, tail) = piece.split(at: left)
        taken.append(head)
        pieces.insert(tail, at: pieces.startIndex)
        left = 0
      }
    }
    return taken
  }

  private static func splices(_ pieces: [Piece]) -> [TextSplice] {
    var result = [TextSplice]()
    var position = 0
    var insertion = [UInt8]()
    for piece in pieces {
      switch piece {
      case .new(let bytes): insertion += bytes
      case .kept(let range) where !range.isEmpty:
        if range.lowerBound > position || !insertion.isEmpty {
          result.append(
            TextSplice(
              offset: position, length: range.lowerBound - position,
              insertion: String(decoding: insertion, as: UTF8.self)))
          insertion = []
        }
        position = range.upperBound
      case .kept: break
      }
    }
    return result
  }
}
