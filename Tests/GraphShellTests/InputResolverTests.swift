import GraphJSON
import GraphModel
import GraphTesting
import Testing

@testable import GraphShell

/// Names of objects in a command's arguments.
@MainActor
@Suite struct InputResolverTests {
  /// The ids of a desk and of a person can begin with the same characters.
  @Test func sameNameOfTwoEntitiesIsTwoObjects() throws {
    let model = try Fixtures.company()
    let person = try #require(model.entity(named: "Person"))
    let inputs = try ["desk=abcd", "manager=abcd"].map { try PropertyInput(parsing: $0, entity: person) }
    var ids = [InputResolver.NamedObject: ObjectID]()
    var expected = [Edit]()
    for (number, input) in inputs.enumerated() {
      let destination = try #require(input.property.relationship?.destination)
      let id = ObjectID(key: UniqueID(high: 1, low: UInt64(number)), entity: destination)
      ids[InputResolver.NamedObject(name: .text("abcd"), entity: destination)] = id
      expected.append(Edit(input.property.number, .set(.object(id))))
    }
    #expect(ids.count == 2)
    #expect(try InputResolver.edits(inputs, ids, of: nil) == expected)
  }
}
