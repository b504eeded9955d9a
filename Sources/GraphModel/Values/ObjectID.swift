/// A state of the complete graph: the number of commits that led to it. 0 is the empty graph.
public typealias Revision = Int64

/// Microseconds since 1970-01-01T00:00:00Z, without leap seconds; the only representation of dates.
public typealias Timestamp = Int64

/// The number of an entity in its model, from 1. Names are sent once, in the welcome; message bodies use numbers.
public typealias EntityNumber = UInt32

/// The number of a property in its model, from 1; a subentity's inherited property has the same number.
public typealias PropertyNumber = UInt32

/// A unique 128-bit id. For objects the high half rises with time, so that rows inserted together are adjacent on
/// disk; the low half is random, so that short prefixes of the text form differ.
public struct UniqueID: Hashable, Comparable, Sendable {
  /// The high half; rises with time for objects, 0 for temporary ids.
  public var high: UInt64
  /// The low half; random for objects.
  public var low: UInt64

  /// Creates an id from its two halves.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The absence of an id.
  public static let zero = UniqueID(high: 0, low: 0)

  public static func < (left: UniqueID, right: UniqueID) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(low ^ high)
  }

  /// The sixteen bytes, most significant first.
  public var bytes: [UInt8] {
    withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
  }

  /// Creates an id from sixteen bytes; nil for any other count.
  ///
  /// Inlinable, because each member of a relationship is an id, and decoding one without specialization takes
  /// microseconds.
  @inlinable
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    var (high, low): (UInt64, UInt64) = (0, 0)
    for byte in bytes { (high, low) = (high << 8 | low >> 56, low << 8 | UInt64(byte)) }
    self.init(high: high, low: low)
  }
}

/// The identity of a managed object: 128 bits, and the object's entity.
///
/// A *temporary* id stands for an object that the server has not allocated yet. Its high half is zero and its low
/// half counts up within one transaction; only the transaction that inserts the object may refer to it.
public struct ObjectID: Hashable, Comparable, Sendable {
  /// The identity: ids with equal keys are equal.
  public var key: UniqueID
  /// The concrete entity, which determines the object's slots; not part of the identity.
  public var entity: EntityNumber

  /// Creates the id of an object.
  public init(key: UniqueID, entity: EntityNumber) {
    self.key = key
    self.entity = entity
  }

  /// The temporary id of an object to insert.
  /// - Parameter number: a number that is unique within the transaction.
  public static func temporary(_ number: UInt64, entity: EntityNumber) -> ObjectID {
    ObjectID(key: UniqueID(high: 0, low: number), entity: entity)
  }

  /// Whether the server has not allocated the object yet.
  public var isTemporary: Bool { key.high == 0 }

  public static func < (left: ObjectID, right: ObjectID) -> Bool { left.key < right.key }

  public static func == (left: ObjectID, right: ObjectID) -> Bool { left.key == right.key }

  public func hash(into hasher: inout Hasher) { key.hash(into: &hasher) }
}

// MARK: - Text

extension UniqueID: CustomStringConvertible, LosslessStringConvertible {
  /// The first character is always a letter, so that an id can't be mistaken for a note's number.
  private static let letters = Array("abcdefghjkmnpqrs".utf8)
  private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

  /// The length of the text form, in characters.
  public static let textLength = 26

  /// The 26 characters, random half first: 4 bits as a letter, then 25 digits in base 32.
  public var description: String {
    let bits = UInt128(low) << 64 | UInt128(high)
    var text = [UInt8]()
    text.reserveCapacity(Self.textLength)
    text.append(Self.letters[Int(bits >> 124)])
    for index in 0..<25 {
      // The last digit has four bits and a zero.
      let shifted = index < 24 ? bits >> UInt128(119 - 5 * index) : bits << 1
      text.append(Self.digits[Int(shifted & 31)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Parses the text form, which has exactly 26 characters, in lower case.
  public init?(_ description: String) {
    guard description.utf8.count == Self.textLength, let range = Self.range(ofPrefix: description) else { return nil }
    guard range.lowerBound == range.upperBound else { return nil }
    self = UniqueID(high: UInt64(truncatingIfNeeded: range.lowerBound), low: UInt64(range.lowerBound >> 64))
  }

  /// The ids whose text form begins with `prefix`, as 128 bits with the random half first. Nil if there can be none.
  /// An empty prefix matches every id.
  public static func range(ofPrefix prefix: String) -> ClosedRange<UInt128>? {
    var bits: UInt128 = 0
    var free = 128
    for (index, byte) in prefix.utf8.enumerated() {
      guard index < textLength else { return nil }
      let table = index == 0 ? letters : digits
      guard let digit = table.firstIndex(of: byte) else { return nil }
      switch index {
      case 0: (bits, free) = (UInt128(digit) << 124, 124)
      case 25:
        guard digit & 1 == 0 else { return nil }
        (bits, free) = (bits | UInt128(digit >> 1), 0)
      default:
        free -= 5
        bits |= UInt128(digit) << UInt128(free)
      }
    }
    let rest: UInt128 = free == 128 ? .max : (UInt128(1) << UInt128(free)) - 1
    return bits...(bits | rest)
  }

  /// Whether the text form begins with `prefix`.
  public func hasPrefix(_ prefix: String) -> Bool {
    Self.range(ofPrefix: prefix)?.contains(UInt128(low) << 64 | UInt128(high)) == true
  }
}

extension ObjectID: CustomStringConvertible {
  public var description: String { isTemporary ? "temporary \(key.low)" : key.description }
}
