import GraphModel

/// The places in which two texts differ, as splices of the first.
///
/// A file comes back whole. One splice from the first to the last difference would take away and write again all that lies
/// between, and with it the places of what others write there meanwhile. So lines are compared first, and the words of lines
/// that differ; texts too different for that get one splice for the part.
public enum TextDifference {
  /// The comparison costs steps times parts; past this many parts one splice takes their place.
  static let maximumParts = 2_000

  /// The splices, ascending, none touching another; empty for equal texts.
  public static func splices(from old: String, to new: String) -> [TextSplice] {
    if Bytes.equal(old, new) { return [] }
    let (a, b) = (Array(old.utf8), Array(new.utf8))
    var hunks = [Hunk]()
    for hunk in compare(a, b, Hunk(0..<a.count, 0..<b.count), lines) {
      hunks += compare(a, b, hunk, words)
    }
    var splices = [TextSplice]()
    for hunk in hunks {
      let smallest = TextSplice.smallest(
        from: String(decoding: a[hunk.old], as: UTF8.self), to: String(decoding: b[hunk.new], as: UTF8.self))
      let splice = TextSplice(
        offset: hunk.old.lowerBound + smallest.offset, length: smallest.length, insertion: smallest.insertion)
      if let last = splices.last, last.end == splice.offset {
        splices[splices.count - 1].length += splice.length
        splices[splices.count - 1].insertion += splice.insertion
      } else {
        splices.append(splice)
      }
    }
    return splices
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
