// Tests: ProvisionalIDTests.swift
import GraphModel

/// The ids and numbers that a replica gives to objects which its server does not know yet.
///
/// They follow from the number of the unsent edit that inserts the object and the object's place in it, so that they
/// stay the same each time the edit is planned. The highest bit of an id distinguishes them from the server's, whose
/// high half has a time.
package enum ProvisionalID {
  private static let mark: UInt64 = 1 << 63
  private static let placeBits: UInt64 = 20

  /// The most objects that one unsent edit inserts.
  package static let maximumPlaces = 1 << 20

  /// The id of an object.
  /// - Parameters:
  ///   - number: the number of the edit, from 1.
  ///   - place: the number of the object among those that the edit inserts, from 1.
  package static func make(number: Int64, place: UInt64, entity: EntityNumber) -> ObjectID {
    precondition(number > 0 && number < 1 << 42, "the number of an unsent edit counts from 1: \(number)")
    precondition(place > 0 && place < UInt64(maximumPlaces), "an edit inserts at most a million objects: \(place)")
    let high = mark | UInt64(number) << placeBits | place
    return ObjectID(key: UniqueID(high: high, low: high.mixed), entity: entity)
  }

  /// The edit and the place of a provisional id; nil for an id that a server has made.
  package static func parts(of id: ObjectID) -> (number: Int64, place: UInt64)? {
    let high = id.key.high
    guard high & mark != 0, id.key.low == high.mixed else { return nil }
    let number = Int64((high & ~mark) >> placeBits)
    let place = high & (1 << placeBits - 1)
    return number > 0 && place > 0 ? (number, place) : nil
  }
}

/// The revisions of a replica's own states and of objects with unsent edits.
///
/// They are above all of a server, so they stay higher than those of the mirror as it receives more.
package enum ProvisionalRevision {
  /// The revision without unsent edits. A program that counts in doubles has it and all later ones exactly.
  package static let base: Revision = 1 << 52
}
