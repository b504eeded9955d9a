/// Who types goes on behind what was typed before, and a save now and then cuts that into splices. Of the next one only the
/// author's client knows that it belongs to the one before.
extension TextSplice {
  /// The places behind what the splices insert, in the text that they make.
  package static func ends(of splices: [TextSplice]) -> [Int] {
    var shift = 0
    var ends = [Int]()
    for splice in splices {
      if !splice.insertion.isEmpty { ends.append(splice.offset + shift + splice.insertion.utf8.count) }
      shift += splice.insertion.utf8.count - splice.length
    }
    return ends
  }

  /// The splices of `text`, those leaning to the left that go on at one of the ends of what their author wrote.
  ///
  /// Where letters are alike, a comparison of two texts can't tell which of them is new: one that would fit at an end is
  /// put there.
  package static func leaning(_ splices: [TextSplice], on ends: some Collection<Int>, of text: String) -> [TextSplice] {
    guard !ends.isEmpty else { return splices }
    var leaning = splices
    var before = 0
    for index in leaning.indices {
      // Nothing goes over what stands in front of it.
      defer { before = leaning[index].end }
      if leaning[index].insertion.isEmpty { continue }
      if ends.contains(leaning[index].offset) {
        leaning[index].leansLeft = true
      } else if leaning[index].length == 0,
        let slid = ends.lazy.filter({ $0 >= before }).compactMap({ leaning[index].slid(to: $0, in: text) }).first
      {
        leaning[index] = slid
        leaning[index].leansLeft = true
      }
    }
    return leaning
  }

  /// So far a splice is looked at for a place that would do as well.
  private static let maximumSlide = 64

  /// The insertion at a place further left, if it makes the same text there.
  private func slid(to place: Int, in text: String) -> TextSplice? {
    let distance = offset - place
    guard (1...Self.maximumSlide).contains(distance), offset <= text.utf8.count else { return nil }
    let start = text.utf8.index(text.startIndex, offsetBy: place)
    let passed = Array(text.utf8[start..<text.utf8.index(start, offsetBy: distance)])
    let both = passed + Array(insertion.utf8)
    guard both.suffix(distance).elementsEqual(passed), both.count > distance,
      let inserted = String(validating: both.dropLast(distance), as: UTF8.self)
    else { return nil }
    return TextSplice(offset: place, length: 0, insertion: inserted)
  }
}
