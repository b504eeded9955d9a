// Tests: DamageTests.swift
import GraphModel

/// Verification of rows against their checksums. The writer verifies every row before it changes it, because a new
/// checksum over damaged values would hide the damage forever.
extension ObjectReader {
  /// Returns the image in a row of the table's `selectWithSum`.
  /// - Throws: `Refusal(.unavailable)` if the row has changed outside a commit, if this reader looks for damage.
  func verifiedImage(_ row: Row, in table: EntityTable) throws -> ObjectImage {
    let image = try image(row, in: table)
    try verify(image, row, in: table)
    return image
  }

  /// Verifies the image that was read from a row of the table's `selectWithSum`. Rows of the past have no checksum.
  /// - Returns: the encoding of the image as a message, if it was verified with that encoding. Release it before the
  ///   next image is verified, which reuses the memory.
  @discardableResult func verify(_ image: ObjectImage, _ row: Row, in table: EntityTable) throws -> [UInt8]? {
    guard let damage, image.revision != underway else { return nil }
    let sum = UInt64(bitPattern: row.integer(table.sumColumn))
    if sum == 0, row.isNull(table.sumColumn) { return nil }
    if visibility != nil, try isReduced(image, row, in: table) { return nil }
    guard try isAsWritten(image, sum: sum) else {
      throw damageFound.add(image.id, damage.refusal(object: image.id))
    }
    defer { if scratch.bytes.capacity > 1 << 20 { scratch = BinaryWriter(capacity: 1_024) } }
    return layout.numbers.keepsEntities ? scratch.bytes : nil
  }

  /// Returns nil if `read` finds damage that the answer omits; `damageFound` then contains it.
  /// - Parameter isOmitted: false to throw the refusal instead.
  func unlessDamaged<Result>(_ isOmitted: Bool = true, _ read: () throws -> Result) throws -> Result? {
    do {
      return try read()
    } catch  where isOmitted && damageFound.canOmit(error) {
      return nil
    }
  }

  /// Runs `body` without looking for damage, as SQL evaluates predicates and orders.
  func withoutVerification<Result>(_ body: () throws -> Result) rethrows -> Result {
    let skipped = skipsVerification
    skipsVerification = true
    defer { skipsVerification = skipped }
    return try body()
  }

  /// The image without members that the reader's class does not see. References to such objects are null already.
  func withoutInvisibleMembers(_ image: ObjectImage, _ shape: EntityTable.EntityColumns) throws -> ObjectImage {
    var image = image
    for (slot, _) in shape.edgePlaces where slot < image.values.count {
      if case .objects(let members) = image.values[slot] {
        image.values[slot] = .objects(try members.filter { try find($0) != nil })
      }
    }
    return image
  }

  /// Whether the image lacks references of the row, because the reader's class does not see their objects. The checksum
  /// covers them.
  private func isReduced(_ image: ObjectImage, _ row: Row, in table: EntityTable) throws -> Bool {
    guard let shape = table.shape(of: image.id.entity) else { return false }
    for (slot, place) in shape.places.enumerated() where slot < image.values.count {
      let position = Int32(EntityTable.fixedColumns) + place.column
      switch (place.form, image.values[slot]) {
      case (.reference, .null): if !row.isNull(position) { return true }
      case (.members, .objects(let members)):
        if row.value(position, .members).objectIDs.count != members.count { return true }
      default: break
      }
    }
    return false
  }

  private func isAsWritten(_ image: ObjectImage, sum: UInt64) throws -> Bool {
    scratch.bytes.removeAll(keepingCapacity: true)
    if layout.numbers.keepsEntities {
      image.encode(to: &scratch)
    } else {
      layout.numbers.stored(image).encode(to: &scratch)
    }
    if Checksum.of(scratch.bytes) == sum { return true }
    guard image.revision < layout.since else { return false }
    // A row from before a migration may have an older version's checksum, which takes another read of the row. Readers
    // of many rows leave the rest to the writer and to `check`.
    guard let older, remainingComparisons > 0 else { return true }
    remainingComparisons -= 1
    return try older.contain(image, sum: sum)
  }
}
