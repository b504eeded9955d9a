/// A replacement of `length` bytes of UTF-8 at `offset` by `insertion`. The offsets of an edit's splices all refer to
/// the text before the edit; the splices are in ascending order and do not overlap.
public struct TextSplice: Hashable, Sendable {
  /// The start, in bytes of UTF-8, on a scalar boundary.
  public var offset: Int
  /// The number of bytes removed.
  public var length: Int
  /// The text inserted; empty for a deletion.
  public var insertion: String
  /// Whether the insertion continues the text that its author has just written to its left. An insertion of another
  /// author at the same place then goes after it, regardless of which was committed first, so that it doesn't split a
  /// word.
  public var hasLeftAffinity: Bool

  /// Creates a splice, unchecked against any text.
  public init(offset: Int, length: Int, insertion: String, hasLeftAffinity: Bool = false) {
    self.offset = offset
    self.length = length
    self.insertion = insertion
    self.hasLeftAffinity = hasLeftAffinity
  }

  /// The end of the removed range.
  public var end: Int { offset + length }

  public static func == (left: TextSplice, right: TextSplice) -> Bool {
    left.offset == right.offset && left.length == right.length && left.hasLeftAffinity == right.hasLeftAffinity
      && UTF8Comparison.equal(left.insertion, right.insertion)
  }

  /// The text after the splices; nil if one lies outside it, overlaps the previous one, or splits a scalar.
  public static func apply(_ splices: [TextSplice], to text: String) -> String? {
    let bytes = Array(text.utf8)
    var result = [UInt8]()
    result.reserveCapacity(bytes.count)
    var position = 0
    for splice in splices {
      guard splice.offset >= position, splice.length >= 0, splice.offset <= bytes.count,
        splice.length <= bytes.count - splice.offset, isBoundary(splice.offset, in: bytes),
        isBoundary(splice.end, in: bytes)
      else { return nil }
      result += bytes[position..<splice.offset]
      result += Array(splice.insertion.utf8)
      position = splice.end
    }
    result += bytes[position...]
    return String(decoding: result, as: UTF8.self)
  }

  private static func isBoundary(_ offset: Int, in bytes: [UInt8]) -> Bool {
    offset == bytes.count || bytes[offset] & 0xC0 != 0x80
  }

  /// The single splice that turns `old` into `new` and touches the fewest bytes, on scalar boundaries.
  public static func smallest(from old: String, to new: String) -> TextSplice {
    let (a, b) = (Array(old.utf8), Array(new.utf8))
    var prefix = 0
    while prefix < min(a.count, b.count), a[prefix] == b[prefix] { prefix += 1 }
    while prefix > 0, !(isBoundary(prefix, in: a) && isBoundary(prefix, in: b)) { prefix -= 1 }
    var suffix = 0
    while suffix < min(a.count, b.count) - prefix, a[a.count - 1 - suffix] == b[b.count - 1 - suffix] { suffix += 1 }
    while suffix > 0, !(isBoundary(a.count - suffix, in: a) && isBoundary(b.count - suffix, in: b)) { suffix -= 1 }
    assert(prefix + suffix <= min(a.count, b.count), "no byte is in both common parts")
    return TextSplice(
      offset: prefix, length: a.count - prefix - suffix,
      insertion: String(decoding: b[prefix..<(b.count - suffix)], as: UTF8.self))
  }

  /// Transforms `splices` to apply after `earlier`; both were made against the same text. Text that `earlier`
  /// inserted is never deleted. At equal places the earlier insertion comes first, unless only the later one has
  /// left affinity.
  public static func rebase(_ splices: [TextSplice], over earlier: [TextSplice]) -> [TextSplice] {
    transform(splices, over: earlier, isEarlier: false)
  }

  /// Transforms the earlier edit to apply to a text that already has the later one. Both orders produce the same
  /// text, so a client can show its own edit before it receives the commits that precede it.
  public static func rebase(_ splices: [TextSplice], under later: [TextSplice]) -> [TextSplice] {
    transform(splices, over: later, isEarlier: true)
  }

  private static func transform(_ splices: [TextSplice], over others: [TextSplice], isEarlier: Bool) -> [TextSplice] {
    var result = [TextSplice]()
    for splice in splices where splice.offset >= 0 && splice.length >= 0 && splice.offset <= maximumOffset {
      // Splices of one edit keep their order, regardless of their affinity.
      let place = max(
        map(splice.offset, over: others) { $0.precedes(splice, isEarlier: !isEarlier) }, result.last?.end ?? 0
      )
      var pieces = remainingRanges(of: splice.offset..<splice.end, over: others)
      var first = TextSplice(
        offset: place, length: 0, insertion: splice.insertion, hasLeftAffinity: splice.hasLeftAffinity)
      if let piece = pieces.first, piece.lowerBound == place {
        first.length = piece.count
        pieces.removeFirst()
      }
      if first.length > 0 || !first.insertion.isEmpty { result.append(first) }
      for piece in pieces { result.append(TextSplice(offset: piece.lowerBound, length: piece.count, insertion: "")) }
    }
    return result
  }

  /// Whether this insertion goes to the left of another edit's insertion at the same place.
  private func precedes(_ other: TextSplice, isEarlier: Bool) -> Bool {
    isEarlier ? hasLeftAffinity || !other.hasLeftAffinity : hasLeftAffinity && !other.hasLeftAffinity
  }

  /// The offset in the text after `splices`: after or before an insertion at the same place.
  package static func rebasedOffset(_ offset: Int, over splices: [TextSplice], afterInsertions: Bool) -> Int {
    map(offset, over: splices) { _ in afterInsertions }
  }

  /// The place of an insertion at `offset` after `others`. It is after the insertions of others at the same place that
  /// precede it, and outside the ranges that others delete.
  private static func map(_ offset: Int, over others: [TextSplice], after precedes: (TextSplice) -> Bool) -> Int {
    var shift = 0
    for splice in others where splice.length > 0 || !splice.insertion.isEmpty {
      guard splice.offset < offset || splice.offset == offset && precedes(splice) else { break }
      if splice.end > offset { return splice.offset + shift + splice.insertion.utf8.count }
      shift += splice.insertion.utf8.count - splice.length
    }
    return offset + shift
  }

  /// The parts of a deleted range that `others` leave, in coordinates after `others`, split where they inserted text.
  private static func remainingRanges(of range: Range<Int>, over others: [TextSplice]) -> [Range<Int>] {
    var pieces = [Range<Int>]()
    var start = range.lowerBound
    var shift = 0
    for splice in others {
      if splice.offset >= range.upperBound { break }
      if splice.offset > start { pieces.append((start + shift)..<(splice.offset + shift)) }
      start = max(start, splice.end)
      shift += splice.insertion.utf8.count - splice.length
    }
    if start < range.upperBound { pieces.append((start + shift)..<(range.upperBound + shift)) }
    return pieces
  }
}
