// Tests: MigrationTests.swift, PastMigrationTests.swift
import GraphModel

/// One model version of a store: a row of `_model`, and of `_version` if the store was migrated.
///
/// Rows are summed and commits are written in the form of the version in force: with that version's slots and the
/// store's numbers. So data from before a migration stays unchanged, byte for byte.
package final class StoreVersion: Sendable {
  /// The number of its row in `_model`.
  package let number: Int64
  /// The first revision under this version: 0, or the revision of the migration's commit.
  package let since: Revision
  package let model: Model
  package let numbers: NumberAssignment

  package init(number: Int64, since: Revision, model: Model, numbers: NumberAssignment) {
    self.number = number
    self.since = since
    self.model = model
    self.numbers = numbers
  }

  // MARK: - The numbers as text

  /// The numbers as text, which any `sqlite3` can show.
  ///
  /// It has a line for each entity, `Person 3`, and for each stored property, `Person.name 7`.
  package static func text(_ model: Model, _ numbers: NumberAssignment) -> String {
    var lines = [String]()
    for entity in model.entities.sorted(by: { $0.number < $1.number }) {
      lines.append("\(entity.name) \(numbers.stored(entity: entity.number))")
      for property in entity.allProperties.sorted(by: { $0.number < $1.number })
      where property.owner == entity.number && property.attribute?.isTransient != true {
        lines.append("\(entity.name).\(property.name) \(numbers.stored(property: property.number))")
      }
    }
    return lines.joined(separator: "\n")
  }

  /// Returns the number of each name in such a text.
  static func parse(_ text: String) -> [String: UInt32] {
    var numbers = [String: UInt32]()
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: " ")
      if parts.count == 2, let number = UInt32(parts[1]) { numbers[String(parts[0])] = number }
    }
    return numbers
  }

  /// Returns the numbers of a model; nil if a name has no number in the text.
  static func numbers(of model: Model, in text: String) -> NumberAssignment? {
    let known = parse(text)
    var entities = [EntityNumber](repeating: 0, count: model.entities.count)
    var properties = [PropertyNumber](repeating: 0, count: model.propertyCount)
    for entity in model.entities {
      guard let number = known[entity.name] else { return nil }
      entities[Int(entity.number) - 1] = number
      for property in entity.allProperties
      where property.owner == entity.number && property.attribute?.isTransient != true {
        guard let number = known["\(entity.name).\(property.name)"] else { return nil }
        properties[Int(property.number) - 1] = number
      }
    }
    return NumberAssignment(entities: entities, properties: properties)
  }
}
