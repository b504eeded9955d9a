/// A change of a text: it replaces a range, in UTF-8 offsets, by another text.
public struct TextEdit: Hashable, Sendable {
  /// The replaced range of the old text.
  public var range: Range<Int>
  /// The text that replaces it.
  public var replacement: String

  /// Creates a change.
  public init(_ range: Range<Int>, _ replacement: String) {
    self.range = range
    self.replacement = replacement
  }

  /// Creates the smallest single change from `old` to `new`, between their common prefix and suffix; nil if they are
  /// equal.
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
    // Do not split a scalar.
    func isInside(_ bytes: [UInt8], _ place: Int) -> Bool { place < bytes.count && bytes[place] & 0xC0 == 0x80 }
    while start > 0, isInside(before, start) || isInside(after, start) { start -= 1 }
    while end > 0, isInside(before, before.count - end) || isInside(after, after.count - end) { end -= 1 }
    self.init(start..<(before.count - end), String(decoding: after[start..<(after.count - end)], as: UTF8.self))
  }

  /// The change of the text's length in bytes; negative if it becomes shorter.
  var growth: Int { replacement.utf8.count - range.count }

  /// Returns the change that reverts this one; `text` is the text before it.
  func inverse(of text: String) -> TextEdit {
    TextEdit(
      range.lowerBound..<range.lowerBound + replacement.utf8.count, String(text.slice(range)))
  }

  /// Whether the range is inside `text`, on scalar boundaries.
  func fits(_ text: String) -> Bool {
    guard range.lowerBound >= 0, range.upperBound <= text.utf8.count else { return false }
    return [range.lowerBound, range.upperBound].allSatisfy { place in
      text.utf8.index(text.startIndex, offsetBy: place).samePosition(in: text.unicodeScalars) != nil
    }
  }

  /// Applies the change to a text that it fits.
  func apply(to text: inout String) {
    let low = text.utf8.index(text.startIndex, offsetBy: range.lowerBound)
    let high = text.utf8.index(text.startIndex, offsetBy: range.upperBound)
    text.unicodeScalars.replaceSubrange(low..<high, with: replacement.unicodeScalars)
  }

  /// Maps an offset to the text after this change. An offset inside the replaced range moves to its start, or to the
  /// end of the replacement if `isBehind`; an offset at an insertion stays before it, or moves after it.
  func map(_ place: Int, isBehind: Bool) -> Int {
    if place < range.lowerBound || place == range.lowerBound && !isBehind { return place }
    if place >= range.upperBound { return place + growth }
    return isBehind ? range.lowerBound + replacement.utf8.count : range.lowerBound
  }
}

/// Rebasing of concurrent changes of one text.
extension TextEdit {
  /// Rebases two lists of changes that start from the same text: `mine` over `theirs`, and `theirs` over `mine`. The
  /// resulting text is the same in either order.
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

  /// Rebases this change over `other`, in two pieces if the other one is inside its range. Both insertions are kept,
  /// and text that both delete is deleted once. If both start at the same offset, the first one's text comes first.
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
    // From right to left, so that no piece moves another.
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
