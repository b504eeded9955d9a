/// Insertion affinity: a user who types continues after the text typed before. Saves cut the typing into several
/// splices. Only the author's client knows that a splice continues the previous one.
extension TextSplice {
  /// The offsets after each splice's insertion, in the resulting text.
  package static func ends(of splices: [TextSplice]) -> [Int] {
    var shift = 0
    var ends = [Int]()
    for splice in splices {
      if !splice.insertion.isEmpty { ends.append(splice.offset + shift + splice.insertion.utf8.count) }
      shift += splice.insertion.utf8.count - splice.length
    }
    return ends
  }

  /// The splices of `text`, with `hasLeftAffinity` set for those that continue at one of `ends`. These are the ends of
  /// the author's insertions.
  ///
  /// If neighboring letters are equal, a comparison of two texts can't determine which of them was inserted; an
  /// insertion that fits at one of `ends` is moved there.
  package static func withAffinity(_ splices: [TextSplice], at ends: some Collection<Int>, of text: String)
    -> [TextSplice]
  {
    guard !ends.isEmpty else { return splices }
    var result = splices
    var before = 0
    for index in result.indices {
      // A splice can't shift across the previous one.
      defer { before = result[index].end }
      if result[index].insertion.isEmpty { continue }
      if ends.contains(result[index].offset) {
        result[index].hasLeftAffinity = true
      } else if result[index].length == 0,
        let shifted = ends.lazy.filter({ $0 >= before }).compactMap({ result[index].shifted(to: $0, in: text) }).first
      {
        result[index] = shifted
        result[index].hasLeftAffinity = true
      }
    }
    return result
  }

  /// The largest distance in bytes that an insertion shifts.
  private static let maximumShift = 64

  /// The equivalent insertion at a place further left; nil if it would produce another text.
  private func shifted(to place: Int, in text: String) -> TextSplice? {
    let distance = offset - place
    guard (1...Self.maximumShift).contains(distance), offset <= text.utf8.count else { return nil }
    let start = text.utf8.index(text.startIndex, offsetBy: place)
    let passed = Array(text.utf8[start..<text.utf8.index(start, offsetBy: distance)])
    let both = passed + Array(insertion.utf8)
    guard both.suffix(distance).elementsEqual(passed), both.count > distance,
      let inserted = String(validating: both.dropLast(distance), as: UTF8.self)
    else { return nil }
    return TextSplice(offset: place, length: 0, insertion: inserted)
  }
}
