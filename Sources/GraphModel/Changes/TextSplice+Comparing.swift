/// Finding the places in which two texts differ.
///
/// A client that replaces a complete text may have changed it in several places. A single splice from the first to
/// the last place would delete and reinsert everything between, and would not merge with other clients' edits there.
/// So the comparison goes by lines, then by the words of differing lines, and then by the letters of words that
/// mostly stay, because many languages don't separate words. Parts that differ too much get one splice.
extension TextSplice {
  /// The most parts to compare, as the time is the product of steps and parts. Larger hunks become one splice.
  static let maximumParts = 2_000
  /// The most splices of a result. More are joined into one that spans them, because rebasing compares every pair.
  public static let maximumHunks = 100

  /// The splices that turn `old` into `new`, ascending and not adjacent; empty for equal texts.
  public static func differences(from old: String, to new: String) -> [TextSplice] {
    let whole = smallest(from: old, to: new)
    if whole.length == 0 || whole.insertion.isEmpty {
      return whole.length == 0 && whole.insertion.isEmpty ? [] : [whole]
    }
    let (a, b) = (Array(old.utf8), Array(new.utf8))
    let changed = compare(a, b, lineHunk(around: whole, in: a, b), lines)
    // Each hunk results in at least one splice.
    if changed.count > maximumHunks { return [whole] }
    var splices = [TextSplice]()
    for hunk in changed.flatMap({ compare(a, b, $0, words) }).flatMap({ letterHunks(in: $0, a, b) }) {
      let part = smallest(
        from: String(decoding: a[hunk.old], as: UTF8.self), to: String(decoding: b[hunk.new], as: UTF8.self))
      let splice = TextSplice(
        offset: hunk.old.lowerBound + part.offset, length: part.length, insertion: part.insertion)
      if let last = splices.last, last.end == splice.offset {
        splices[splices.count - 1].length += splice.length
        splices[splices.count - 1].insertion += splice.insertion
      } else {
        splices.append(splice)
      }
    }
    assert(
      zip(splices, splices.dropFirst()).allSatisfy { $0.end < $1.offset }, "splices are ascending and not adjacent")
    return splices.count > maximumHunks ? [whole] : splices
  }

  /// The lines of both texts that a splice touches; an edit of a long text need not compare all of it.
  private static func lineHunk(around splice: TextSplice, in a: [UInt8], _ b: [UInt8]) -> Hunk {
    let newline = UInt8(ascii: "\n")
    var start = splice.offset
    while start > 0, a[start - 1] != newline { start -= 1 }
    var rest = 0
    while rest < a.count - splice.end, a[splice.end + rest] != newline { rest += 1 }
    return Hunk(start..<(splice.end + rest), start..<(splice.offset + splice.insertion.utf8.count + rest))
  }

  /// A range of the old text and the range of the new text that replaces it.
  private struct Hunk {
    var old, new: Range<Int>

    init(_ old: Range<Int>, _ new: Range<Int>) { (self.old, self.new) = (old, new) }
  }

  private static func lines(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    parts(bytes) { before, _ in before == UInt8(ascii: "\n") }
  }

  /// Splits into runs of letters and digits, which include all bytes beyond ASCII, and single other bytes.
  private static func words(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    func isLetter(_ byte: UInt8) -> Bool {
      byte >= 0x80 || (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
    }
    return parts(bytes) { !(isLetter($0) && isLetter($1)) }
  }

  /// The minimum length in bytes of a word that is compared by letters; a shorter one is replaced as a whole.
  private static let minimumWordLength = 8
  /// The minimum number of equal bytes between two hunks of a word; shorter matches are coincidence.
  private static let minimumMatchLength = 3

  /// The hunks of a word, or of text written without spaces. Letters that two different words share are coincidence,
  /// so a mostly different word is replaced as a whole.
  private static func letterHunks(in hunk: Hunk, _ a: [UInt8], _ b: [UInt8]) -> [Hunk] {
    guard min(hunk.old.count, hunk.new.count) >= minimumWordLength else { return [hunk] }
    var places = [Hunk]()
    for next in compare(a, b, hunk, { parts($0) { _, byte in byte & 0xC0 != 0x80 } }) {
      if let last = places.last, next.old.lowerBound - last.old.upperBound < minimumMatchLength {
        places[places.count - 1] = Hunk(
          last.old.lowerBound..<next.old.upperBound, last.new.lowerBound..<next.new.upperBound)
      } else {
        places.append(next)
      }
    }
    let changed = places.reduce(0) { $0 + max($1.old.count, $1.new.count) }
    return changed * 2 <= max(hunk.old.count, hunk.new.count) ? places : [hunk]
  }

  private static func parts(
    _ bytes: ArraySlice<UInt8>, _ isCut: (UInt8, UInt8) -> Bool
  ) -> [ArraySlice<UInt8>] {
    var parts = [ArraySlice<UInt8>]()
    var start = bytes.startIndex
    for index in bytes.indices.dropFirst() where isCut(bytes[index - 1], bytes[index]) {
      parts.append(bytes[start..<index])
      start = index
    }
    if start < bytes.endIndex { parts.append(bytes[start...]) }
    return parts
  }

  private static func compare(
    _ a: [UInt8], _ b: [UInt8], _ hunk: Hunk, _ parts: (ArraySlice<UInt8>) -> [ArraySlice<UInt8>]
  ) -> [Hunk] {
    var (old, new) = (parts(a[hunk.old])[...], parts(b[hunk.new])[...])
    var (oldRange, newRange) = (hunk.old, hunk.new)
    while let first = old.first, let other = new.first, first == other {
      oldRange = (oldRange.lowerBound + first.count)..<oldRange.upperBound
      newRange = (newRange.lowerBound + first.count)..<newRange.upperBound
      old.removeFirst()
      new.removeFirst()
    }
    while let last = old.last, let other = new.last, last == other {
      oldRange = oldRange.lowerBound..<(oldRange.upperBound - last.count)
      newRange = newRange.lowerBound..<(newRange.upperBound - last.count)
      old.removeLast()
      new.removeLast()
    }
    if old.isEmpty && new.isEmpty { return [] }
    guard !old.isEmpty, !new.isEmpty, old.count + new.count <= maximumParts else { return [Hunk(oldRange, newRange)] }
    return collectHunks(Array(old), Array(new), oldRange.lowerBound, newRange.lowerBound)
  }

  /// Collects the removals and insertions between the parts that both texts have.
  private static func collectHunks(
    _ old: [ArraySlice<UInt8>], _ new: [ArraySlice<UInt8>], _ oldStart: Int, _ newStart: Int
  ) -> [Hunk] {
    var removed = Set<Int>()
    var inserted = Set<Int>()
    for change in new.difference(from: old) {
      switch change {
      case .remove(let offset, _, _): removed.insert(offset)
      case .insert(let offset, _, _): inserted.insert(offset)
      }
    }
    var hunks = [Hunk]()
    var (i, j, oldPlace, newPlace) = (0, 0, oldStart, newStart)
    while i < old.count || j < new.count {
      var hunk = Hunk(oldPlace..<oldPlace, newPlace..<newPlace)
      while i < old.count, removed.contains(i) {
        oldPlace += old[i].count
        i += 1
      }
      while j < new.count, inserted.contains(j) {
        newPlace += new[j].count
        j += 1
      }
      hunk.old = hunk.old.lowerBound..<oldPlace
      hunk.new = hunk.new.lowerBound..<newPlace
      if !hunk.old.isEmpty || !hunk.new.isEmpty { hunks.append(hunk) }
      if i < old.count, j < new.count {
        oldPlace += old[i].count
        newPlace += new[j].count
        i += 1
        j += 1
      }
    }
    assert(i == old.count && j == new.count, "both texts are consumed")
    return hunks
  }
}
