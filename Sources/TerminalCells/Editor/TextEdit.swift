/// A change of a text: what lay in a range gives way to another text. Offsets count UTF-8.
public struct TextEdit: Hashable, Sendable {
  /// What goes, in the text before.
  public var range: Range<Int>
  /// What comes in its place.
  public var replacement: String

  /// A change of a text.
  public init(_ range: Range<Int>, _ replacement: String) {
    self.range = range
    self.replacement = replacement
  }

  /// The one change that makes `new` of `old`: between what both begin with and what both end with. Nil if they are equal.
  public init?(from old: String, to new: String) {
    let before = Array(old.utf8)
    let after = Array(new.utf8)
    if before == after { return nil }
    var start = 0
    while start < before.count, start < after.count, before[start] == after[start] { start += 1 }
    var end = 0
    while end < before.count - start, end < after.count - start,
      before[before.count - 1 - end] == after[after.count - 1 - end]
    { end += 1 }
    // Not within a scalar.
    func isInside(_ bytes: [UInt8], _ place: Int) -> Bool { place < bytes.count && bytes[place] & 0xC0 == 0x80 }
    while start > 0, isInside(before, start) || isInside(after, start) { start -= 1 }
    while end > 0, isInside(before, before.count - end) || isInside(after, after.count - end) { end -= 1 }
    self.init(start..<(before.count - end), String(decoding: after[start..<(after.count - end)], as: UTF8.self))
  }

  /// How much longer it makes the text.
  var growth: Int { replacement.utf8.count - range.count }

  /// The change that takes this one back, from the text that it was applied to.
  func inverse(of text: String) -> TextEdit {
    TextEdit(
      range.lowerBound..<range.lowerBound + replacement.utf8.count, String(text.slice(range)))
  }

  /// True if it lies in `text`, on whole scalars.
  func fits(_ text: String) -> Bool {
    guard range.lowerBound >= 0, range.upperBound <= text.utf8.count else { return false }
    return [range.lowerBound, range.upperBound].allSatisfy { place in
      text.utf8.index(text.startIndex, offsetBy: place).samePosition(in: text.unicodeScalars) != nil
    }
  }

  /// Changes a text that it fits.
  func apply(to text: inout String) {
    let low = text.utf8.index(text.startIndex, offsetBy: range.lowerBound)
    let high = text.utf8.index(text.startIndex, offsetBy: range.upperBound)
    text.unicodeScalars.replaceSubrange(low..<high, with: replacement.unicodeScalars)
  }

  /// Where a place of the text is after this change. A place in what went moves to where it was; one at which something was
  /// inserted stays before it, or moves behind it.
  func map(_ place: Int, isBehind: Bool) -> Int {
    if place < range.lowerBound || place == range.lowerBound && !isBehind { return place }
    if place >= range.upperBound { return place + growth }
    return isBehind ? range.lowerBound + replacement.utf8.count : range.lowerBound
  }
}

/// Two people's changes of one text, made to follow each other.
extension TextEdit {
  /// For two lists of changes that begin at the same text: the first as it reads after the second, and the second as it reads
  /// after the first. Whichever is applied first, the text that comes out is the same.
  static func cross(_ mine: [TextEdit], _ theirs: [TextEdit]) -> (mine: [TextEdit], theirs: [TextEdit]) {
    guard let first = mine.first, let other = theirs.first else { return (mine, theirs) }
    if mine.count == 1, theirs.count == 1 {
      return (first.after(other, isFirst: true), other.after(first, isFirst: false))
    }
    if mine.count > 1 {
      let head = cross([first], theirs)
      let rest = cross(Array(mine.dropFirst()), head.theirs)
      return (head.mine + rest.mine, rest.theirs)
    }
    let head = cross(mine, [other])
    let rest = cross(head.mine, Array(theirs.dropFirst()))
    return (rest.mine, head.theirs + rest.theirs)
  }

  /// This change as it reads after `other`, in pieces where the other one stands in its middle. Both insertions stay, and what
  /// both delete is deleted once. Of two that begin at the same place the first one's text comes first.
  private func after(_ other: TextEdit, isFirst: Bool) -> [TextEdit] {
    let isBefore =
      isFirst
      ? range.upperBound <= other.range.lowerBound
      : range.upperBound <= other.range.lowerBound && !(other.range.upperBound <= range.lowerBound)
    if isBefore { return [self] }
    if other.range.upperBound <= range.lowerBound {
      return [TextEdit(range.lowerBound + other.growth..<range.upperBound + other.growth, replacement)]
    }
    let theirEnd = other.range.lowerBound + other.replacement.utf8.count
    let comesFirst =
      range.lowerBound < other.range.lowerBound || range.lowerBound == other.range.lowerBound && isFirst
    var pieces = [TextEdit]()
    // From the right, so that no piece moves another.
    let right = max(range.upperBound - other.range.upperBound, 0)
    if right > 0 || !comesFirst {
      pieces.append(TextEdit(theirEnd..<theirEnd + right, comesFirst ? "" : replacement))
    }
    let left = max(other.range.lowerBound - range.lowerBound, 0)
    if left > 0 || comesFirst && !replacement.isEmpty {
      let start = min(range.lowerBound, other.range.lowerBound)
      pieces.append(TextEdit(start..<start + left, comesFirst ? replacement : ""))
    }
    return pieces.isEmpty ? [TextEdit(theirEnd..<theirEnd, "")] : pieces
  }
}
