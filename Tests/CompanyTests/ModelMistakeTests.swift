import Foundation
import Testing

/// The generator reports mistakes of a model as a compiler does: `FILE:LINE:COLUMN: error: …`.
@Suite struct ModelMistakeTests {
  private struct Report: Equatable {
    let place: String
    let message: String
  }

  /// The reports of the generator for a model.
  private func reports(_ model: String) throws -> [Report] {
    let compiler = try Compiler()
    let result = try compiler.generate(model)
    #expect(result.status == 1)
    let file = compiler.folder.appendingPathComponent("model.json").path
    let lines = result.text.split(separator: "\n")
    try compiler.clean()
    return try lines.map { line in
      try #require(line.hasPrefix(file + ":"), "\(line)")
      let parts = line.dropFirst(file.count + 1).split(separator: ":", maxSplits: 3)
      try #require(parts.count == 4 && parts[2] == " error", "\(line)")
      return Report(place: "\(parts[0]):\(parts[1])", message: String(parts[3].dropFirst()))
    }
  }

  /// The line and the column of the only occurrence of a text.
  private func place(of text: String, in model: String) throws -> String {
    let parts = model.components(separatedBy: text)
    try #require(parts.count == 2, "\(text) does not occur once")
    let lines = parts[0].components(separatedBy: "\n")
    return "\(lines.count):\(try #require(lines.last).utf8.count + 1)"
  }

  private func model(_ title: String, _ price: String = #"{"name": "price", "type": "decimal"}"#) -> String {
    """
    {
      "format": 1, "name": "Shop", "version": 1, "documentation": "Für \\"alle\\": [{",
      "entities": [
        {"name": "Other", "attributes": [{"name": "title", "type": "string"}]},
        {"name": "Item", "attributes": [
          \(title),
          \(price)
        ]}
      ]
    }
    """
  }

  @Test func mistakesArePlacedAtTheirLinesAndColumns() throws {
    let text = model(#"{"name": "label", "type": "strnig"}"#, #"{"name": "price", "type": "decimal", "minimun": 0}"#)
    let reports = try reports(text)
    #expect(
      reports.map(\.place) == [
        try place(of: #""type": "strnig""#, in: text), try place(of: #""minimun": 0"#, in: text),
      ])
    #expect(reports.map(\.message).allSatisfy { $0.hasPrefix("entities[1].attributes[") })
  }

  @Test func missingPartIsPlacedAtItsObject() throws {
    let text = model(#"{"type": "string", "optional": true}"#)
    #expect(try reports(text).map(\.place) == [try place(of: #"{"type": "string", "optional": true}"#, in: text)])
  }

  @Test func syntaxErrorIsPlacedWhereItIs() throws {
    let text = model(#"{"name": "label", "type": }"#)
    let reports = try reports(text)
    let comma = try place(of: #"}"# + ",\n      " + #"{"name": "price""#, in: text)
    #expect(reports.map(\.place) == [comma])
    #expect(reports.first?.message.isEmpty == false)
  }

  @Test func mistakeAcrossEntitiesIsPlaced() throws {
    let text = """
      {"format": 1, "name": "Shop", "version": 1, "entities": [
        {"name": "Item", "attributes": [{"name": "title", "type": "string"}], "relationships": [
          {"name": "shelf", "destination": "Shelf", "inverse": "items"}],
         "rules": []}]}
      """
    let reports = try reports(text)
    let destination = try place(of: #""destination": "Shelf""#, in: text)
    #expect(reports.contains { $0.place == destination && $0.message.contains("Shelf") }, "\(reports)")
  }

  @Test func mistakeOfPredicateIsPlaced() throws {
    let text = """
      {"format": 1, "name": "Shop", "version": 1, "entities": [
        {"name": "Item", "attributes": [{"name": "title", "type": "string"}],
         "rules": [
          {"name": "named", "predicate": "title != NULL"},
          {"name": "priced", "predicate": "prize > 0"}]}]}
      """
    let reports = try reports(text)
    #expect(reports.map(\.place) == [try place(of: #""predicate": "prize > 0""#, in: text)])
  }
}
