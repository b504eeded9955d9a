/// The places in which two texts differ.
///
/// Who hands over a whole text may have changed it in several places. One splice from the first to the last of them would
/// take away and write again all that lies between, and with it the places of what others write there meanwhile. So lines
/// are compared first, the words of lines that differ, and the letters of words of which most stay, for many languages part
/// no words; texts too different for that get one splice for the part.
extension TextSplice {
  /// The comparison costs steps times parts; past this many parts one splice takes their place.
  static let maximumParts = 2_000
  /// More places than these are said as one that spans them: moving them takes time for each pair of two edits.
  public static let maximumPlaces = 100

  /// The splices that turn `old` into `new`, ascending, none touching another; empty for equal texts.
  public static func differences(from old: String, to new: String) -> [TextSplice] {
    let whole = smallest(from: old, to: new)
    if whole.length == 0 || whole.insertion.isEmpty {
      return whole.length == 0 && whole.insertion.isEmpty ? [] : [whole]
    }
    let (a, b) = (Array(old.utf8), Array(new.utf8))
    let changed = compare(a, b, lines(around: whole, in: a, b), lines)
    // Each of them is a place at least.
    if changed.count > maximumPlaces { return [whole] }
    var splices = [TextSplice]()
    for hunk in changed.flatMap({ compare(a, b, $0, words) }).flatMap({ letters(in: $0, a, b) }) {
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
    return splices.count > maximumPlaces ? [whole] : splices
  }

  /// The lines of both that a splice touches: whoever types into a long text does not have all of it compared.
  private static func lines(around splice: TextSplice, in a: [UInt8], _ b: [UInt8]) -> Hunk {
    let newline = UInt8(ascii: "\n")
    var start = splice.offset
    while start > 0, a[start - 1] != newline { start -= 1 }
    var rest = 0
    while rest < a.count - splice.end, a[splice.end + rest] != newline { rest += 1 }
    return Hunk(start..<(splice.end + rest), start..<(splice.offset + splice.insertion.utf8.count + rest))
  }

  /// A part of the one text that stands where a part of the other stood.
  private struct Hunk {
    var old, new: Range<Int>

    init(_ old: Range<Int>, _ new: Range<Int>) { (self.old, self.new) = (old, new) }
  }

  private static func lines(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    parts(bytes) { before, _ in before == UInt8(ascii: "\n") }
  }

  /// Runs of letters and digits, runs of other characters beyond ASCII, and everything else one by one.
  private static func words(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    func isLetter(_ byte: UInt8) -> Bool {
      byte >= 0x80 || (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
    }
    return parts(bytes) { !(isLetter($0) && isLetter($1)) }
  }

  /// A word with fewer bytes changes as a whole.
  private static let fewestLetters = 8
  /// So many bytes have to stay between two places of a word; fewer are the same by chance.
  private static let fewestKept = 3

  /// The places of a word, or of what is written without blanks. One that gave way to another word has letters in common with
  /// it that mean nothing: it changes as a whole.
  private static func letters(in hunk: Hunk, _ a: [UInt8], _ b: [UInt8]) -> [Hunk] {
    guard min(hunk.old.count, hunk.new.count) >= fewestLetters else { return [hunk] }
    var places = [Hunk]()
    for next in compare(a, b, hunk, { parts($0) { _, byte in byte & 0xC0 != 0x80 } }) {
      if let last = places.last, next.old.lowerBound - last.old.upperBound < fewestKept {
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
    return walk(Array(old), Array(new), oldRange.lowerBound, newRange.lowerBound)
  }

  /// Goes along both, gathering what was removed and inserted between parts that are in both.
  private static func walk(
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
    return hunks
  }
}
