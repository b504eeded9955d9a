// Tests: BatchTests.swift, BatchHistoryTests.swift
import GraphModel

/// Inserts the rows as objects, in their order.
extension BatchWriter {
  /// - Returns: the complete batch as a transaction if it is small; nil if it has been written in slices.
  func insert(_ properties: [PropertyNumber], _ total: Int, _ entity: Entity) throws -> Transaction? {
    guard total <= Batch.maximumObjects else { throw Self.tooMany }
    let isWhole = total <= writer.sliceObjects
    var changes = [Change]()
    var (number, size) = (0, 0)
    func slice() throws {
      try write(slice: changes, reader: BatchReader(writer))
      changes.removeAll(keepingCapacity: true)
      size = 0
      try report(done: number, of: total)
    }
    if !isWhole { try report(done: 0, of: total) }
    try job.rows?.forEachChunk { rows in
      for row in rows {
        number += 1
        guard row.count == properties.count else {
          throw Refusal(.malformed, "row \(number) has \(row.count) values for \(properties.count) properties")
        }
        // The row number is the temporary id, so that an error message leads to the row.
        let id = ObjectID.temporary(UInt64(number), entity: entity.number)
        let change = Change(.insert, id, edits: zip(properties, row).map { Edit($0, .set($1)) })
        changes.append(change)
        size += change.approximateSize
        if !isWhole, changes.count >= writer.sliceObjects || size >= Batch.sliceBytes { try slice() }
      }
    }
    guard number == total else {
      throw Refusal(.malformed, "\(number) rows arrived instead of \(total)")
    }
    if isWhole { return transaction(changes) }
    if !changes.isEmpty { try slice() }
    return nil
  }
}
