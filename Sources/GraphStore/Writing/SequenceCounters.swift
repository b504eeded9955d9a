// Tests: CommitTests.swift
import GraphModel

/// The sequences' next numbers, as a commit records them.
package enum SequenceCounters {
  static func encode(_ counters: [PropertyNumber: Int64], _ numbers: NumberAssignment) -> [UInt8] {
    if counters.isEmpty { return [] }
    var writer = BinaryWriter(capacity: 24 * counters.count)
    // Most models have one sequence, and each commit that inserts an object of it records it.
    if counters.count == 1, let (property, next) = counters.first {
      append(numbers.stored(property: property), next, to: &writer)
    } else {
      let stored = counters.map { (numbers.stored(property: $0.key), $0.value) }
      for (property, next) in stored.sorted(by: { $0.0 < $1.0 }) { append(property, next, to: &writer) }
    }
    return writer.bytes
  }

  private static func append(_ property: PropertyNumber, _ next: Int64, to writer: inout BinaryWriter) {
    writer.message(1) {
      $0.field(1, UInt64(property))
      $0.field(2, next)
    }
  }

  /// Counters of removed sequences are kept, so that their numbers are never reused.
  package static func decode(_ bytes: [UInt8], _ numbers: NumberAssignment) throws -> [PropertyNumber: Int64] {
    var counters = [PropertyNumber: Int64]()
    var reader = BinaryReader(bytes)
    while let (_, field) = try reader.next() {
      var pair = try field.reader()
      var (property, next): (PropertyNumber, Int64) = (0, 0)
      while let (number, field) = try pair.next() {
        if number == 1 { property = try field.uint32() }
        if number == 2 { next = try field.integer() }
      }
      counters[numbers.present(property: property)] = next
    }
    return counters
  }
}
