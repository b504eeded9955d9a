import Foundation
import GRDB
import GraphModel
import Testing

@testable import CoreDataStore

/// An app may give the name of a property to another one, so that stores of both versions have a column of that name.
@Suite struct ReusedNamesTests {
  private let text = Value.string("Epoch: 2001-01-01T00:00:00Z")

  private func attribute(_ name: String, earlier: String? = nil, type: String = "string") -> String {
    let documentation = earlier.map { #", "documentation": "Called \"\#(name)\" in Core Data, earlier \"\#($0)\".""# }
    return #"{"name": "\#(name)", "type": "\#(type)", "optional": true\#(documentation ?? "")}"#
  }

  private func fixture(_ attributes: [String], version: Int = 2) throws -> StoreFixture {
    let list = attributes.joined(separator: ", ")
    return try StoreFixture(
      "Notes.sqlite",
      model: """
        {"format": 1, "name": "Reused", "version": \(version), "entities": [
          {"name": "IDMNote", "attributes": [\(list)]}]}
        """)
  }

  private func isUnclear(_ name: String, _ store: ReadStore) -> Bool {
    store.remarks.contains { $0.hasPrefix("IDMNote.\(name): wh") && $0.contains("is not clear") }
  }

  /// The version before may have had another property with the present name, which the app then removed.
  @Test(arguments: [2, 3])
  func nameOfANewPropertyIsAskedFor(version: Int) throws {
    var fixture = try fixture(
      [attribute("text"), attribute("uniqueIdentifier", earlier: "text")], version: version)
    let store = try fixture.read()
    for name in ["text", "uniqueIdentifier"] {
      #expect(try store.content("IDMNote 1", name) == nil)
      #expect(isUnclear(name, store), "\(store.remarks)")
    }
    fixture.names = ["IDMNote.text": "text", "IDMNote.uniqueIdentifier": "uniqueIdentifier"]
    var named = try fixture.read()
    #expect(try named.value("IDMNote 1", "text") == text)
    #expect(try named.value("IDMNote 1", "uniqueIdentifier") == .string("n1"))
    fixture.names = ["IDMNote.text": "none", "IDMNote.uniqueIdentifier": "text"]
    named = try fixture.read()
    #expect(try named.content("IDMNote 1", "text") == nil)
    #expect(try named.value("IDMNote 1", "uniqueIdentifier") == text)
  }

  /// The present version has no property with the earlier name.
  @Test func columnOfTheVersionBeforeIsRecognized() throws {
    let store = try fixture([attribute("uniqueIdentifier", earlier: "text")]).read()
    #expect(try store.value("IDMNote 1", "uniqueIdentifier") == text)
    #expect(!isUnclear("uniqueIdentifier", store), "\(store.remarks)")
    // One of several versions may have had both names.
    let later = try fixture([attribute("uniqueIdentifier", earlier: "text")], version: 3).read()
    #expect(try later.content("IDMNote 1", "uniqueIdentifier") == nil)
    #expect(isUnclear("uniqueIdentifier", later), "\(later.remarks)")
  }

  /// The version before has the earlier name of another property, which the store lacks.
  @Test func columnOfThePresentVersionIsRecognized() throws {
    let store = try fixture([
      attribute("text"), attribute("uniqueIdentifier", earlier: "text"),
      attribute("creationDate", earlier: "date", type: "date"),
    ]).read()
    #expect(try store.value("IDMNote 1", "text") == text)
    #expect(try store.value("IDMNote 1", "uniqueIdentifier") == .string("n1"))
  }

  @Test(arguments: [2, 3])
  func shiftedNamesBesideANewPropertyAreFollowed(version: Int) throws {
    let store = try fixture(
      [
        attribute("text"), attribute("uniqueIdentifier", earlier: "text"),
        attribute("code", earlier: "uniqueIdentifier"),
      ],
      version: version
    ).read()
    #expect(try store.value("IDMNote 1", "code") == .string("n1"))
    for name in ["text", "uniqueIdentifier"] {
      #expect(try store.content("IDMNote 1", name) == nil)
      #expect(isUnclear(name, store), "\(store.remarks)")
    }
  }

  @Test func tableOfTwoRelationshipsIsAskedFor() throws {
    let model = """
      {"format": 1, "name": "Reused", "version": 2, "entities": [
        {"name": "IDMNote", "relationships": [
          {"name": "tags", "destination": "IDMTag", "inverse": "notes", "toMany": true},
          {"name": "labels", "destination": "IDMTag", "inverse": "labeled", "toMany": true,
           "documentation": "Called \\"labels\\" in Core Data, earlier \\"tags\\"."}]},
        {"name": "IDMTag", "relationships": [
          {"name": "notes", "destination": "IDMNote", "inverse": "tags", "toMany": true},
          {"name": "labeled", "destination": "IDMNote", "inverse": "labels", "toMany": true,
           "documentation": "Called \\"labeled\\" in Core Data, earlier \\"notes\\"."}]}
      ]}
      """
    let store = try StoreFixture("Notes.sqlite", model: model).read()
    #expect(isUnclear("tags", store), "\(store.remarks)")
    #expect(isUnclear("labels", store), "\(store.remarks)")
  }

  // MARK: - The model in the store

  @Test func exchangeIsFollowedByTheModelInTheStore() throws {
    let fixture = try fixture([
      attribute("text", earlier: "uniqueIdentifier"), attribute("uniqueIdentifier", earlier: "text"),
    ])
    try fixture.writeModel(["text": nil, "uniqueIdentifier": nil])
    let before = try fixture.read()
    #expect(before.file.model != nil)
    #expect(try before.value("IDMNote 1", "text") == .string("n1"))
    #expect(try before.value("IDMNote 1", "uniqueIdentifier") == text)
    try fixture.writeModel(["text": "uniqueIdentifier", "uniqueIdentifier": "text"])
    let present = try fixture.read()
    #expect(try present.value("IDMNote 1", "text") == text)
    #expect(try present.value("IDMNote 1", "uniqueIdentifier") == .string("n1"))
  }

  /// A later version may not repeat the renaming identifiers.
  @Test func exchangeInOneOfSeveralVersionsIsAskedFor() throws {
    let fixture = try fixture(
      [attribute("text", earlier: "uniqueIdentifier"), attribute("uniqueIdentifier", earlier: "text")], version: 3)
    try fixture.writeModel(["text": nil, "uniqueIdentifier": nil])
    let store = try fixture.read()
    #expect(isUnclear("text", store) && isUnclear("uniqueIdentifier", store), "\(store.remarks)")
  }

  @Test func reusedNameIsFollowedByTheModelInTheStore() throws {
    let fixture = try fixture([attribute("text"), attribute("uniqueIdentifier", earlier: "text")])
    try fixture.writeModel(["text": nil, "uniqueIdentifier": nil])
    let before = try fixture.read()
    #expect(try before.content("IDMNote 1", "text") == nil)
    #expect(try before.value("IDMNote 1", "uniqueIdentifier") == text)
    #expect(
      before.remarks.contains(
        "IDMNote.text: the store is of the version before, in which another property had this name (0)"))
    try fixture.writeModel(["text": nil, "uniqueIdentifier": "text"])
    let present = try fixture.read()
    #expect(try present.value("IDMNote 1", "text") == text)
    #expect(try present.value("IDMNote 1", "uniqueIdentifier") == .string("n1"))
  }
}
